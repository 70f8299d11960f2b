"""The numbers of an exercise, drawn for one learner: plain, public functions of the learner's id.

The id "default" gets the course's own numbers. Every other id seeds its own generator, so the same learner always
meets the same numbers, and exercises that share a draw share the numbers. A question whose right answer hangs on its
words is drawn from a few variants instead: the claim negated, the numbers moved.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmserving.units import format_number

DEFAULT_LEARNER = "default"
PRACTICE_MARK = "#"
"""Stands between a learner's id and the number of a practice draw: "ada#3"."""

COURSE_VARIANT = "course"

Numbers = Mapping[str, Any]


def seeded(*words: str) -> random.Random:
    """A generator that depends on `words` alone, the same on every machine and Python version."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


def with_numbers(template: str, numbers: Numbers) -> str:
    """`template` with the numbers and words in place; whole numbers are grouped in thousands."""
    shown = {
        name: format_number(value) if isinstance(value, (int, float)) else value for name, value in numbers.items()
    }
    return template.format_map(shown)


def variant(name: str, text: str, /, **words: str | int) -> Numbers:
    """One way to ask: the name that the key knows it by, what is claimed or asked, and the words of other templates."""
    return {"variant": name, "text": text, **words}


@dataclass(frozen=True)
class Draw:
    """The course's numbers, how to draw others, and what others must satisfy to keep the point of the exercise.

    variants: other ways to ask the same, beside the course's own; in their place nothing is sampled.
    """

    name: str
    course: Numbers = field(default_factory=dict)
    sample: Callable[[random.Random], Numbers] | None = None
    keeps_the_point: Callable[[Numbers], bool] = lambda numbers: True
    variants: tuple[Numbers, ...] = ()
    _drawn: dict[str, Numbers] = field(default_factory=dict, init=False, repr=False, compare=False)

    def numbers(self, learner: str) -> Numbers:
        """Drawn once: grading asks for the same numbers many times, and some draws try hundreds before they keep one."""
        if learner not in self._drawn:
            self._drawn[learner] = self._draw(learner)
        return self._drawn[learner]

    def _draw(self, learner: str) -> Numbers:
        if self.variants:
            return self._in_turn(learner)
        if learner == DEFAULT_LEARNER or self.sample is None:
            return self.course
        rng = seeded("draw", self.name, learner)
        for _ in range(10_000):
            numbers = self.sample(rng)
            if self.keeps_the_point(numbers):
                return numbers
        raise RuntimeError(f"the draw {self.name!r} found no numbers that keep the point of the exercise")

    @property
    def ways(self) -> int | None:
        """In how many ways it can be asked; None where numbers are sampled, and there are more than anyone will meet."""
        return 1 + len(self.variants) if self.variants or self.sample is None else None

    def _in_turn(self, learner: str) -> Numbers:
        """Each practice draw takes the next variant after the learner's own, so that no two in a row ask the same."""
        own, _, practice = learner.partition(PRACTICE_MARK)
        ways = (self.course, *self.variants)
        first = 0 if own == DEFAULT_LEARNER else seeded("draw", self.name, own).randrange(len(ways))
        return ways[(first + (int(practice) if practice.isdecimal() else 0)) % len(ways)]
