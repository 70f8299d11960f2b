"""Continuous batching, with or without chunks, without a loop over those who decode: they are counted.

Only where blocks run short, and for a model with windows, does a step look at each of them.

The same events as `Engine`, in time and memory that grow with the requests and steps, not with the tokens: `Decoders` says
how that is possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from llmserving.events import Event, SchedulingKind
from llmserving.scheduling.decoders import Decoders, Row
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.policies import ContinuousBatching
from llmserving.scheduling.request import Workload
from llmserving.scheduling.step import StepShape
from llmserving.scheduling.step_clock import StepClock
from llmserving.scheduling.tally import Tally


class FastEngine:
    """The state of `Engine` with counts in place of tables; `run` fills `events` and `tally`."""

    def __init__(self, workload: Workload, policy: ContinuousBatching, memory: KvMemory, clock: StepClock) -> None:
        self.policy, self.memory, self.clock = policy, memory, clock
        self.token_budget: int | None = getattr(policy, "token_budget", None)
        self.free = memory.num_blocks
        self.waiting: deque[Row] = deque()
        self.running: list[Row] = []
        self.time_s = 0.0
        self.step = 0
        self.events: list[Event] = []
        self.tally = Tally()
        self._arriving = deque(workload)
        self._decoders = Decoders(memory.block_size)
        self._begun: list[Row] = []  # running, and their prompts not yet complete

    def run(self, ended: Callable[[int], object]) -> None:
        """Step until every request is done or rejected; `ended` is told of how many more that is so."""
        while self._arriving or self.waiting or self.running:
            if self._arriving and not self.waiting and not self.running:
                self.time_s = max(self.time_s, self._arriving[0].arrival_s)
            done = self._arrive()
            if self.waiting or self.running:
                done += self._take_step()
            ended(done)

    def _take_step(self) -> int:
        self.step += 1
        settled, swapped = self._take_blocks()
        decoding, cached = self._decoders.count, self._decoders.cached_tokens(self.step)
        contexts = self._attended(cached)
        chunks: list[tuple[int, int]] = []
        complete: list[Row] = []
        budget = None if self.token_budget is None else self.token_budget - decoding
        for row in list(self._begun):
            if budget != 0:
                budget = self._prefill(row, budget, chunks, complete)
        while settled and budget != 0 and self.waiting and len(self.running) < self.policy.max_num_seqs:
            row = self.waiting[0]
            if not self._admit(row):
                break
            if row.cached < row.target:
                self._begun.append(row)
                budget = self._prefill(row, budget, chunks, complete)
                continue
            swapped += row.cached
            self._decoders.start(row, self.step)
            decoding, cached = decoding + 1, cached + row.cached + 1
            contexts += self.clock.attended(row.cached + 1)
            budget = None if budget is None else budget - 1
        return self._end_step(decoding, contexts, cached, chunks, complete, swapped)

    def _end_step(
        self,
        decoding: int,
        contexts: int,
        cached: int,
        chunks: list[tuple[int, int]],
        complete: list[Row],
        swapped: int,
    ) -> int:
        """Let the clock run, and give everybody their token; how many requests that ends."""
        shape = StepShape(
            decoding + sum(end - start for start, end in chunks),
            0,
            contexts,
            sum(self.clock.pairs(start, end) for start, end in chunks),
            sum(end - start + end for start, end in chunks),
        )
        cost = shape.cost(self.clock)
        seconds = cost.seconds + self.clock.swap_seconds(swapped)
        cached += sum(row.cached for row in self._begun) + sum(row.cached for row in complete)
        self.tally.add_step(cost, seconds, shape, self.memory.num_blocks - self.free, cached, len(self.running))
        self.tally.swapped_tokens += swapped
        self.time_s += seconds
        ended = self._arrive()
        for row in sorted(self._decoders.end(self.step) + complete, key=lambda row: row.place):
            ended += self._give_token(row)
        return ended

    def _take_blocks(self) -> tuple[bool, int]:
        """A block for each that needs one to decode; whether all could, and how many tokens had to leave for the host."""
        if not self.memory.is_paged:
            return True, 0
        needed = self._decoders.needing_block(self.step)
        if needed <= self.free:
            self.free -= needed
            return True, 0
        before, swapped = len(self.running), 0
        for row in list(self.running):
            if not (row.decodes and self._decoders.needs_block(row, self.step)):
                continue
            while row.decodes and not self.free:
                swapped += self._preempt(self.running[-1])
            self.free -= row.decodes
        return len(self.running) == before, swapped

    def _preempt(self, row: Row) -> int:
        """Send a request back to wait in front of all others; how many tokens of it go to the host's memory."""
        self.running.remove(row)
        swapped = 0
        if row.decodes:
            self._decoders.interrupt(row, self.step)
            self.free += self.memory.blocks_for(row.cached)
            swapped = row.cached if self.policy.preemption == "swap" else 0
        else:
            self._begun.remove(row)
            self.free += self.memory.blocks_for(row.target)
        if not swapped:
            self.tally.recomputed_tokens += row.cached
            row.cached, row.target = 0, row.request.prompt_tokens + row.produced
        self.waiting.appendleft(row)
        self._event("preempt", row)
        return swapped

    def _admit(self, row: Row) -> bool:
        """Let the first that waits run, if there is room for its prompt, or for its cache and one token."""
        returns = row.cached >= row.target
        needed = self.memory.blocks_for(row.cached + 1 if returns else row.target)
        spare = int(self.policy.watermark * self.memory.num_blocks) if self.running else 0
        if needed + spare > self.free:
            return False
        self.running.append(self.waiting.popleft())
        if returns:
            self.free -= self.memory.blocks_for(row.cached)
            self._event("resume", row)
            needed -= self.memory.blocks_for(row.cached)
        self.free -= needed
        return True

    def _prefill(self, row: Row, budget: int | None, chunks: list[tuple[int, int]], complete: list[Row]) -> int | None:
        """Compute what the budget allows of a prompt; the budget that is left."""
        tokens = row.target - row.cached if budget is None else min(budget, row.target - row.cached)
        chunks.append((row.cached, row.cached + tokens))
        row.cached += tokens
        self._event("prefill", row)
        if row.cached == row.target:
            self._begun.remove(row)
            complete.append(row)
        return None if budget is None else budget - tokens

    def _give_token(self, row: Row) -> int:
        """The step's token for a request that starts to decode or ends; 1 if it ends."""
        row.produced += 1
        if row.cached == row.target:  # its prompt, or all that was lost, has just become complete
            self._event("first token" if row.produced == 1 else "recomputed", row)
        if row.produced < row.request.output_tokens:
            self._decoders.start(row, self.step + 1)
            return 0
        self.running.remove(row)
        self.free += self.memory.blocks_for(row.cached)
        self._event("finish", row)
        return 1

    def _attended(self, cached: int) -> int:
        """What all that decode attend to in this step, with `cached` tokens in the cache together."""
        if self.clock.looks_at_all:
            return self.clock.attended(cached)
        return sum(self.clock.attended(row.offset + self.step) for row in self.running if row.decodes)

    def _arrive(self) -> int:
        """Note who has come by now; how many of them can never fit."""
        rejected = 0
        while self._arriving and self._arriving[0].arrival_s <= self.time_s:
            request = self._arriving.popleft()
            row = Row(request, -len(self._arriving))
            fits = self.memory.can_ever_hold(request)
            if fits:
                self.waiting.append(row)
            rejected += not fits
            self._event("arrive" if fits else "reject", row, request.arrival_s)
        return rejected

    def _event(self, kind: SchedulingKind, row: Row, time_s: float | None = None) -> None:
        time_s = self.time_s if time_s is None else time_s
        self.events.append(Event(kind, row.request.id, time_s, self.step, row.cached, self.free))
