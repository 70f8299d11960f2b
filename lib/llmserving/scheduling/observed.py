"""The engine under observation: a note beside each event, a record of each step, and an end to loops that have none."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any

from llmserving.events import SchedulingKind
from llmserving.scheduling.engine import Engine
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.playback import Noted, PlayedStep
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.request import Workload
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.step_clock import StepClock

Scheduled = tuple[tuple[Hashable, ...], tuple[tuple[Hashable, int], ...], tuple[Hashable, ...]]
LOOKS_PER_REQUEST = 1000  # in one step; a right scheduler needs some ten


class EndlessLoop(RuntimeError):
    """A loop in the scheduler does not end."""


class ObservedEngine(Engine):
    """Invariant: `notes` has one entry for each event, and `steps` one for each step that was carried out."""

    def __init__(
        self, workload: Workload, policy: Policy, memory: KvMemory, clock: StepClock, allocator: Any = None
    ) -> None:
        self.notes: list[Noted] = []
        self.steps: list[PlayedStep] = []
        self._reason = ""
        self._scheduled: Scheduled = (), (), ()
        self._looks, self._most_looks = 0, LOOKS_PER_REQUEST * (len(workload) + 1)
        # While the rules hold, each step brings the oldest request forward by a token of its prompt or of its answer.
        self._most_steps = sum(request.tokens for request in workload)
        super().__init__(workload, policy, memory, clock, allocator)

    @property
    def _waiting(self) -> deque[Sequence]:
        self._look()
        return self._who_waits

    @_waiting.setter
    def _waiting(self, waiting: deque[Sequence]) -> None:
        self._who_waits = waiting

    @property
    def _running(self) -> list[Sequence]:
        self._look()
        return self._who_runs

    @_running.setter
    def _running(self, running: list[Sequence]) -> None:
        self._who_runs = running

    def _look(self) -> None:
        """Every question and every move looks at one of the two queues, so counting looks finds nearly every loop."""
        self._looks += 1
        if self._looks > self._most_looks:
            raise EndlessLoop(
                f"in one step it looked {self._most_looks:,} times at who waits and who runs, and goes on"
            )

    def preempt(self, sequence: Sequence) -> None:
        self._reason = self._who_needs_a_block(sequence)
        super().preempt(sequence)

    def _who_needs_a_block(self, sent_back: Sequence) -> str:
        for one in self._who_runs:
            if one.decodes and not self.moves.has(one) and not self._allocator.has_slot(one.request.id):
                who = "it" if one is sent_back else f"request {one.request.id}"
                return f"{who} needs a block for its next token, and none is free"
        return "though everyone that decodes has room for its next token"

    def _take_step(self) -> None:
        if self.step >= self._most_steps:
            left = len(self._who_runs) + len(self._who_waits) + len(self._arriving)
            self._broken(
                "endless",
                f"{self.step:,} steps were taken, one for each token of all prompts and answers, and {left} of "
                "the requests are not done: the schedule gets nowhere",
            )
        start_s = self.time_s
        super()._take_step()
        self.steps.append(PlayedStep(self.step, start_s, self.time_s, *self._scheduled))

    def _schedule(self) -> None:
        self._looks = 0
        super()._schedule()
        self._looks = 0
        rows, prefills = self.moves.decodes, self.moves.prefills
        self._scheduled = (
            tuple(one.request.id for one in rows if not one.done),
            tuple((one.request.id, tokens) for one, tokens in prefills.items()),
            tuple(one.request.id for one in rows if one.done),
        )

    def _event(self, kind: SchedulingKind, sequence: Sequence, time_s: float | None = None) -> None:
        super()._event(kind, sequence, time_s)
        reason = self._reason if kind == "preempt" else ""
        self.notes.append(Noted(self._events[-1], sequence.produced, sequence.target, reason))
