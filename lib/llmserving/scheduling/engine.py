"""An inference engine step by step: the slow and obvious version, which also plays a learner's scheduler or allocator.

A step computes some tokens of each request that was scheduled: a whole prompt or a piece of it, or one new token. It ends
with one token more for each whose prompt is complete. The first token comes out of the prompt's own pass; a token that a
step gives enters the cache with the next step. Arrivals are noticed between steps.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

from llmserving.paging.learners_code import LearnersBug, bug, pass_stop_on
from llmserving.paging.slips import about_free
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.moves import Moves
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.request import Workload
from llmserving.scheduling.rules import BrokenRuleError, check_step
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.shown import ByHandError
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching
from llmserving.scheduling.step import Step
from llmserving.scheduling.step_clock import StepClock


class Engine(Moves):
    """The loop around a policy: who has arrived, its moves, how long they take, and who is given a token for them."""

    def __init__(
        self, workload: Workload, policy: Policy, memory: KvMemory, clock: StepClock, allocator: Any = None
    ) -> None:
        super().__init__(policy, memory, allocator)
        self.clock = clock
        self._arriving = deque(Sequence(request, place) for place, request in enumerate(workload))
        self._public = frozenset(name for name in dir(self) if not name.startswith("_"))

    def run(self, ended: Callable[[int], object]) -> None:
        """Step until every request is done or rejected; `ended` is told of how many more that is so."""
        try:
            self._run(ended)
        except LearnersBug as bug:
            self._broken("allocator", str(bug))

    def _run(self, ended: Callable[[int], object]) -> None:
        while self._arriving or self._waiting or self._running:
            events = len(self._events)
            if self._arriving and not self._waiting and not self._running:
                self.time_s = max(self.time_s, self._arriving[0].request.arrival_s)
            self._arrive()
            self._wait_for_more()
            if self._waiting or self._running:
                self._take_step()
            ended(sum(event.kind in ("finish", "reject") for event in self._events[events:]))

    def _wait_for_more(self) -> None:
        """Before a dynamic batch starts, let the clock run until it is full or its window is over."""
        policy = self.policy
        while isinstance(policy, DynamicBatching) and self._waiting and not self._running:
            coming = self._arriving[0].request.arrival_s if self._arriving else math.inf
            until = policy.waits_until(len(self._waiting), self._waiting[0].request.arrival_s, coming)
            if until <= self.time_s:
                break
            self.time_s = until
            self._arrive()

    def _take_step(self) -> None:
        self.step += 1
        self.moves = Step()
        self._schedule()
        static = isinstance(self.policy, StaticBatching)
        shape = self.moves.padded_shape(self.clock) if static else self.moves.shape(self.clock)
        cost = shape.cost(self.clock)
        cached = sum(sequence.cached for sequence in self._running if not sequence.done)
        held = self.memory.num_blocks - self.free_blocks
        seconds = cost.seconds + self.clock.swap_seconds(self.moves.swapped_tokens)
        self.tally.add_step(cost, seconds, shape, held, cached, len(self._running))
        self.tally.swapped_tokens += self.moves.swapped_tokens
        self.time_s += seconds
        self._arrive()
        for sequence in list(self._running):
            if not sequence.left and not sequence.done and self.moves.has(sequence):
                self._give_token(sequence, hold=static)

    def _schedule(self) -> None:
        """The policy's moves, held against the rules; a bug in its code breaks one, too."""
        self._guarded = self._public
        try:
            self.policy.schedule(self)
        except (BrokenRuleError, LearnersBug):
            raise
        except ByHandError as told:
            self._broken("by hand", str(told))
        except BaseException as error:
            pass_stop_on(error)
            aside = about_free(error, self.policy)
            self._broken("bug", str(bug("schedule", error, caller="the engine", aside=aside)))
        finally:
            self._guarded = frozenset()
        check_step(self)

    def _give_token(self, sequence: Sequence, *, hold: bool) -> None:
        """The step's token for one request; where it was the last, its memory is free, or held until its batch is done."""
        is_last = sequence._give_token()
        if sequence.cached == sequence.target:  # its prompt, or all that was lost, has just become complete
            self._event("first token" if sequence.produced == 1 else "recomputed", sequence)
        if not is_last:
            return
        sequence._end()
        if not hold or all(other.done for other in self._running):
            for leaving in list(self._running) if hold else [sequence]:
                self._running.remove(leaving)
                self._allocator.free(leaving.request.id)
        self._event("finish", sequence)

    def _arrive(self) -> None:
        while self._arriving and self._arriving[0].request.arrival_s <= self.time_s:
            sequence = self._arriving.popleft()
            fits = self.memory.can_ever_hold(sequence.request)
            if fits:
                self._waiting.append(sequence)
            self._event("arrive" if fits else "reject", sequence, sequence.request.arrival_s)


Engine.__doc__ = f"{Engine.__doc__}\n\n    What `schedule(engine)` needs to know of it:\n\n    {Policy.__doc__}"
