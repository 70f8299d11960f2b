"""How far from right is still right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """How far from right is still right, as a part of it or in its own unit; `reason` says why."""

    relative: float
    reason: str
    absolute: float = 0.0

    @property
    def exact(self) -> bool:
        return self.relative == self.absolute == 0

    def accepts(self, expected: float, answer: float) -> bool:
        return abs(answer - expected) <= max(self.relative * abs(expected), self.absolute)


EXACT = Tolerance(0.0, "a count is a whole number; one more or less is another answer")
TWO_DECIMALS = Tolerance(
    0.005, "0.31 stands for 0.313, which is as exact as two sizes of three figures leave it", absolute=0.005
)
THREE_FIGURES = Tolerance(0.005, "three significant figures: 1.07 stands for 1.0737, 1.1 is rounded too far")
A_FRACTION = Tolerance(0.0, "a share is asked for to within 0.002: 0.941 and 94 % stand for 0.9414", absolute=0.002)
