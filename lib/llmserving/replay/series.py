"""What a log says over time: free blocks, running and waiting requests, as step functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llmserving.events import Event
from llmserving.replay.log import SCHEDULING_KINDS, checked_log
from llmserving.replay.schedule_moves import QUEUED, RUNNING, ScheduleMoves, move

MOST_POINTS = 1000  # a curve is some 640 units wide, so more could not be told apart


@dataclass(frozen=True)
class Series:
    """A step function: values[i] from times_s[i] on. times_s: seconds, ascending, [points]; values: [points]."""

    times_s: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def peak(self) -> tuple[float, float]:
        """The largest value and when it is first reached."""
        at = int(np.argmax(self.values))
        return float(self.values[at]), float(self.times_s[at])

    @property
    def mean(self) -> float:
        """Over time; the plain mean where no time passes."""
        widths = np.diff(self.times_s)
        return float(widths @ self.values[:-1] / widths.sum()) if widths.sum() > 0 else float(self.values.mean())

    def thinned(self, most: int = MOST_POINTS) -> Series:
        """At most `most` points that look the same: of each of most / 3 equal stretches of time, the points with the
        smallest and the largest value and the last one. The last is kept since it may hold through a long gap.
        """
        if len(self.times_s) <= most:
            return self
        start, end = self.times_s[0], self.times_s[-1]
        buckets = max(1, (most - 1) // 3)
        bucket = np.minimum(((self.times_s - start) / (end - start) * buckets).astype(np.int64), buckets - 1)
        edges = np.flatnonzero(np.diff(bucket)) + 1
        kept = {0}
        for first, past in zip([0, *edges.tolist()], [*edges.tolist(), len(bucket)], strict=True):
            inside = self.values[first:past]
            kept |= {first + int(np.argmin(inside)), first + int(np.argmax(inside)), past - 1}
        index = np.array(sorted(kept))
        return Series(self.times_s[index], self.values[index])


@dataclass(frozen=True)
class ServingSeries:
    """free_blocks: in the whole pool. running: requests that hold blocks. waiting: new ones and preempted ones."""

    free_blocks: Series
    running: Series
    waiting: Series


def serving_series(events: Iterable[Event]) -> ServingSeries:
    """The three curves of a log; ValueError where it has no scheduling events, LogError where it contradicts itself.

    Of events at the same time the last one counts. Blocks that a request takes as it decodes have no event of their own
    in a schedule: they show with the next event of any request.
    """
    moves = ScheduleMoves()
    changes: list[tuple[float, int, int]] = []
    free: list[tuple[float, int]] = []
    for number, event in enumerate(checked_log(events), 1):
        if event.kind in SCHEDULING_KINDS:
            before, after = move(moves, number, event)
            running = (after in RUNNING) - (before in RUNNING)
            changes.append((event.time_s, running, (after in QUEUED) - (before in QUEUED)))
        # An arrival takes nothing, may be logged late, and then has the count of another moment.
        if event.kind in SCHEDULING_KINDS and event.kind not in ("arrive", "reject"):
            free.append((event.time_s, event.free_blocks))
    if not free:
        raise ValueError("events has no scheduling event that runs a request, so there is nothing to show over time")
    change = np.array(changes, dtype=np.float64)
    change = change[np.argsort(change[:, 0], kind="stable")]
    blocks = np.array(free, dtype=np.float64)
    return ServingSeries(
        _series(blocks[:, 0], blocks[:, 1]),
        _series(change[:, 0], np.cumsum(change[:, 1])),
        _series(change[:, 0], np.cumsum(change[:, 2])),
    )


def _series(times_s: NDArray[np.float64], values: NDArray[np.float64]) -> Series:
    """The last value at each time."""
    last = np.append(np.diff(times_s) > 0, True)
    return Series(times_s[last], values[last])
