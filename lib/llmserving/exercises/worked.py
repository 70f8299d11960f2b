"""A worked solution: the steps of every part in the learner's own numbers, and the card that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llmserving.exercises.card import Card
from llmserving.exercises.exercise import Exercise


@dataclass(frozen=True)
class Worked:
    """steps: part -> its steps, the answer in bold. reread: headings to go back to. reasons: what an answer in the
    learner's own words must hold; none where the exercise asks for no reason.
    """

    steps: Mapping[str, str]
    reread: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        texts = [*self.steps, *self.steps.values(), *self.reread, *self.reasons]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a worked solution is made of texts")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: Any) -> Worked:
        """KeyError, TypeError, AttributeError or ValueError where `row` is no worked solution."""
        return cls(dict(row["steps"]), tuple(row["reread"]), tuple(row["reasons"]))


def worked_card(exercise: Exercise, worked: Worked) -> Card:
    """The card, part by part; a part that this version of the course does not have is left out."""
    paragraphs = [
        f"**`{part.variable}`** {worked.steps[part.name]}" for part in exercise.parts if part.name in worked.steps
    ]
    if worked.reread:
        headings = " and ".join(f"'{heading}'" for heading in worked.reread)
        paragraphs.append(f"To reread: {headings} in {exercise.notebook}.")
    return Card(f"{exercise.id} · worked solution", "plain", tuple(paragraphs))
