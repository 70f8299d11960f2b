"""A log that can be read: a list of events, and the error that names the event at which it contradicts itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, get_args

from llmserving import arguments
from llmserving.events import Event, PagingKind, SchedulingKind

PAGING_KINDS = frozenset(get_args(PagingKind))
SCHEDULING_KINDS = frozenset(get_args(SchedulingKind))


class LogError(ValueError):
    """The log contradicts itself. number: at which event, counted from 1."""

    def __init__(self, number: int, event: Event, why: str) -> None:
        whose = "" if event.request is None else f" of {request_name(event.request)}"
        super().__init__(f"event {number} of the log, {event.kind!r}{whose}, cannot be: {why}")
        self.number = number


def checked_log(events: Any) -> list[Event]:
    """The events as a list; TypeError where they are something else."""
    log = list(events) if isinstance(events, Iterable) and not isinstance(events, Event) else [events]
    wrong = [one for one in log if not isinstance(one, Event)]
    if wrong:
        got = arguments.shown(wrong[0])
        raise TypeError(f"events is the list of Events that an allocator or a simulation logs, but got {got}")
    unknown = next((number for number, one in enumerate(log, 1) if one.kind not in PAGING_KINDS | SCHEDULING_KINDS), 0)
    if unknown:
        raise LogError(unknown, log[unknown - 1], "there is no such kind of event")
    return log


def checked_upto(upto: Any, events: int) -> int:
    """How many events to replay: all of them for None."""
    if upto is None:
        return events
    meaning = f"how many of the log's {events:,} events have happened"
    return arguments.count("upto", meaning, upto, at_least=0, most=events)


def request_name(request: Hashable) -> str:
    """How a sentence names a request: a text stands for itself.

    >>> request_name("a"), request_name(7)
    ('a', 'request 7')
    """
    return request if isinstance(request, str) else f"request {request!r}"
