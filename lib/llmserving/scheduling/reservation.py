"""How much of the memory that is held for requests is in use: reserved up front, or taken block by block.

A step of decoding is the unit of time. A prompt of P tokens and an output of O tokens live for O - 1 of them, since
prefill gives the first token, and after the k-th step the cache holds P + k tokens: the last token of the output is
never an input, so it never enters the cache. Time in the queue and in prefill does not count. Shares are over all
requests together: tokens in use, added up over all steps, over tokens held. A request with one token of output has no step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llmserving import arguments
from llmserving.scheduling.request import MOST_TOKENS, Workload, checked

Tokens = NDArray[np.int64]


def used_share(workload: Workload, max_len: int) -> float:
    """The part in use, 0 to 1, where each request reserves `max_len` tokens for its life; longer ones are left out.

    With s = O - 1: sum(P s + s (s + 1) / 2) / (max_len sum(s)), over the requests with P + O <= max_len. Without the
    queue, it does not depend on when requests arrive or how many run together.
    """
    max_len = _checked("max_len", "the number of tokens that each request reserves", max_len)
    prompt, steps = _lives(workload, max_len)
    return float(_in_use(prompt, steps).sum(dtype=np.float64) / (max_len * steps.sum(dtype=np.float64)))


def used_share_paged(workload: Workload, block_size: int = 16, max_len: int | None = None) -> float:
    """The part in use, 0 to 1, where a request takes blocks of `block_size` tokens as it needs them.

    With s = O - 1: sum(P s + s (s + 1) / 2) / (block_size sum(blocks)), where blocks are ceil((P + k) / block_size)
    added up over k = 1 ... s. Requests above `max_len` are left out where it is given, to compare with `used_share`.
    """
    block_size = _checked("block_size", "the number of tokens in a block", block_size)
    if max_len is not None:
        max_len = _checked("max_len", "the number of tokens that a request may have", max_len)
    prompt, steps = _lives(workload, max_len)
    blocks = _blocks_up_to(prompt + steps, block_size) - _blocks_up_to(prompt, block_size)
    return float(_in_use(prompt, steps).sum(dtype=np.float64) / (block_size * blocks.sum(dtype=np.float64)))


def _checked(name: str, meaning: str, value: int) -> int:
    return arguments.count(name, meaning, value, most=MOST_TOKENS)


def _lives(workload: Workload, max_len: int | None) -> tuple[Tokens, Tokens]:
    """Prompt tokens and decode steps of the requests that fit, [requests]."""
    workload = checked(workload)
    prompt, output = workload.prompt_tokens, workload.output_tokens
    if max_len is not None:
        fits = prompt + output <= max_len
        prompt, output = prompt[fits], output[fits]
    if not (output > 1).any():
        among = "no request" if max_len is None else f"no request of at most max_len {max_len:,} tokens"
        raise ValueError(f"{workload.name} has {among} with 2 or more tokens of output, so there is no step to measure")
    return prompt, output - 1


def _in_use(prompt: Tokens, steps: Tokens) -> Tokens:
    """Tokens in the cache, added up over the steps: (P + 1) + (P + 2) + ... + (P + steps)."""
    return prompt * steps + steps * (steps + 1) // 2


def _blocks_up_to(tokens: Tokens, block_size: int) -> Tokens:
    """ceil(t / block_size) added up over t = 1 ... tokens: whole blocks' worth of 1, 2, ..., and a started one."""
    whole, rest = np.divmod(tokens, block_size)
    blocks: Tokens = block_size * (whole * (whole + 1) // 2) + rest * (whole + 1)
    return blocks
