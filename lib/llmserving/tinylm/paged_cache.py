"""A KV cache in blocks, which a table a request puts in order: PagedAttention with the allocator of the course."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from llmserving.paging import PagedAllocator
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.kv_cache import KvCache


class PagedKvCache(KvCache):
    """Blocks of `block_size` slots, handed out as requests grow; token t is in block table[t // block_size]."""

    def __init__(
        self, config: DecoderConfig, num_blocks: Any, block_size: Any = 16, *, prefix_caching: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:  # fmt: skip
        self.allocator: PagedAllocator = PagedAllocator(num_blocks, block_size, prefix_caching)
        self.block_size = self.allocator.block_size
        super().__init__(config, self.most_tokens, dtype)

    @property
    def most_tokens(self) -> int:
        return self.allocator.num_blocks * self.block_size

    def allocate(self, request_id: Hashable, token_ids: Sequence[int]) -> int:
        """Of requests that share a prefix, compute one before the next is allocated: its blocks are found at once."""
        return self.allocator.allocate(request_id, token_ids)

    def append(self, request_id: Hashable, token: int) -> None:
        slot = self.allocator.append(request_id, token)
        if slot.copied_from is not None:
            blocks = self.store.unflatten(2, (-1, self.block_size))
            blocks[:, :, slot.block] = blocks[:, :, slot.copied_from]

    def fork(self, parent: Hashable, child: Hashable) -> None:
        """Shares the parent's blocks; the one that is not full is copied when either writes to it."""
        self.allocator.fork(parent, child)

    def slots(self, request_id: Hashable) -> Tensor:
        table = torch.tensor(self.allocator.table(request_id))
        places = table[:, None] * self.block_size + torch.arange(self.block_size)
        return places.flatten()[: self.num_tokens(request_id)]
