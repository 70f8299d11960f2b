"""Batches that run to their end: at once with those who wait, or after some time in which others may join.

Nobody overtakes: who came first is in the first batch that starts.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llmserving import arguments

if TYPE_CHECKING:
    from llmserving.scheduling.engine import Engine


@dataclass(frozen=True)
class StaticBatching:
    """A batch is formed of those who wait by then, and runs until its longest answer is done.

    All prompts are padded to the longest, and who is done keeps its row of the batch, and its memory, until all are.
    """

    batch_size: int = 8

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "batch_size", arguments.count("batch_size", "the requests in a batch", self.batch_size)
        )

    @property
    def max_num_seqs(self) -> int:
        return self.batch_size

    def schedule(self, engine: Engine) -> None:
        """Decode the batch that runs; where none does, form the next and compute its prompts."""
        for sequence in engine.running:
            engine.decode(sequence)
        if not engine.running:
            while engine.waiting and len(engine.running) < self.batch_size and engine.can_admit():
                sequence = engine.admit()
                engine.prefill(sequence, sequence.left)


@dataclass(frozen=True)
class DynamicBatching(StaticBatching):
    """A static batch that is given time to fill: it starts when it is full, or `window_s` after its first request came.

    What model servers call dynamic batching. Once it runs it is as any static batch. An infinite window waits until the
    batch is full or nobody more comes.
    """

    window_s: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        endless = isinstance(self.window_s, numbers.Real) and self.window_s == math.inf
        meaning = "the seconds for which the first of a batch waits for others"
        window = math.inf if endless else float(arguments.amount("window_s", meaning, self.window_s))
        object.__setattr__(self, "window_s", window)

    def waits_until(self, waiting: int, first_arrival_s: float, next_arrival_s: float) -> float:
        """When to look again while `waiting` requests wait and none runs; a time that is past means: start.

        next_arrival_s: infinity where nobody more comes.
        """
        until = min(first_arrival_s + self.window_s, next_arrival_s)
        return until if waiting < self.batch_size and until < math.inf else 0.0
