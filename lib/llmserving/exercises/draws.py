"""The numbers of an exercise, drawn for one learner: plain, public functions of the learner's id.

The id "default" gets the course's own numbers. Every other id seeds its own generator, so the same learner always
meets the same numbers, and exercises that share a draw share the numbers.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_LEARNER = "default"

Numbers = Mapping[str, Any]


def seeded(*words: str) -> random.Random:
    """A generator that depends on `words` alone, the same on every machine and Python version."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


@dataclass(frozen=True)
class Draw:
    """The course's numbers, how to draw others, and what others must satisfy to keep the point of the exercise."""

    name: str
    course: Numbers = field(default_factory=dict)
    sample: Callable[[random.Random], Numbers] | None = None
    keeps_the_point: Callable[[Numbers], bool] = lambda numbers: True

    def numbers(self, learner: str) -> Numbers:
        if learner == DEFAULT_LEARNER or self.sample is None:
            return self.course
        rng = seeded("draw", self.name, learner)
        for _ in range(10_000):
            numbers = self.sample(rng)
            if self.keeps_the_point(numbers):
                return numbers
        raise RuntimeError(f"the draw {self.name!r} found no numbers that keep the point of the exercise")
