"""PagedAttention: a KV cache in blocks, handed out as requests grow, shared where they are equal."""

from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.audit import BrokenInvariant
from llmserving.paging.block_pool import BlockPool
from llmserving.paging.block_table import BlockTable, Slot, blocks_needed
from llmserving.paging.contiguous import ContiguousAllocator
from llmserving.paging.errors import NoFreeBlocksError, UnknownRequestError
from llmserving.paging.free_queue import FreeQueue
from llmserving.paging.play import play
from llmserving.paging.playback import Moment, Outcome, Playback
from llmserving.paging.prefix_cache import PrefixCache, block_hash
from llmserving.paging.script import (
    BLOCK_BY_BLOCK,
    FORK_AND_COPY,
    FORK_AT_A_BOUNDARY,
    FULL_POOL,
    MISUSE,
    SCRIPTS,
    SHARED_PREFIX,
    WHOLE_PROMPT_CACHED,
    Operation,
    Script,
)
from llmserving.paging.waste import Waste

__all__ = [
    "BLOCK_BY_BLOCK", "FORK_AND_COPY", "FORK_AT_A_BOUNDARY", "FULL_POOL", "MISUSE", "SCRIPTS", "SHARED_PREFIX",
    "WHOLE_PROMPT_CACHED", "BlockPool", "BlockTable", "BrokenInvariant", "ContiguousAllocator", "FreeQueue", "Moment",
    "NoFreeBlocksError", "Operation", "Outcome", "PagedAllocator", "Playback", "PrefixCache", "Script", "Slot",
    "UnknownRequestError", "Waste", "block_hash", "blocks_needed", "play",
]  # fmt: skip
