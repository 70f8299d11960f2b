"""Static and dynamic batching without a loop over the rows of a batch: the same events as `Engine` with that policy."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

from llmserving.events import Event, SchedulingKind
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching
from llmserving.scheduling.step import StepShape, padded_decode, padded_prefill
from llmserving.scheduling.step_clock import StepClock
from llmserving.scheduling.tally import Tally


class FastStaticEngine:
    """The state of `Engine` with counts in place of tables; `run` fills `events` and `tally`."""

    def __init__(self, workload: Workload, policy: StaticBatching, memory: KvMemory, clock: StepClock) -> None:
        self.policy, self.memory, self.clock = policy, memory, clock
        self.waiting: deque[Request] = deque()
        self.time_s = 0.0
        self.step = 0
        self.events: list[Event] = []
        self.tally = Tally()
        self._free = memory.num_blocks
        self._arriving = deque(workload)

    def run(self, ended: Callable[[int], object]) -> None:
        """Batch after batch, until every request is done or rejected; `ended` is told of how many more that is so."""
        while self._arriving or self.waiting:
            if self._arriving and not self.waiting:
                self.time_s = max(self.time_s, self._arriving[0].arrival_s)
            ended(self._arrive() + self._wait_for_more())
            if self.waiting:
                ended(self._run_batch())

    def _wait_for_more(self) -> int:
        """Let the clock run until a dynamic batch may start; how many of those that come meanwhile can never fit."""
        rejected = 0
        while isinstance(self.policy, DynamicBatching) and self.waiting:
            coming = self._arriving[0].arrival_s if self._arriving else math.inf
            until = self.policy.waits_until(len(self.waiting), self.waiting[0].arrival_s, coming)
            if until <= self.time_s:
                break
            self.time_s = until
            rejected += self._arrive()
        return rejected

    def _run_batch(self) -> int:
        """Prompts, then one token a step until the longest answer is done; how many requests that ends."""
        self.step += 1
        fitting = self._free // self.memory.reservation
        batch = [self.waiting.popleft() for _ in range(min(len(self.waiting), self.policy.batch_size, fitting))]
        for request in batch:
            self._free -= self.memory.reservation
            self._event("prefill", request, request.prompt_tokens)
        going_on = sorted(batch, key=lambda request: -request.output_tokens)
        prompts, longest = sum(request.prompt_tokens for request in batch), max(r.prompt_tokens for r in batch)
        ended = self._end_step(padded_prefill(self.clock, len(batch), longest, prompts), prompts, len(batch))
        ended += self._give_tokens(batch, going_on, 1)
        for given in range(1, max(request.output_tokens for request in batch)):
            self.step += 1
            shape = padded_decode(self.clock, len(batch), longest + given, len(going_on))
            cached = sum(request.prompt_tokens + given for request in going_on)
            ended += self._end_step(shape, cached, len(batch))
            ended += self._give_tokens(batch, going_on, given + 1)
        return ended

    def _end_step(self, shape: StepShape, cached: int, rows: int) -> int:
        """Let the clock run; how many of those that come meanwhile can never fit."""
        cost = shape.cost(self.clock)
        self.tally.add_step(cost, cost.seconds, shape, self.memory.num_blocks - self._free, cached, rows)
        self.time_s += cost.seconds
        return self._arrive()

    def _give_tokens(self, batch: list[Request], going_on: list[Request], given: int) -> int:
        """Token number `given`, for some the last, who leave `going_on`, the longest answer first; how many those are."""
        ending = set()
        while going_on and going_on[-1].output_tokens == given:
            ending.add(going_on.pop().id)
        if given > 1 and not ending:
            return 0
        last = max((place for place, request in enumerate(batch) if request.id in ending), default=None)
        for place, request in enumerate(batch):
            if given == 1:
                self._event("first token", request, request.prompt_tokens)
            if place == last and not going_on:
                self._free += len(batch) * self.memory.reservation
            if request.id in ending:
                self._event("finish", request, request.cached_tokens)
        return len(ending)

    def _arrive(self) -> int:
        """Note who has come by now; how many of them can never fit."""
        rejected = 0
        while self._arriving and self._arriving[0].arrival_s <= self.time_s:
            request = self._arriving.popleft()
            fits = self.memory.can_ever_hold(request)
            if fits:
                self.waiting.append(request)
            rejected += not fits
            self._event("arrive" if fits else "reject", request, 0, request.arrival_s)
        return rejected

    def _event(self, kind: SchedulingKind, request: Request, tokens: int, time_s: float | None = None) -> None:
        time_s = self.time_s if time_s is None else time_s
        self.events.append(Event(kind, request.id, time_s, self.step, tokens, self._free))
