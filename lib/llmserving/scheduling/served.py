"""Requests that were served: how long each waited for its tokens, and how those times spread."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from llmserving.events import Event
from llmserving.scheduling.request import Request, Workload
from llmserving.units import format_seconds


@dataclass(frozen=True)
class Spread:
    """Seconds: the mean, and what half, 95 % and 99 % of the requests stay within."""

    mean: float
    p50: float
    p95: float
    p99: float

    def __str__(self) -> str:
        parts = (f"{name} {format_seconds(value)}" for name, value in vars(self).items())
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Served:
    """One request that was served, with the times that its events tell, in seconds since the start."""

    request: Request
    first_token_s: float
    finish_s: float
    preemptions: int

    @property
    def time_to_first_token_s(self) -> float:
        """From arrival to the end of the step that gave the first token."""
        return self.first_token_s - self.request.arrival_s

    @property
    def time_per_output_token_s(self) -> float | None:
        """The mean time between its tokens; None where it was given only one."""
        between = self.request.output_tokens - 1
        return (self.finish_s - self.first_token_s) / between if between else None


def served_requests(workload: Workload, events: Iterable[Event]) -> list[Served]:
    """The requests that were given all their tokens, in the order in which that was so."""
    by_id: dict[Hashable, Request] = {request.id: request for request in workload}
    first: dict[Hashable, float] = {}
    preempted: dict[Hashable, int] = {}
    served = []
    for event in events:
        if event.kind == "first token":
            first[event.request] = event.time_s
        elif event.kind == "preempt":
            preempted[event.request] = preempted.get(event.request, 0) + 1
        elif event.kind == "finish":
            given = by_id[event.request], first[event.request], event.time_s
            served.append(Served(*given, preempted.get(event.request, 0)))
    return served


def spread(values: Iterable[float | None]) -> Spread | None:
    """How these times spread, those that are None left out; None where there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    p50, p95, p99 = np.quantile(known, [0.5, 0.95, 0.99])
    return Spread(float(np.mean(known)), float(p50), float(p95), float(p99))
