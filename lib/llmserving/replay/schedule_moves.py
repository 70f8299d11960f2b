"""What each scheduling event does to a request, and what must hold for it to be possible."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Literal

from llmserving.events import Event
from llmserving.replay.log import LogError, request_name
from llmserving.units import format_number

Phase = Literal["waiting", "prefill", "decode", "preempted", "finished", "rejected"]
RUNNING: tuple[Phase, ...] = ("prefill", "decode")
QUEUED: tuple[Phase, ...] = ("waiting", "preempted")

# Each kind of event: the phases in which a request may be before it, None for one that has not arrived.
BEFORE: Mapping[str, tuple[Phase | None, ...]] = {
    "arrive": (None,),
    "reject": (None, "waiting"),
    "prefill": ("waiting", "preempted", "prefill"),
    "first token": ("prefill",),
    "preempt": RUNNING,
    "recomputed": ("prefill",),
    "resume": ("preempted",),
    "finish": ("decode",),
}
IS: Mapping[Phase | None, str] = {
    None: "has not arrived",
    "waiting": "still waits",
    "prefill": "is in its prefill",
    "decode": "is decoding",
    "preempted": "is preempted",
    "finished": "has finished",
    "rejected": "was rejected",
}


class ScheduleMoves:
    """The phase of every request, moved on event by event. ValueError says why an event cannot follow those before it."""

    def __init__(self) -> None:
        self.phase: dict[Hashable, Phase] = {}
        self.answered: set[Hashable] = set()  # had the first token
        self.arrival_s: dict[Hashable, float] = {}
        self.time_s = -math.inf

    def apply(self, event: Event) -> tuple[Phase | None, Phase]:
        """The request's phase before and after."""
        request, before = event.request, self.phase.get(event.request)
        self._check_time(event)
        if before not in BEFORE[event.kind]:
            raise ValueError(f"{request_name(request)} {IS[before]}")
        if event.kind == "first token":
            if request in self.answered:
                raise ValueError(f"{request_name(request)} had its first token before")
            self.answered.add(request)
        elif event.kind == "recomputed" and request not in self.answered:
            raise ValueError(f"{request_name(request)} never had its first token")
        after = self._after(event)
        self.phase.pop(request, None)
        self.phase[request] = after  # to the end: the order in which requests came into their phase
        return before, after

    def _after(self, event: Event) -> Phase:
        if event.kind == "resume":  # swapped out in the middle of its prefill, it goes on with that
            return "decode" if event.request in self.answered else "prefill"
        phases: dict[str, Phase] = {
            "arrive": "waiting",
            "reject": "rejected",
            "prefill": "prefill",
            "first token": "decode",
            "recomputed": "decode",
            "preempt": "preempted",
            "finish": "finished",
        }
        return phases[event.kind]

    def _check_time(self, event: Event) -> None:
        """Time goes on; but an arrival may be logged before or after its time, when the scheduler looks at the queue."""
        if not 0 <= event.time_s < math.inf:
            raise ValueError(f"its time is {event.time_s} s")
        if event.kind in ("arrive", "reject"):
            self.arrival_s.setdefault(event.request, event.time_s)
            return
        earliest = max(self.time_s, self.arrival_s.get(event.request, 0.0))
        if event.time_s < earliest:
            raise ValueError(f"at {_s(event.time_s)} it comes before what it follows, at {_s(earliest)}")
        self.time_s = event.time_s


def move(moves: ScheduleMoves, number: int, event: Event) -> tuple[Phase | None, Phase]:
    """`moves.apply`, with the event's number in its refusal."""
    try:
        return moves.apply(event)
    except ValueError as why:
        raise LogError(number, event, str(why)) from None


def _s(seconds: float) -> str:
    return f"{format_number(seconds, 6)} s"
