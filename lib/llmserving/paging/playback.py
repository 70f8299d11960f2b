"""What came of a script: its events, and the moments at which one can stop when stepping through them."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.events import Event
from llmserving.paging.audit import BrokenInvariant
from llmserving.paging.operation import Operation


@dataclass(frozen=True)
class Moment:
    """A place to stop when stepping through. operation: its number, from 1, or 0 before the first. events: how many had
    happened by then. event: the last of them where it happened just now, None at the start and where nothing happened.
    refusal: the sentence of one.
    """

    operation: int
    events: int
    event: Event | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of one operation: a refusal, or events; neither where it ended in a bug."""

    events: tuple[Event, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True)
class Playback:
    """What happened. outcomes: of the first operations, all of them where none broke an invariant. It ends at the first
    broken one, `broken`, which is None where all held.
    """

    operations: tuple[Operation, ...]
    num_blocks: int
    block_size: int
    outcomes: tuple[Outcome, ...]
    broken: BrokenInvariant | None

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for outcome in self.outcomes for event in outcome.events)

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The start, every event, and every operation without one; the last is that of the broken invariant."""
        moments = [Moment(0, 0)] * (1 if self.outcomes else 2)
        for number, outcome in enumerate(self.outcomes, 1):
            for event in outcome.events:
                moments.append(Moment(number, moments[-1].events + 1, event))
            if not outcome.events:
                moments.append(Moment(number, moments[-1].events, None, outcome.refusal))
        return tuple(moments)
