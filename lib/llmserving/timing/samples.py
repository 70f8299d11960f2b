"""What was timed, and how far it can be believed: a sample counts where the core was ours from its start to its end.

On a shared machine a median of wall times tells the neighbours' load, and no number of samples mends that. A thread that had
to wait for its core used less CPU time than passed on the wall, so that such samples can be told and left out. What the
core's own time cannot tell is a neighbour who uses the memory at the same time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal

from llmserving import arguments

LEAST_SAMPLES = 20
QUIET = 0.95  # of the wall time was spent on the core: one scheduler tick lost in a sample of 3 ms is far below
LEAST_QUIET_SHARE = 0.2  # with fewer, those that pass are luck
SPREAD = 1.1  # where no busy time is known, as on a GPU: within 10 % of the fastest
DRIFT = 0.1

Verdict = Literal["ok", "DISTURBED", "TOO FEW"]


@dataclass(frozen=True)
class Samples:
    """Seconds of one piece of work, a sample each: `walls` as they passed, `busies` on the cores, of `threads` together.

    busies is None where no clock tells them. Then a sample is quiet when it is near the fastest one.
    """

    walls: tuple[float, ...]
    busies: tuple[float, ...] | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.walls:
            raise ValueError("walls is empty: there is no estimate without a sample")
        if self.busies is not None and len(self.busies) != len(self.walls):
            raise ValueError(f"there are {len(self.walls)} wall times, but {len(self.busies)} busy times")
        arguments.count("threads", "the number of threads that worked", self.threads)
        for name, values in (("walls", self.walls), ("busies", self.busies or ())):
            if not all(math.isfinite(value) and value >= 0 for value in values) or (name == "walls" and 0 in values):
                raise ValueError(f"{name} are seconds above 0, but there is one that is not")

    @cached_property
    def is_quiet(self) -> tuple[bool, ...]:
        """Of each sample, whether nothing else had the core."""
        if self.busies is None:
            return tuple(wall <= SPREAD * min(self.walls) for wall in self.walls)
        return tuple(busy >= QUIET * self.threads * wall for wall, busy in zip(self.walls, self.busies, strict=True))

    @cached_property
    def quiet(self) -> tuple[float, ...]:
        """The wall times of the undisturbed samples."""
        return tuple(wall for wall, quiet in zip(self.walls, self.is_quiet, strict=True) if quiet)

    @property
    def quiet_share(self) -> float:
        return len(self.quiet) / len(self.walls)

    @property
    def verdict(self) -> Verdict:
        """Whether there is a number to give: enough samples, and enough of them undisturbed."""
        if len(self.walls) < LEAST_SAMPLES:
            return "TOO FEW"
        return "ok" if self.quiet_share >= LEAST_QUIET_SHARE else "DISTURBED"

    @property
    def best(self) -> float | None:
        """The fastest undisturbed sample; None instead of a number that cannot be believed."""
        return min(self.quiet) if self.verdict == "ok" else None

    @property
    def median(self) -> float | None:
        """The median of the undisturbed samples, or None."""
        return median(self.quiet) if self.verdict == "ok" else None

    @property
    def drift(self) -> float | None:
        """How much slower the later half of the undisturbed samples was: 0.1 is 10 %. None where there are too few.

        A machine that warms up, or a neighbour that comes to use the memory, shows here and not in the busy time.
        """
        if self.verdict != "ok" or len(self.quiet) < 4:
            return None
        half = len(self.quiet) // 2
        return median(self.quiet[-half:]) / median(self.quiet[:half]) - 1

    @property
    def drifts(self) -> bool:
        return self.drift is not None and abs(self.drift) > DRIFT

    @property
    def core_seconds(self) -> float | None:
        """The least CPU time, for one thread: about what the best wall time would be with the core to itself.

        It is for work of tens of milliseconds, longer than a scheduler leaves a thread alone, of which on a busy machine no
        sample is undisturbed. None where it is not known, or where threads waited for one another.
        """
        return min(self.busies) if self.busies and self.threads == 1 and min(self.busies) > 0 else None
