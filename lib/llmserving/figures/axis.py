"""The axes of a curve: where a value lies in figure units, and which values get a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from llmserving.units import format_number

STEPS_PER_DECADE = ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5))


@dataclass(frozen=True)
class LogAxis:
    """Values from `low` to `high`, both above 0, laid out in equal ratios from `start` to `end` in figure units."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where `value` lies; what is outside the axis is drawn outside it."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def ticks(self, room: float) -> list[float]:
        """Round values, as many as leave `room` units between neighbours."""
        best: list[float] = []
        for steps in STEPS_PER_DECADE:
            ticks = self._round_values(steps)
            places = [self.at(tick) for tick in ticks]
            if all(abs(b - a) >= room for a, b in pairwise(places)):
                best = ticks
        return best or [self.low, self.high]

    def powers_of_two(self, room: float) -> list[float]:
        """Powers of two, every one or every second, third … so that neighbours are `room` units apart."""
        exponents = range(math.ceil(math.log2(self.low)), math.floor(math.log2(self.high)) + 1)
        stride = max(1, math.ceil(room / abs(self.at(2 * self.low) - self.at(self.low))))
        return [2.0**exponent for exponent in exponents[::stride]]

    def _round_values(self, steps: tuple[int, ...]) -> list[float]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        values = [step * 10.0**decade for decade in decades for step in steps]
        return [value for value in values if self.holds(value)]


@dataclass(frozen=True)
class LinearAxis:
    """Values from `low` to `high` laid out evenly from `start` to `end` in figure units.

    whole: what is counted has no halves, so neither have the ticks.
    """

    low: float
    high: float
    start: float
    end: float
    whole: bool = False

    def at(self, value: float) -> float:
        """Where `value` lies; what is outside the axis is drawn outside it."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, room: float) -> list[float]:
        """Multiples of 1, 2 or 5 times a power of ten, as many as leave `room` units between neighbours."""
        least = room / abs(self.end - self.start) * (self.high - self.low)
        decade = 10.0 ** math.floor(math.log10(least))
        step = next(factor * decade for factor in (1, 2, 5, 10, 20) if factor * decade >= least)
        step = max(step, 1.0) if self.whole else step
        slack = 1e-9 * (self.high - self.low)  # so that 0.6 is a multiple of 0.2
        first, last = math.ceil((self.low - slack) / step), math.floor((self.high + slack) / step)
        # Rounded to the step's own digits, so that 3 * 0.1 is 0.3.
        digits = max(0, 1 - math.floor(math.log10(step)))
        return [round(index * step, digits) for index in range(first, last + 1)]


def surrounding(values: list[float], margin: float = 1.25) -> tuple[float, float]:
    """The ends of an axis that holds all `values` with some room around them."""
    return min(values) / margin, max(values) * margin


def short_number(value: float) -> str:
    """`value` as a tick reads best: 500, 2k, 1.5M.

    >>> short_number(2000), short_number(0.5), short_number(1_500_000)
    ('2k', '0.5', '1.5M')
    """
    for scale, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return format_number(value / scale) + suffix
    return format_number(value)
