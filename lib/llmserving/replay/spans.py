"""When each request waited, computed its prompt, decoded, or was preempted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from llmserving.events import Event
from llmserving.replay.log import SCHEDULING_KINDS, checked_log
from llmserving.replay.schedule_moves import Phase, ScheduleMoves, move

SpanPhase = Literal["waiting", "prefill", "decode", "preempted"]
PHASES: tuple[SpanPhase, ...] = ("waiting", "prefill", "decode", "preempted")


class Span(NamedTuple):
    phase: SpanPhase
    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class RequestSpans:
    """One request from its arrival to its end, or to the end of the log, where it is "unfinished".

    Spans follow one another without a gap, and each has a length.
    """

    request: Hashable
    arrival_s: float
    spans: tuple[Span, ...]
    outcome: Literal["finished", "rejected", "unfinished"]

    @property
    def end_s(self) -> float:
        return self.spans[-1].end_s if self.spans else self.arrival_s

    def seconds(self, phase: SpanPhase) -> float:
        """How long it was in that phase, all times together."""
        return sum(span.seconds for span in self.spans if span.phase == phase)


def request_spans(events: Iterable[Event]) -> list[RequestSpans]:
    """The requests of a log in the order of their arrival. LogError where the log contradicts itself.

    Prefill lasts from the step that begins it to the first token or, of a request that is computed again after a
    preemption, to the event "recomputed".
    """
    moves = ScheduleMoves()
    open_: dict[Hashable, tuple[Phase, float]] = {}
    spans: dict[Hashable, list[Span]] = {}

    def close(request: Hashable, end_s: float) -> None:
        phase, start_s = open_[request]
        if phase in PHASES and end_s > start_s:
            spans[request].append(Span(phase, start_s, end_s))

    end_of_log = 0.0
    for number, event in enumerate(checked_log(events), 1):
        if event.kind not in SCHEDULING_KINDS:
            continue
        before, after = move(moves, number, event)
        request, end_of_log = event.request, max(end_of_log, event.time_s)
        if before != after:
            spans.setdefault(request, [])
            if before is not None:
                close(request, event.time_s)
            open_[request] = (after, event.time_s)
    for request in open_:
        close(request, end_of_log)
    made = [
        RequestSpans(request, moves.arrival_s[request], tuple(spans[request]), _outcome(moves.phase[request]))
        for request in open_
    ]
    return sorted(made, key=lambda one: one.arrival_s)


def _outcome(phase: Phase) -> Literal["finished", "rejected", "unfinished"]:
    return phase if phase == "finished" or phase == "rejected" else "unfinished"
