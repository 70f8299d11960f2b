"""What is added up over the steps of a simulation, since no event tells it."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.scheduling.step import StepShape
from llmserving.scheduling.step_clock import StepCost


@dataclass
class Tally:
    """Sums over all steps. Tokens are those that pass the layers; blocks and tokens held are weighted by time.

    padding_tokens: computed for nobody, in rows of a batch that are padded or done. recomputed_tokens: that were in the
    cache before a preemption. swapped_tokens: moved to the host's memory and back, counted each way.
    """

    steps: int = 0
    busy_s: float = 0.0
    flops: float = 0.0
    num_bytes: float = 0.0
    computed_tokens: int = 0
    padding_tokens: int = 0
    recomputed_tokens: int = 0
    swapped_tokens: int = 0
    block_seconds: float = 0.0
    token_seconds: float = 0.0
    sequence_seconds: float = 0.0
    most_blocks: int = 0
    most_sequences: int = 0

    def add_step(
        self, cost: StepCost, seconds: float, shape: StepShape, blocks: int, cached: int, running: int
    ) -> None:
        """One step of `seconds`: its work, and the blocks, tokens and requests that are there while it runs."""
        self.steps += 1
        self.busy_s += seconds
        self.flops += cost.flops
        self.num_bytes += cost.num_bytes
        self.computed_tokens += shape.tokens
        self.padding_tokens += shape.padding
        self.block_seconds += blocks * seconds
        self.token_seconds += cached * seconds
        self.sequence_seconds += running * seconds
        self.most_blocks = max(self.most_blocks, blocks)
        self.most_sequences = max(self.most_sequences, running)
