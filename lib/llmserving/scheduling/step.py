"""What a scheduler has put into one step of an engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.step_clock import StepClock, StepCost


class StepShape(NamedTuple):
    """A step as its cost sees it: tokens in all, tokens for nobody, and the sums that attention takes."""

    tokens: int
    padding: int
    attended: int
    pairs: int
    moved: int

    def cost(self, clock: StepClock) -> StepCost:
        return clock.cost(self.tokens, self.attended, self.pairs, self.moved)


@dataclass
class Step:
    """decodes: who takes in one token. prefills: who has how many tokens of its prompt computed."""

    decodes: list[Sequence] = field(default_factory=list)
    prefills: dict[Sequence, int] = field(default_factory=dict)
    preempted: list[Sequence] = field(default_factory=list)
    admitted: list[Sequence] = field(default_factory=list)
    swapped_tokens: int = 0

    @property
    def tokens(self) -> int:
        return len(self.decodes) + sum(self.prefills.values())

    def has(self, sequence: Sequence) -> bool:
        """Whether it was scheduled."""
        return sequence in self.decodes or sequence in self.prefills

    def shape(self, clock: StepClock) -> StepShape:
        """Every token is computed for somebody."""
        chunks = [(sequence.cached - tokens, sequence.cached) for sequence, tokens in self.prefills.items()]
        return StepShape(
            self.tokens,
            0,
            sum(clock.attended(sequence.cached) for sequence in self.decodes),
            sum(clock.pairs(start, end) for start, end in chunks),
            sum(end - start + end for start, end in chunks),
        )

    def padded_shape(self, clock: StepClock) -> StepShape:
        """Of a static batch: every row is as long as the longest, and goes on when its request is done."""
        rows = [*self.decodes, *self.prefills]
        longest = max(sequence.request.prompt_tokens for sequence in rows)
        if self.prefills:
            return padded_prefill(clock, len(rows), longest, self.tokens)
        given = max(sequence.cached - sequence.request.prompt_tokens for sequence in rows)
        return padded_decode(clock, len(rows), longest + given, sum(not sequence.done for sequence in rows))


def padded_prefill(clock: StepClock, rows: int, longest: int, tokens: int) -> StepShape:
    """`rows` prompts of `tokens` tokens together, each padded to `longest`."""
    return StepShape(rows * longest, rows * longest - tokens, 0, rows * clock.pairs(0, longest), rows * 2 * longest)


def padded_decode(clock: StepClock, rows: int, context: int, going_on: int) -> StepShape:
    """A token for each of `rows` rows, each padded to a context of `context`, of which `going_on` are not done."""
    return StepShape(rows, rows - going_on, rows * clock.attended(context), 0, 0)
