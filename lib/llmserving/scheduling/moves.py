"""The moves of a policy: what it may do with those who run and those who wait, and what it may ask before it does.

A move that makes no sense changes nothing and raises BrokenRuleError.
"""

from __future__ import annotations

import numbers
from bisect import insort
from collections import deque
from typing import Any, NoReturn

from llmserving import arguments
from llmserving.events import Event, SchedulingKind
from llmserving.paging.learners_code import LearnersBug
from llmserving.scheduling.checked_allocator import CheckedAllocator
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.policies import Policy
from llmserving.scheduling.rules import BrokenRuleError
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.step import Step
from llmserving.scheduling.tally import Tally


class Moves:
    """Invariant: whoever runs came before whoever waits, and both stand in the order of arrival."""

    def __init__(self, policy: Policy, memory: KvMemory, allocator: Any = None) -> None:
        self.policy, self.memory = policy, memory
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.time_s = 0.0
        self.step = 0
        self.moves = Step()
        self.events: list[Event] = []
        self.tally = Tally()
        try:
            self._allocator = CheckedAllocator(memory, allocator)
        except LearnersBug as bug:
            self._broken("allocator", str(bug))

    @property
    def free_blocks(self) -> int:
        return self._allocator.free_blocks

    def can_admit(self, watermark: float = 0.0) -> bool:
        """Whether there is room for the first that waits; `watermark` of all blocks stay free beside others that run."""
        if not self.waiting:
            return False
        sequence = self.waiting[0]
        tokens = sequence.target if sequence.left else sequence.cached + 1
        spare = int(watermark * self.memory.num_blocks) if self.running else 0
        if spare and self.memory.blocks_for(tokens) + spare > self.free_blocks:
            return False
        return self._allocator.can_allocate(sequence.request.id, tokens)

    def admit(self, sequence: Sequence | None = None) -> Sequence:
        """Let a request run, by default the first that waits, with room for its whole prompt."""
        if sequence is None:
            if not self.waiting:
                self._broken("unknown", "a request was to be admitted, and nobody waits")
            sequence = self.waiting[0]
        if sequence not in self.waiting:
            self._broken("unknown", f"{_name(sequence)} was admitted and does not wait")
        tokens = sequence.target if sequence.left else sequence.cached
        if not self._allocator.has_room(tokens):
            self._broken("no room", f"{_name(sequence)} was admitted, and there is no room for its {tokens} tokens")
        self._allocator.allocate(sequence.request.id, tokens)
        self.waiting.remove(sequence)
        insort(self.running, sequence, key=_place)
        self.moves.admitted.append(sequence)
        if not sequence.left:
            self.moves.swapped_tokens += sequence.cached
            self._event("resume", sequence)
        return sequence

    def prefill(self, sequence: Sequence, tokens: int) -> int:
        """Compute the next tokens of a prompt in this step; how many."""
        self._check_move(sequence, "have its prompt computed")
        if not isinstance(tokens, numbers.Integral) or not 1 <= tokens <= sequence.left:
            self._broken(
                "chunk",
                f"{arguments.shown(tokens)} tokens of {_name(sequence)}'s prompt were scheduled, and {sequence.left} are left",
            )
        sequence.cached += tokens
        self.moves.prefills[sequence] = tokens
        self._event("prefill", sequence)
        return tokens

    def can_decode(self, sequence: Sequence) -> bool:
        """Whether there is a slot for the request's next token."""
        if sequence not in self.running:
            self._broken("unknown", f"{_name(sequence)} was asked whether it can decode, and does not run")
        return sequence.done or self._allocator.can_append(sequence.request.id)

    def decode(self, sequence: Sequence) -> None:
        """Take in the request's last token in this step, for its next one."""
        self._check_move(sequence, "decode")
        if sequence.left:
            self._broken(
                "chunk",
                f"{_name(sequence)} decodes, and has {sequence.cached} of its prompt's {sequence.target} tokens yet",
            )
        if not sequence.done:
            if not self._allocator.has_slot(sequence.request.id):
                self._broken("no room", f"{_name(sequence)} decodes, and there is no block free for its next token")
            self._allocator.append(sequence.request.id)
            sequence.cached += 1
        self.moves.decodes.append(sequence)

    def preempt(self, sequence: Sequence) -> None:
        """Take a request's blocks back; it waits in front of all that came later, to be computed again or swapped in."""
        self._check_move(sequence, "be sent back")
        self.running.remove(sequence)
        self._allocator.free(sequence.request.id)
        self.moves.preempted.append(sequence)
        if getattr(self.policy, "preemption", "recompute") == "swap" and not sequence.left:
            self.moves.swapped_tokens += sequence.cached
        else:
            self.tally.recomputed_tokens += sequence.cached
            sequence.start_over()
        insort(self.waiting, sequence, key=_place)
        self._event("preempt", sequence)

    def _check_move(self, sequence: Sequence, to: str) -> None:
        if sequence not in self.running:
            self._broken("unknown", f"{_name(sequence)} was to {to}, and does not run")
        if self.moves.has(sequence):
            self._broken("twice", f"{_name(sequence)} was to {to} in a step in which it was scheduled already")

    def _broken(self, name: str, sentence: str) -> NoReturn:
        raise BrokenRuleError(name, sentence, self.step, len(self.events)) from None

    def _event(self, kind: SchedulingKind, sequence: Sequence, time_s: float | None = None) -> None:
        time_s = self.time_s if time_s is None else time_s
        self.events.append(Event(kind, sequence.request.id, time_s, self.step, sequence.cached, self.free_blocks))


def _place(sequence: Sequence) -> int:
    return sequence.place


def _name(sequence: Any) -> str:
    return f"request {sequence.request.id}" if isinstance(sequence, Sequence) else arguments.shown(sequence)
