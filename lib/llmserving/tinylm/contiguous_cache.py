"""A KV cache in which each request has one stretch, as long as it may ever become."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from llmserving import arguments
from llmserving.paging import ContiguousAllocator
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.kv_cache import KvCache


class ContiguousKvCache(KvCache):
    """Every request has `capacity` slots in one piece from the start, used or not."""

    def __init__(self, config: DecoderConfig, requests: Any, capacity: Any, dtype: torch.dtype = torch.float32) -> None:
        capacity = arguments.count("capacity", "the most tokens of a request", capacity)
        slots = arguments.count("requests", "the number of requests with room", requests) * capacity
        self.allocator: ContiguousAllocator = ContiguousAllocator(slots, capacity)
        super().__init__(config, slots, dtype)

    @property
    def most_tokens(self) -> int:
        return self.allocator.max_len

    def allocate(self, request_id: Hashable, token_ids: Sequence[int]) -> int:
        self.allocator.allocate(request_id, token_ids)
        return 0

    def append(self, request_id: Hashable, token: int) -> None:
        self.allocator.append(request_id, token)

    def fork(self, parent: Hashable, child: Hashable) -> None:
        """Copies all of the parent's keys and values: nothing can be shared."""
        self.allocator.allocate(child, range(self.num_tokens(parent)))
        self.store[:, :, self.slots(child)] = self.store[:, :, self.slots(parent)]

    def slots(self, request_id: Hashable) -> Tensor:
        start = self.allocator.reservation(request_id).start
        return torch.arange(start, start + self.num_tokens(request_id))
