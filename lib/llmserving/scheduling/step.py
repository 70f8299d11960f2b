"""What a scheduler has put into one step of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.shown import Shown
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


class Step:
    """The moves of one step, to read; the lists with an underscore are the engine's."""

    def __init__(self) -> None:
        self._decodes: list[Sequence] = []
        self._prefills: dict[Sequence, int] = {}
        self._admitted: list[Sequence] = []
        self._preempted: list[Sequence] = []
        self.swapped_tokens = 0

    @property
    def decodes(self) -> Shown[Sequence]:
        """Who takes in one token."""
        return Shown("engine.moves.decodes", self._decodes)

    @property
    def prefills(self) -> Mapping[Sequence, int]:
        """Who has how many tokens of its prompt computed."""
        return MappingProxyType(self._prefills)

    @property
    def admitted(self) -> Shown[Sequence]:
        """Who was let in, each time anew."""
        return Shown("engine.moves.admitted", self._admitted)

    @property
    def preempted(self) -> Shown[Sequence]:
        """Who was sent back, each time anew."""
        return Shown("engine.moves.preempted", self._preempted)

    @property
    def tokens(self) -> int:
        """How many the step computes."""
        return len(self._decodes) + sum(self._prefills.values())

    def has(self, sequence: Sequence) -> bool:
        """Whether it was scheduled."""
        return sequence in self._decodes or sequence in self._prefills

    def shape(self, clock: StepClock) -> StepShape:
        """Every token is computed for somebody."""
        chunks = [(sequence.cached - tokens, sequence.cached) for sequence, tokens in self._prefills.items()]
        return StepShape(
            self.tokens,
            0,
            sum(clock.attended(sequence.cached) for sequence in self._decodes),
            sum(clock.pairs(start, end) for start, end in chunks),
            sum(end - start + end for start, end in chunks),
        )

    def padded_shape(self, clock: StepClock) -> StepShape:
        """Of a static batch: every row is as long as the longest, and goes on when its request is done."""
        rows = [*self._decodes, *self._prefills]
        longest = max(sequence.request.prompt_tokens for sequence in rows)
        if self._prefills:
            return padded_prefill(clock, len(rows), longest, self.tokens)
        given = max(sequence.cached - sequence.request.prompt_tokens for sequence in rows)
        return padded_decode(clock, len(rows), longest + given, sum(not sequence.done for sequence in rows))


def padded_prefill(clock: StepClock, rows: int, longest: int, tokens: int) -> StepShape:
    """`rows` prompts of `tokens` tokens together, each padded to `longest`."""
    return StepShape(rows * longest, rows * longest - tokens, 0, rows * clock.pairs(0, longest), rows * 2 * longest)


def padded_decode(clock: StepClock, rows: int, context: int, going_on: int) -> StepShape:
    """A token for each of `rows` rows, each padded to a context of `context`, of which `going_on` are not done."""
    return StepShape(rows, rows - going_on, rows * clock.attended(context), 0, 0)
