"""A worked solution: the steps of every part in the learner's own numbers, and the card that shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmserving.exercises.card import Card
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.markup import CODE_FENCE

_CODE = re.compile(rf"\n?({CODE_FENCE}\n.*?\n{CODE_FENCE})\n?", re.DOTALL)


def fenced(code: str) -> str:
    """Code as lines of their own within the steps."""
    return f"{CODE_FENCE}\n{code}\n{CODE_FENCE}"


@dataclass(frozen=True)
class Worked:
    """steps: part -> its steps, the answer in bold, or fenced where it is code. reread: headings to go back to. reasons: what
    an answer in the learner's own words must hold; none where the exercise asks for no reason. whose: the learner with
    whose numbers an instructor's file was made, where they are not the course's own.
    """

    steps: Mapping[str, str]
    reread: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    whose: str = ""

    def __post_init__(self) -> None:
        texts = [*self.steps, *self.steps.values(), *self.reread, *self.reasons, self.whose]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a worked solution is made of texts")

    def as_json(self) -> dict[str, Any]:
        return {"steps": dict(self.steps), "reread": list(self.reread), "reasons": list(self.reasons)}

    @classmethod
    def from_json(cls, row: Any) -> Worked:
        """KeyError, TypeError, AttributeError or ValueError where `row` is no worked solution."""
        return cls(dict(row["steps"]), tuple(row["reread"]), tuple(row["reasons"]))


def worked_card(exercise: Exercise, worked: Worked) -> Card:
    """The card, part by part; a part that this version of the course does not have is left out."""
    paragraphs = [
        paragraph
        for part in exercise.parts
        if part.name in worked.steps
        for paragraph in _CODE.split(f"**`{part.variable}`** {worked.steps[part.name]}")
        if paragraph
    ]
    if worked.whose:
        paragraphs.insert(0, f"In the numbers and letters of {worked.whose}.")
    if worked.reread:
        headings = " and ".join(f"'{heading}'" for heading in worked.reread)
        paragraphs.append(f"To reread: {headings} in {exercise.notebook}.")
    return Card(f"{exercise.id} · worked solution", "plain", tuple(paragraphs))
