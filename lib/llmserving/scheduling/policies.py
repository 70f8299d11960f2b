"""Who runs in the next step, where requests join and leave between any two; and all policies by name.

All are first come, first served: nobody overtakes, and who is sent back is the latest to have come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from llmserving import arguments
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching

if TYPE_CHECKING:
    from llmserving.scheduling.engine import Engine

Preemption = Literal["recompute", "swap"]


@dataclass(frozen=True)
class ContinuousBatching:
    """Requests join and leave the batch between any two steps (Orca's iteration-level scheduling, Yu et al. 2022).

    A prompt is computed whole, in a step that also decodes for everybody else, who wait for it.

    max_num_seqs: how many may run. preemption: what becomes of the cache of a request that must give its blocks back:
    computed again, or swapped to the host's memory. watermark: the share of all blocks that a new request must leave
    free, so that the others can grow for a while.
    """

    max_num_seqs: int = 256
    preemption: Preemption = "recompute"
    watermark: float = 0.0

    def __post_init__(self) -> None:
        seqs = arguments.count("max_num_seqs", "the requests that may run at once", self.max_num_seqs)
        check_preemption(self.preemption)
        meaning = "the share of all blocks that a new request leaves free"
        object.__setattr__(self, "max_num_seqs", seqs)
        object.__setattr__(self, "watermark", arguments.share("watermark", meaning, self.watermark, or_none=True))

    def schedule(self, engine: Engine) -> None:
        """One token for each that runs, the oldest first; then whom there is room for."""
        if decode_all(engine):
            self.admit_while(engine)

    def admit_while(self, engine: Engine, budget: int | None = None) -> None:
        """Admit in order of arrival while there is room, and compute each prompt, `budget` tokens in all at most."""
        while engine.waiting and len(engine.running) < self.max_num_seqs and budget != 0:
            if not engine.can_admit(self.watermark):
                break
            sequence = engine.admit()
            if sequence.left:
                tokens = sequence.left if budget is None else min(budget, sequence.left)
                engine.prefill(sequence, tokens)
            else:
                engine.decode(sequence)  # it comes back from the host's memory
                tokens = 1
            budget = None if budget is None else budget - tokens


@dataclass(frozen=True)
class ChunkedPrefill(ContinuousBatching):
    """Continuous batching with a budget of tokens a step (Sarathi, Agrawal et al. 2023): long prompts come in chunks.

    Decodes are served first, one token each; prompts get what is left of `token_budget`, which is at least max_num_seqs,
    so that no decode ever waits.
    """

    token_budget: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        budget = arguments.count("token_budget", "the tokens of all requests in a step", self.token_budget)
        object.__setattr__(self, "token_budget", budget)
        if self.token_budget < self.max_num_seqs:
            raise ValueError(
                f"token_budget is {self.token_budget}, less than max_num_seqs, {self.max_num_seqs}: in a full batch each "
                "request needs one token a step"
            )

    def schedule(self, engine: Engine) -> None:
        """One token for each that decodes; then chunks of the prompts begun; then new ones, while the budget lasts."""
        settled = decode_all(engine)
        budget = self.token_budget - sum(sequence.decodes for sequence in engine.running)
        for sequence in engine.running:
            if budget and not sequence.decodes:
                budget -= engine.prefill(sequence, min(budget, sequence.left))
        if settled:
            self.admit_while(engine, budget)


def check_preemption(preemption: Any) -> None:
    if preemption not in ("recompute", "swap"):
        raise ValueError(f"preemption is 'recompute' or 'swap', but got {arguments.shown(preemption)}")


def decode_all(engine: Engine) -> bool:
    """A token for each that decodes, the oldest first; False where one had to be sent back for the blocks of it."""
    before = len(engine.running)
    for sequence in list(engine.running):
        while sequence.decodes and sequence in engine.running and not engine.can_decode(sequence):
            engine.preempt(engine.running[-1])
        if sequence.decodes and sequence in engine.running:
            engine.decode(sequence)
    return len(engine.running) == before


POLICIES = {
    "static": StaticBatching, "dynamic": DynamicBatching, "continuous": ContinuousBatching, "chunked": ChunkedPrefill,
}  # fmt: skip
