"""What the last blocks of many requests leave empty, on any allocator: the learner's, or the course's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llmserving import arguments
from llmserving.paging.block_table import blocks_needed
from llmserving.paging.waste import Waste


def tails(
    allocator: Callable[[int, int], Any], lengths: Iterable[tuple[int, int]], block_size: int, together: int = 8
) -> Waste:
    """Every request grows to its end, and what it holds there is counted from its block table, then freed.

    allocator: called with (num_blocks, block_size); the pool has room for all. lengths: for each request the tokens of
    its prompt, and those that are appended. together: how many requests grow side by side.
    """
    requests = [(int(prompt), int(appended)) for prompt, appended in lengths]
    if not requests:
        raise ValueError("lengths has no request, and without one there is no last block")
    arguments.count("block_size", "the number of tokens in a block", block_size)
    arguments.count("together", "the number of requests that grow side by side", together)
    longest = max(prompt + appended for prompt, appended in requests)
    pool = allocator(together * blocks_needed(longest, block_size), block_size)
    used = held = 0
    for start in range(0, len(requests), together):
        group = dict(enumerate(requests[start : start + together], start))
        for name, (prompt, _) in group.items():
            pool.allocate(name, list(range(prompt)))
        for step in range(max(appended for _, appended in group.values())):
            for name, (prompt, appended) in group.items():
                if step < appended:
                    pool.append(name, prompt + step)
        for name, (prompt, appended) in group.items():
            used += prompt + appended
            held += len(pool.table(name)) * block_size
            pool.free(name)
    return Waste(used=used, tail=held - used, reserved=0, external=0, free=0)
