"""Who waits, runs, was preempted or has finished after the first k events of a log."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from llmserving.events import Event
from llmserving.replay.log import SCHEDULING_KINDS, checked_log, checked_upto
from llmserving.replay.schedule_moves import RUNNING, Phase, ScheduleMoves, move


@dataclass(frozen=True)
class ScheduleState:
    """After `number` events. Each request is in one of the five tuples, in the order in which it came into it.

    waiting: arrived and never begun. preempted: begun, and waiting again. tokens: what each running request has in the
    cache, as of its last event. time_s, free_blocks: as of the last scheduling event.
    """

    number: int
    last: Event | None
    time_s: float
    waiting: tuple[Hashable, ...]
    running: tuple[Hashable, ...]
    preempted: tuple[Hashable, ...]
    finished: tuple[Hashable, ...]
    rejected: tuple[Hashable, ...]
    tokens: Mapping[Hashable, int]
    free_blocks: int


def replay_schedule(events: Iterable[Event], upto: Any = None) -> ScheduleState:
    """The schedule after the first `upto` events, all of them if None; paging events change nothing here.

    LogError, which names the event, where the log contradicts itself.
    """
    log = checked_log(events)
    count = checked_upto(upto, len(log))
    moves, tokens, time_s, free_blocks = ScheduleMoves(), dict[Hashable, int](), 0.0, 0
    for number, event in enumerate(log[:count], 1):
        if event.kind not in SCHEDULING_KINDS:
            continue
        move(moves, number, event)
        tokens[event.request], time_s, free_blocks = event.tokens, event.time_s, event.free_blocks
    by_phase: dict[Phase, list[Hashable]] = {}
    for request, phase in moves.phase.items():
        by_phase.setdefault("prefill" if phase in RUNNING else phase, []).append(request)
    waiting, running, preempted, finished, rejected = (
        tuple(by_phase.get(phase, ())) for phase in ("waiting", "prefill", "preempted", "finished", "rejected")
    )
    held = MappingProxyType({request: tokens[request] for request in running})
    last = log[count - 1] if count else None
    return ScheduleState(count, last, time_s, waiting, running, preempted, finished, rejected, held, free_blocks)
