"""An axis of equal distances: where a value lies in figure units, and which round values get a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LinearAxis:
    """Values from `low` to `high` laid out evenly from `start` to `end` in figure units."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where `value` lies; what is outside the axis is drawn outside it."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, room: float) -> list[float]:
        """Multiples of 1, 2 or 5 times a power of ten, as many as leave `room` units between neighbours."""
        least = room / abs(self.end - self.start) * (self.high - self.low)
        decade = 10.0 ** math.floor(math.log10(least))
        step = next(factor * decade for factor in (1, 2, 5, 10, 20) if factor * decade >= least)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [index * step for index in range(first, last + 1)]
