"""Small workloads that the lessons step through, each with the pool and the limits for which it was thought out."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving import arguments
from llmserving.scheduling.request import Request, Workload, checked


@dataclass(frozen=True)
class Scenario:
    """Requests and the KV cache that they share.

    num_blocks: blocks in the pool. block_size: tokens in a block. max_num_seqs: the requests that the course's policies
    let run at once, and token_budget the tokens that chunked prefill puts into a step, when they are chosen by name.
    """

    title: str
    workload: Workload
    num_blocks: int
    block_size: int
    max_num_seqs: int = 8
    token_budget: int = 512

    def __post_init__(self) -> None:
        if not len(checked(self.workload)):
            raise ValueError(f"the workload of {self.title!r} has no request: there is nothing to step through")
        for name, meaning in (
            ("num_blocks", "the number of blocks in the pool"),
            ("block_size", "the number of tokens in a block"),
            ("max_num_seqs", "the requests that may run at once"),
            ("token_budget", "the tokens of all requests in a step"),
        ):
            object.__setattr__(self, name, arguments.count(name, meaning, getattr(self, name)))


def _workload(title: str, *rows: tuple[float, int, int]) -> Workload:
    """Requests 0, 1, … from (arrival_s, prompt_tokens, output_tokens)."""
    return Workload((Request(number, *row) for number, row in enumerate(rows)), title)


_FULL = "Two requests and a full pool"
TWO_AND_A_FULL_POOL = Scenario(_FULL, _workload(_FULL, (0, 4, 4), (0, 4, 4)), num_blocks=2, block_size=4)

_LONG = "A long prompt arrives"
LONG_PROMPT_ARRIVES = Scenario(
    _LONG, _workload(_LONG, (0, 64, 40), (0, 64, 40), (0, 64, 40), (0.15, 4096, 8)), num_blocks=300, block_size=16
)

_MIXED = "Short and long answers"
SHORT_AND_LONG_ANSWERS = Scenario(
    _MIXED,
    _workload(_MIXED, (0, 32, 4), (0, 32, 24), (0, 32, 8), (0, 32, 6), (0, 32, 10), (0, 32, 4)),
    num_blocks=24,
    block_size=16,
    max_num_seqs=3,
)

_BEHIND = "A short request behind a long one"
SHORT_BEHIND_LONG = Scenario(
    _BEHIND, _workload(_BEHIND, (0, 8, 5), (0, 12, 4), (0, 4, 3)), num_blocks=4, block_size=4
)  # the second has to wait for the first; the third would fit beside it, and must not overtake

SCENARIOS = (TWO_AND_A_FULL_POOL, LONG_PROMPT_ARRIVES, SHORT_AND_LONG_ANSWERS, SHORT_BEHIND_LONG)
