"""What an engine knows between its moves: who waits and who runs, the clock, the log. A scheduler may only read it."""

from __future__ import annotations

from collections import deque
from typing import Any, NoReturn

from llmserving.events import Event, SchedulingKind
from llmserving.paging.learners_code import LearnersBug
from llmserving.scheduling.checked_allocator import CheckedAllocator
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.rules import BrokenRuleError
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.shown import ByHandError, Shown
from llmserving.scheduling.step import Step
from llmserving.scheduling.tally import Tally


class EngineState:
    """Invariant: a request is in at most one of the two queues, and both stand in the order of arrival."""

    _guarded: frozenset[str] = frozenset()  # what may not be set: while the scheduler has the word, all that is public

    def __init__(self, policy: Policy, memory: KvMemory, allocator: Any = None) -> None:
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._events: list[Event] = []
        self.policy, self.memory = policy, memory
        self._swaps = getattr(policy, "preemption", "recompute") == "swap"
        self.time_s = 0.0
        self.step = 0
        self.moves = Step()
        self.tally = Tally()
        try:
            self._allocator = CheckedAllocator(memory, allocator)
        except LearnersBug as bug:
            self._broken("allocator", str(bug))

    @property
    def waiting(self) -> Shown[Sequence]:
        """The requests that wait to be let in, new ones and those that were sent back, in the order of arrival. Read it
        like a list; only moves change it.
        """
        return Shown("engine.waiting", self._waiting)

    @property
    def running(self) -> Shown[Sequence]:
        """The requests that were let in and hold blocks, in the order of arrival. Read it like a list; only moves change
        it. It changes under a loop that moves: loop over `list(engine.running)`.
        """
        return Shown("engine.running", self._running)

    @property
    def events(self) -> Shown[Event]:
        """What has happened so far."""
        return Shown("engine.events", self._events)

    @property
    def free_blocks(self) -> int:
        """How many blocks of the pool are free now."""
        return self._allocator.free_blocks

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._guarded:
            raise ByHandError(f"engine.{name} was set")
        super().__setattr__(name, value)

    def _broken(self, name: str, sentence: str) -> NoReturn:
        raise BrokenRuleError(name, sentence, self.step, len(self._events)) from None

    def _event(self, kind: SchedulingKind, sequence: Sequence, time_s: float | None = None) -> None:
        time_s = self.time_s if time_s is None else time_s
        self._events.append(Event(kind, sequence.request.id, time_s, self.step, sequence.cached, self.free_blocks))
