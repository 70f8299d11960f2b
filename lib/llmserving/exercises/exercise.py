"""The public half of an exercise: what is asked, of whom, in which form; never what is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from llmserving.exercises.draws import Draw, Numbers, seeded, with_numbers

Kind = Literal["value", "choice", "chain", "function", "object", "measurement"]
CODE_KINDS = ("function", "object")
LAB_KINDS = (*CODE_KINDS, "measurement")
Player = Literal["allocator", "scheduler"]
Quantity = Literal["bytes", "count", "ratio", "fraction", "real", "integer"]


@dataclass(frozen=True)
class Option:
    """One thing to choose: `name` is what the key knows it by, `text` the template of what the learner reads."""

    name: str
    text: str


@dataclass(frozen=True)
class Probe:
    """One input that a learner's code is tried on. group: what it tries, such as "grouped-query"; points go by groups.

    given: plain JSON. For a function its arguments by name, of which {"array": [...]} is handed over as a NumPy array; for
    an object a script, as `plain_script` or `plain_scenario` writes it.
    """

    group: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """One number, or row of numbers, of a recording. samples: how many there are at least; 1 takes a bare number too.

    least, most: what no machine lies outside of, so that milliseconds given as seconds are seen. whole: a count.
    """

    name: str
    unit: str
    least: float
    most: float
    samples: int = 1
    whole: bool = False


@dataclass(frozen=True)
class Part:
    """One answer: the learner's variable, its kind, and what a bare number or a letter in it stands for.

    quantity: a fraction is a share of a whole, 0.25 or 25 %; a real is any number, below zero too, an
    integer a whole one. unit: the unit of a
    number written without one ("GB"); None for ratios and fractions. options: what a choice or a chain
    picks from; parts that list the same options in one exercise share one lettered list. letters: fixed letters instead
    of A, B, C in shuffled order ("TF" for true or false). hints: in order, from a nudge to a similar case, worked out.

    Of a function or an object, `variable` is its name, and
    stub: the source that the answer cell begins with, which raises NotImplementedError. probes: inputs that everybody may
    see. own_work: names of the library's functions and classes that do what is to be written here. player: what an object
    is played as. group_hints: hints for one group of probes, given in the place of `hints` where that group is off.
    Of a measurement, `variable` is the name that it is recorded by, and fields are what is recorded; it
    has a stub where it is recorded in the answer cell, with `...` for each number.
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
    stub: str | None = None
    probes: tuple[Probe, ...] = ()
    own_work: tuple[str, ...] = ()
    player: Player | None = None
    fields: tuple[Field, ...] = ()
    group_hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def all_hints(self) -> tuple[str, ...]:
        """Every hint, whatever it is for."""
        return (*self.hints, *(hint for hints in self.group_hints.values() for hint in hints))

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
    def lab(self) -> bool:
        """Whether it stands in a lab, beside the course's own items."""
        return self.notebook.split("/")[-1].startswith("lab_")

    @property
    def has_practice(self) -> bool:
        """Whether there are other numbers to try it on; code is tried on fresh inputs as it is, and a recording is made once."""
        return not any(part.kind in LAB_KINDS for part in self.parts)

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
