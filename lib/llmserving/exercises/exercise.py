"""The public half of an exercise: what is asked, of whom, in which form; never what is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from llmserving.exercises.draws import Draw, Numbers, seeded, with_numbers

Kind = Literal["value", "choice", "chain"]
Quantity = Literal["bytes", "count", "ratio", "fraction", "real", "integer"]


@dataclass(frozen=True)
class Option:
    """One thing to choose: `name` is what the key knows it by, `text` the template of what the learner reads."""

    name: str
    text: str


@dataclass(frozen=True)
class Part:
    """One answer: the learner's variable, its kind, and what a bare number or a letter in it stands for.

    quantity: a fraction is a share of a whole, 0.25 or 25 %; a real is any number, below zero too, an
    integer a whole one. unit: the unit of a
    number written without one ("GB"); None for ratios and fractions. options: what a choice or a chain
    picks from; parts that list the same options in one exercise share one lettered list. letters: fixed letters instead
    of A, B, C in shuffled order ("TF" for true or false). hints: in order, from a
    nudge to a worked neighbour.
    """

    name: str
    variable: str
    kind: Kind
    asks: str
    hints: tuple[str, ...]
    points: float = 1.0
    quantity: Quantity | None = None
    unit: str | None = None
    options: tuple[Option, ...] = ()
    letters: str | None = None

    @property
    def all_letters(self) -> tuple[str, ...]:
        """The letters that its options carry."""
        return tuple(self.letters or "ABCDEFGHIJKLMNOP"[: len(self.options)])


@dataclass(frozen=True)
class Exercise:
    """id, statement, parts and draw of one item; `notebook` is the file that holds it, below notebooks/.

    builds_on: ids of exercises whose answers this one may carry on from. group: the id of the check that small items
    share, or None where the exercise has a check cell of its own. difficulty: 1 to 5. importance: 1 to 5, from good to
    know to what the rest of the course stands on. version: raised when a change of wording or numbers could change a
    verdict.
    """

    id: str
    title: str
    notebook: str
    statement: str
    parts: tuple[Part, ...]
    draw: Draw
    difficulty: int
    minutes: int
    importance: int
    version: int = 1
    builds_on: tuple[str, ...] = ()
    group: str | None = None

    @property
    def level(self) -> str:
        return self.notebook.split("/")[0]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)

    @cached_property
    def part_by_name(self) -> Mapping[str, Part]:
        return {part.name: part for part in self.parts}

    def numbers(self, learner: str) -> Numbers:
        return self.draw.numbers(learner)

    def lettered_options(self, part: Part, learner: str) -> dict[str, Option]:
        """Letter -> option with its text filled in, as this learner sees them: shuffled, unless the letters are fixed."""
        numbers = self.numbers(learner)
        options = [replace(option, text=with_numbers(option.text, numbers)) for option in part.options]
        if part.letters is None:
            seeded("options", self.id, " ".join(option.name for option in options), learner).shuffle(options)
        return dict(zip(part.all_letters, options, strict=True))
