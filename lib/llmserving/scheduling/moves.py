"""The moves of a policy: what it may do with those who run and those who wait, and what it may ask before it does.

A move that makes no sense changes nothing and raises BrokenRuleError.
"""

from __future__ import annotations

import numbers
from bisect import insort
from typing import Any

from llmserving import arguments
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.state import EngineState


class Moves(EngineState):
    """Invariant: whoever runs holds the blocks of the tokens in its cache, or of its whole prompt while that is computed.

    Within a step a policy may let somebody in before others who came earlier; that nobody is passed when it has made all
    its moves is a rule.
    """

    def can_admit(self, watermark: float = 0.0) -> bool:
        """Whether somebody waits and there is room for the first of them: for its whole prompt, or for the cache that it
        has kept and one token. `watermark` of all blocks stay free beside others that run.
        """
        if not self._waiting:
            return False
        sequence = self._waiting[0]
        tokens = sequence.target if sequence.left else sequence.cached + 1
        spare = int(float(watermark) * self.memory.num_blocks) if self._running else 0
        if spare and self.memory.blocks_for(tokens) + spare > self.free_blocks:
            return False
        return self._allocator.can_allocate(sequence.request.id, tokens)

    def admit(self, sequence: Sequence | None = None) -> Sequence:
        """Let a request run, by default the first that waits, with room for its whole prompt; nothing is computed yet."""
        if sequence is None:
            if not self._waiting:
                self._broken("unknown", "a request was to be admitted, and nobody waits")
            sequence = self._waiting[0]
        if sequence not in self._waiting:
            self._broken("unknown", f"{_name(sequence)} was admitted and does not wait")
        tokens = sequence.target if sequence.left else sequence.cached
        if not self._allocator.has_room(tokens):
            self._broken("no room", f"{_name(sequence)} was admitted, and there is no room for its {tokens} tokens")
        self._allocator.allocate(sequence.request.id, tokens)
        self._waiting.remove(sequence)
        insort(self._running, sequence, key=_place)
        self.moves._admitted.append(sequence)
        if not sequence.left:
            self.moves.swapped_tokens += sequence.cached
            self._event("resume", sequence)
        return sequence

    def prefill(self, sequence: Sequence, tokens: int) -> int:
        """Compute the next `tokens` tokens of a prompt in this step, `sequence.left` at most; how many."""
        self._check_move(sequence, "have its prompt computed")
        if not isinstance(tokens, numbers.Integral) or not 1 <= tokens <= sequence.left:
            self._broken(
                "chunk",
                f"{arguments.shown(tokens)} tokens of {_name(sequence)}'s prompt were scheduled, and {sequence.left} are left",
            )
        computed = int(tokens)  # of a narrow integer of numpy's, a sum with others would overflow
        sequence._take_in(computed)
        self.moves._prefills[sequence] = computed
        self._event("prefill", sequence)
        return computed

    def can_decode(self, sequence: Sequence) -> bool:
        """Whether there is a slot for the request's next token."""
        if sequence not in self._running:
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
            sequence._take_in(1)
        self.moves._decodes.append(sequence)

    def preempt(self, sequence: Sequence) -> None:
        """Take a request's blocks back; it waits in front of all that came later, to be computed again or swapped in."""
        self._check_move(sequence, "be sent back")
        self._running.remove(sequence)
        self._allocator.free(sequence.request.id)
        self.moves._preempted.append(sequence)
        if self._swaps and not sequence.left:
            self.moves.swapped_tokens += sequence.cached
        else:
            self.tally.recomputed_tokens += sequence.cached
            sequence._start_over()
        insort(self._waiting, sequence, key=_place)
        self._event("preempt", sequence)

    def _check_move(self, sequence: Sequence, to: str) -> None:
        if sequence not in self._running:
            self._broken("unknown", f"{_name(sequence)} was to {to}, and does not run")
        if self.moves.has(sequence):
            self._broken("twice", f"{_name(sequence)} was to {to} in a step in which it was scheduled already")


def _place(sequence: Sequence) -> int:
    return sequence.place


def _name(sequence: Any) -> str:
    return f"request {sequence.request.id}" if isinstance(sequence, Sequence) else arguments.shown(sequence)
