"""PagedAttention: a KV cache in blocks, handed out as requests grow, shared where they are equal.

The idea, and the words block, block table and copy-on-write, are those of Kwon et al. 2023, Efficient Memory Management for
Large Language Model Serving with PagedAttention (arXiv 2309.06180).

PagedAllocator is the course's own allocator. For one of yours, `help(Allocator)` says what its methods are to do, and
`play(script, YourAllocator)` plays a script on it and names the first thing that goes wrong:

    from llmserving.paging import FORK_AND_COPY, play, allocate, append, fork, free
    play(FORK_AND_COPY, YourAllocator).broken
    play([allocate("a", range(6)), fork("a", "b"), append("b", 60), free("a")], YourAllocator, num_blocks=8, block_size=4)

SCRIPTS are those of the lessons; `llmserving.explorers.paging_explorer(script, YourAllocator)` steps through one.
"""

from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.audit import BrokenInvariant
from llmserving.paging.block_pool import BlockPool
from llmserving.paging.block_table import BlockTable, Slot, blocks_needed
from llmserving.paging.contiguous import ContiguousAllocator
from llmserving.paging.errors import NoFreeBlocksError, UnknownRequestError
from llmserving.paging.filling import Filled, fill
from llmserving.paging.free_queue import FreeQueue
from llmserving.paging.operation import Operation, allocate, append, append_each, fork, free
from llmserving.paging.play import play
from llmserving.paging.playback import Moment, Outcome, Playback
from llmserving.paging.prefix_cache import PrefixCache, block_hash
from llmserving.paging.protocol import Allocator
from llmserving.paging.script import (
    BLOCK_BY_BLOCK,
    FORK_AND_COPY,
    FORK_AT_A_BOUNDARY,
    FULL_POOL,
    HIT_ON_FREE_BLOCKS,
    MISUSE,
    SCRIPTS,
    SHARED_PREFIX,
    WHOLE_PROMPT_CACHED,
    Script,
)
from llmserving.paging.tails import tails
from llmserving.paging.waste import Waste

__all__ = [
    "BLOCK_BY_BLOCK", "FORK_AND_COPY", "FORK_AT_A_BOUNDARY", "FULL_POOL", "HIT_ON_FREE_BLOCKS", "MISUSE", "SCRIPTS",
    "SHARED_PREFIX", "WHOLE_PROMPT_CACHED", "Allocator", "BlockPool", "BlockTable", "BrokenInvariant",
    "ContiguousAllocator", "Filled", "FreeQueue", "Moment", "NoFreeBlocksError", "Operation", "Outcome", "PagedAllocator",
    "Playback", "PrefixCache", "Script", "Slot", "UnknownRequestError", "Waste", "allocate", "append", "append_each",
    "block_hash", "blocks_needed", "fill", "fork", "free", "play", "tails",
]  # fmt: skip
