"""How much of the prompts of a trace a prefix cache of a given size would find."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving import arguments
from llmserving.paging import FreeQueue
from llmserving.scheduling.request import Request


def prefix_hit_rate(workload: Iterable[Request], num_blocks: Any = None) -> float:
    """The share of all prompt blocks that were cached, when the blocks unused for longest are evicted (LRU).

    One request after the other. Its hits are counted up to the first miss; then all its blocks are the latest used, the
    last one first, so that children are evicted before their parents. num_blocks: of the cache, in blocks of the trace;
    None for one that holds everything. ValueError for a workload whose requests have no `prompt_blocks`.

    The allocator finds a little less: it leaves the last block of a prompt to be computed.
    """
    limit = None if num_blocks is None else arguments.count("num_blocks", "the blocks that the cache holds", num_blocks)
    cache, hits, asked = FreeQueue(), 0, 0  # the free list of an idle engine is its cache, the next to be evicted first
    for request in workload:
        blocks = request.prompt_blocks
        hits += next((place for place, block in enumerate(blocks) if block not in cache), len(blocks))
        asked += len(blocks)
        for block in reversed(blocks):
            if block in cache:
                cache.remove(block)
            cache.append([block])
        if limit is not None:
            cache.pop_many(max(0, len(cache) - limit))
    if not asked:
        raise ValueError("the workload's requests have no prompt_blocks; mooncake_trace reads a trace that has them")
    return hits / asked
