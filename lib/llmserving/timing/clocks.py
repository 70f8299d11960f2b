"""Clocks: each times one piece of work, on the wall and, where that can be told, on the cores."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Sample(NamedTuple):
    """Seconds; busy is None where the clock cannot tell it."""

    wall: float
    busy: float | None


class Clock(Protocol):
    """least_calls: how often a sample must repeat its work, so that starting it does not count."""

    least_calls: int
    threads: int

    def time(self, work: Callable[[], Any]) -> Sample:
        """Runs `work` once, to its end, and times it."""


class HostClock:
    """Work on the processor: wall time, and CPU time of this thread (of all the process's, where several work)."""

    least_calls = 1

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        # Windows counts CPU time in scheduler ticks of 15.6 ms, longer than a sample.
        self._busy = None if sys.platform == "win32" else time.thread_time if threads == 1 else time.process_time

    def time(self, work: Callable[[], Any]) -> Sample:
        busy = self._busy
        if busy is None:
            start = time.perf_counter()
            work()
            return Sample(time.perf_counter() - start, None)
        # The wall's interval lies inside the busy one, so that reading the clocks cannot make a sample look disturbed.
        busy_start, start = busy(), time.perf_counter()
        work()
        wall = time.perf_counter() - start
        return Sample(wall, busy() - busy_start)


class FakeClock:
    """A clock for tests: time passes only where the work says so by `advance`, and by `stolen`, one entry a sample.

    stolen: seconds of wall time that somebody else had the core; after the last entry, none.
    """

    least_calls = 1

    def __init__(self, threads: int = 1, stolen: tuple[float, ...] = (), *, tells_busy: bool = True) -> None:
        self.threads, self.now, self.busy = threads, 0.0, 0.0
        self._stolen, self._tells_busy = list(stolen), tells_busy

    def advance(self, seconds: float) -> None:
        """All threads work for so long."""
        self.now += seconds
        self.busy += seconds * self.threads

    def time(self, work: Callable[[], Any]) -> Sample:
        start, busy_start = self.now, self.busy
        work()
        self.now += self._stolen.pop(0) if self._stolen else 0.0
        return Sample(self.now - start, self.busy - busy_start if self._tells_busy else None)
