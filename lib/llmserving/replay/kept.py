"""Who is done and keeps its place: the rows of a static batch that go on for nobody."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from llmserving.events import Event
from llmserving.replay.log import SCHEDULING_KINDS, checked_log


def kept_until(events: Iterable[Event]) -> dict[Hashable, float]:
    """Until when the memory of requests that had ended was held, in seconds; those that gave it back at once are not in it.

    For logs of contiguous memory, where nothing is taken but when a request begins: there, memory that a request gives
    back shows at its end. In a paged one, others may take it in the same step.
    """
    kept: dict[Hashable, float] = {}
    ended: list[tuple[Hashable, float]] = []
    free = 0
    for event in checked_log(events):
        if event.kind not in SCHEDULING_KINDS:
            continue
        if event.kind == "finish" and event.free_blocks > free:
            kept |= {request: event.time_s for request, end_s in ended if event.time_s > end_s}
            ended = []
        elif event.kind == "finish":
            ended.append((event.request, event.time_s))
        free = event.free_blocks
    return kept
