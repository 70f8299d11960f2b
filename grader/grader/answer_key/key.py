"""The private half of an exercise: what is right, within which tolerance, and which mistakes have a name."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

from llmserving.exercises.collect import data_of_answer
from llmserving.exercises.draws import COURSE_VARIANT, DEFAULT_LEARNER, Numbers
from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.verdict import Verdict

from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, ObjectKey, require_groups
from grader.answer_key.tolerance import A_FRACTION, EXACT, THREE_FIGURES, TWO_DECIMALS, Tolerance

__all__ = [
    "A_FRACTION", "EXACT", "THREE_FIGURES", "TWO_DECIMALS", "Answers", "ChainKey", "ChoiceKey", "Formula", "Key",
    "Misconception", "PartKey", "Tolerance", "Trap", "ValueKey", "times",
]  # fmt: skip

Answers = Mapping[str, float]
"""Earlier answers, in the unit of their part: "fp16_gb" of the same exercise, "L2.1.kv_gb" of another; and what the learner
recorded, "recorded.decode.seconds" for the field `seconds` of the part `decode` (of several samples the median)."""

Formula = Callable[[Numbers, Answers], float]


def times(right: Formula, factor: Formula | float) -> Formula:
    """`right`, off by a factor: a number, or one that depends on the draw."""

    def wrong(numbers: Numbers, answers: Answers) -> float:
        return right(numbers, answers) * (factor(numbers, answers) if callable(factor) else factor)

    return wrong


@dataclass(frozen=True)
class Misconception:
    """A wrong solution that can be run on the learner's own numbers, and the sentence that names it.

    also_carried_on: whether it stays a mistake where it follows from an earlier answer in which it was made already.
    as_well: further numbers to which the same mistake comes. in_other_unit: the right size or time, counted in a unit that is
    not asked for; an answer that names such a unit is converted, so it cannot hold this mistake.
    """

    name: str
    wrong: Formula
    sentence: str
    reread: str
    also_carried_on: bool = False
    as_well: Callable[[Numbers], Container[float]] = lambda numbers: ()
    in_other_unit: bool = False


@dataclass(frozen=True)
class Trap:
    """What a wrong option stands for; `on_draw` adds what it comes to on the learner's own numbers."""

    name: str
    sentence: str
    reread: str
    on_draw: Callable[[Numbers], str] | None = None


@dataclass(frozen=True)
class ValueKey:
    """difference: what is left of large numbers. Rounding those moves it by more than its own tolerance, so what it comes
    to from the learner's own accepted answers is simply right too; and it may be below zero.
    """

    right: Formula
    tolerance: Tolerance
    misconceptions: tuple[Misconception, ...] = ()
    difference: bool = False


@dataclass(frozen=True)
class ChoiceKey:
    """right: the name of the right option; every other option has a trap.

    variants: name of a variant of the question -> its own key, where it differs from that of the course's own.
    carried_on: the option to which the learner's own earlier numbers lead, where those decide.
    """

    right: str
    traps: Mapping[str, Trap]
    variants: Mapping[str, ChoiceKey] = field(default_factory=dict)
    carried_on: Callable[[Numbers, Answers], str] | None = None

    def on(self, numbers: Numbers) -> ChoiceKey:
        """The key of the variant that was drawn."""
        return self.variants.get(numbers.get("variant", COURSE_VARIANT), self)

    @property
    def every_variant(self) -> tuple[ChoiceKey, ...]:
        return (self, *self.variants.values())


@dataclass(frozen=True)
class ChainKey:
    """follows: each link of the argument, an option's name -> the links that have to stand before it.

    Whatever order keeps to that is right; the links are listed in one such order. Every other option has a trap.
    """

    follows: Mapping[str, tuple[str, ...]]
    traps: Mapping[str, Trap]
    reread: str

    def __post_init__(self) -> None:
        if not self._sound(tuple(self.follows)):
            raise ValueError(f"each link stands after those that it must follow, but they are listed as {self.follows}")

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """Every order of the links that carries the argument, first the one in which they are listed."""
        return tuple(order for order in permutations(self.follows) if self._sound(order))

    def _sound(self, order: tuple[str, ...]) -> bool:
        return all(set(self.follows[link]) <= set(order[:place]) for place, link in enumerate(order))


PartKey = ValueKey | ChoiceKey | ChainKey | FunctionKey | ObjectKey | MeasurementKey


@dataclass(frozen=True)
class Key:
    """The key of one exercise, part by part."""

    exercise: Exercise
    parts: Mapping[str, PartKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if list(self.parts) != [part.name for part in self.exercise.parts]:
            raise ValueError(f"the key of {self.exercise.id} has the parts {list(self.parts)}, the exercise has others")
        for part in self.exercise.parts:
            _require_traps(self.exercise, part, self.parts[part.name])
            _require_known_variants(self.exercise, part, self.parts[part.name])

    def grade(self, answer: Any, learner: str = DEFAULT_LEARNER) -> Verdict:
        """The verdict on this exercise alone: one value, a list in the order of the parts, or a dict by part name."""
        from grader.answer_key.grading import grade
        from grader.answer_key.inputs import inputs

        data = data_of_answer(self.exercise.id, answer, inputs(self.exercise.id, learner))
        return grade({self.exercise.id: data}, learner)[self.exercise.id]


def _require_traps(exercise: Exercise, part: Part, key: PartKey) -> None:
    if isinstance(key, FunctionKey | ObjectKey):
        require_groups(f"{exercise.id}.{part.name}", part, key)
    if not isinstance(key, ChoiceKey | ChainKey):
        return
    options = {option.name for option in part.options}
    for one in key.every_variant if isinstance(key, ChoiceKey) else (key,):
        right = {one.right} if isinstance(one, ChoiceKey) else set(one.follows)
        if options - right != set(one.traps) or not right <= options:
            raise ValueError(f"{exercise.id}.{part.name}: each wrong option needs its own trap, and only they do")


def _require_known_variants(exercise: Exercise, part: Part, key: PartKey) -> None:
    if isinstance(key, ChoiceKey):
        unknown = set(key.variants) - {other["variant"] for other in exercise.draw.variants}
        if unknown:
            raise ValueError(f"{exercise.id}.{part.name}: the exercise has no variant {', '.join(sorted(unknown))}")
