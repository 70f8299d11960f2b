"""What came of a schedule that was played: its events and steps, and the moments at which one can stop in between."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from llmserving.events import Event
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.request import Workload
from llmserving.scheduling.rules import BrokenRuleError


class Noted(NamedTuple):
    """An event, and what the log does not say. produced: tokens that its request had been given by then. target: tokens
    that its cache needs before it decodes. reason: why it was sent back, '' of any other event.
    """

    event: Event
    produced: int
    target: int
    reason: str = ""


@dataclass(frozen=True)
class PlayedStep:
    """A step: who took in one token, and who had how many tokens of its prompt computed; of a static batch also the rows
    that go on for nobody. Times in seconds.
    """

    number: int
    start_s: float
    end_s: float
    decodes: tuple[Hashable, ...]
    prefills: tuple[tuple[Hashable, int], ...]
    padding: tuple[Hashable, ...] = ()

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class ScheduleMoment:
    """A place to stop when stepping through. step: how many had begun. events: how many had happened. noted: the last of
    them where it happened just now, None at the start and where the schedule ends at a broken rule.
    """

    step: int
    events: int
    noted: Noted | None = None


@dataclass(frozen=True)
class SchedulePlayback:
    """What happened, up to the end or to the first broken rule, `broken`, which is None where all held.

    steps: those that were carried out. swaps: whether who is sent back keeps its cache in the host's memory.
    """

    workload: Workload
    memory: KvMemory
    noted: tuple[Noted, ...]
    steps: tuple[PlayedStep, ...]
    broken: BrokenRuleError | None
    swaps: bool = False

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(noted.event for noted in self.noted)

    @property
    def moments(self) -> tuple[ScheduleMoment, ...]:
        """The start, every event, and the broken rule where there is one."""
        moments = [ScheduleMoment(0, 0)]
        moments += [ScheduleMoment(noted.event.step, number, noted) for number, noted in enumerate(self.noted, 1)]
        if self.broken is not None:
            moments.append(ScheduleMoment(self.broken.step, len(self.noted)))
        return tuple(moments)
