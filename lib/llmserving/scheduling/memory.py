"""The KV cache as a scheduler sees it: blocks, paged as a request grows or reserved in one piece for its longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from llmserving import arguments
from llmserving.paging import ContiguousAllocator, PagedAllocator, blocks_needed
from llmserving.scheduling.request import Request

MemoryKind = Literal["paged", "contiguous"]


@dataclass(frozen=True)
class KvMemory:
    """`num_blocks` blocks of `block_size` tokens. Contiguous: each request reserves `max_len` tokens, in whole blocks."""

    num_blocks: int
    block_size: int
    kind: MemoryKind
    max_len: int

    def __post_init__(self) -> None:
        for name, meaning in (
            ("num_blocks", "the number of blocks of the KV cache"),
            ("block_size", "the number of tokens in a block"),
            ("max_len", "the most tokens that a request can have"),
        ):
            object.__setattr__(self, name, arguments.count(name, meaning, getattr(self, name)))
        if self.kind not in ("paged", "contiguous"):
            raise ValueError(f"memory is 'paged' or 'contiguous', but got {arguments.shown(self.kind)}")

    @property
    def is_paged(self) -> bool:
        return self.kind == "paged"

    @property
    def reservation(self) -> int:
        """Blocks that a request reserves where memory is contiguous."""
        return blocks_needed(self.max_len, self.block_size)

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that a request holds while it has so many tokens in the cache."""
        return blocks_needed(num_tokens, self.block_size) if self.is_paged else self.reservation

    def can_ever_hold(self, request: Request) -> bool:
        """Whether a request fits when it has the memory for itself."""
        fits = self.blocks_for(request.cached_tokens) <= self.num_blocks
        return fits and (self.is_paged or request.cached_tokens <= self.max_len)

    def allocator(self) -> Any:
        """The allocator that does what this says, one block or slot at a time."""
        if self.is_paged:
            return PagedAllocator(self.num_blocks, self.block_size)
        return ContiguousAllocator(self.num_blocks * self.block_size, self.reservation * self.block_size)
