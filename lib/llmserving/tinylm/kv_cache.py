"""The KV cache behind one interface: contiguous_cache.py, a stretch a request, or paged_cache.py, a block table a request.

The two differ in where token t of a request lies. What is computed from it is the same to the last bit, which the tests
hold them to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from llmserving import arguments
from llmserving.paging import ContiguousAllocator, PagedAllocator
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.weights import FLOATS, LanguageModel


class KvCache(ABC):
    """Keys and values of all requests, [layers, 2, slots, K, E]: 2 for keys and values, a slot for each token.

    A token counts from `allocate` or `append` on; its keys and values are there after the step that takes it in.
    """

    allocator: PagedAllocator | ContiguousAllocator

    def __init__(self, config: DecoderConfig, slots: int, dtype: torch.dtype = torch.float32) -> None:
        if dtype not in FLOATS:
            raise ValueError(
                f"dtype is {', '.join(map(str, FLOATS))}, but got {arguments.shown(dtype)}; fewer bits need a scale, as the "
                "scheme 'kv-int8' has"
            )
        # Zeros: a slot that is read as padding is masked, but 0 * NaN would still be NaN.
        self.store = torch.zeros(config.layers, 2, slots, config.kv_heads, config.head_dim, dtype=dtype)

    def check_made_for(self, model: LanguageModel) -> None:
        """ValueError where the store has other sizes than the keys and values of the model."""
        layers, _, _, *heads = self.store.shape
        config = model.config
        if (layers, *heads) != (config.layers, config.kv_heads, config.head_dim):
            raise ValueError(
                f"cache is made for {layers} layers of {heads[0]} KV heads with {heads[1]} elements, but {model.name} has "
                f"{config.layers} of {config.kv_heads} with {config.head_dim}"
            )

    @property
    def bytes_per_token(self) -> int:
        return self.store[:, :, 0].numel() * self.store.element_size()

    @property
    @abstractmethod
    def most_tokens(self) -> int:
        """The tokens that one request can have when it is alone."""

    @property
    def requests(self) -> tuple[Hashable, ...]:
        return self.allocator.requests

    def num_tokens(self, request_id: Hashable) -> int:
        return self.allocator.num_tokens(request_id)

    def can_allocate(self, token_ids: Sequence[int]) -> bool:
        return self.allocator.can_allocate(token_ids)

    def can_append(self, request_id: Hashable) -> bool:
        return self.allocator.can_append(request_id)

    def free(self, request_id: Hashable) -> None:
        self.allocator.free(request_id)

    @abstractmethod
    def allocate(self, request_id: Hashable, token_ids: Sequence[int]) -> int:
        """Room for a new request's prompt; how many of its tokens are cached already and need not be computed."""

    @abstractmethod
    def append(self, request_id: Hashable, token: int) -> None:
        """Room for one more token of a request."""

    @abstractmethod
    def fork(self, parent: Hashable, child: Hashable) -> None:
        """A second request with the same tokens so far."""

    @abstractmethod
    def slots(self, request_id: Hashable) -> Tensor:
        """Where each token of a request lies, [tokens]."""

    def step(self, request_ids: Sequence[Hashable], new: int = 1) -> CacheStep:
        """A forward pass over these requests that takes in the last `new` tokens of each."""
        if not request_ids:
            raise ValueError("request_ids is empty: a step takes in at least one request")
        fewest = min(self.num_tokens(request_id) for request_id in request_ids)
        if not 1 <= arguments.count("new", "the number of tokens to take in", new) <= fewest:
            raise ValueError(f"new is {new}, and the shortest of the requests has {fewest} tokens")
        return CacheStep(self.store, [self.slots(request_id) for request_id in request_ids], new)


class CacheStep:
    """Where a forward pass reads and writes; shapes as in model.py. Worked out once, used by every layer."""

    def __init__(self, store: Tensor, slots: Sequence[Tensor], new: int) -> None:
        self.store = store
        lengths = torch.tensor([len(row) for row in slots])
        self.positions = lengths[:, None] - new + torch.arange(new)
        self.write = torch.stack([row[-new:] for row in slots])
        self.read: Tensor | slice = torch.nn.utils.rnn.pad_sequence(list(slots), batch_first=True)
        if len(slots) == 1 and bool((slots[0].diff() == 1).all()):  # in one piece: nothing to gather
            self.read = slice(int(slots[0][0]), int(slots[0][-1]) + 1)

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Stores [B, T, K, E] new keys and values; returns all of them, [B, S, K, E], padded where a request is shorter."""
        for store, tensor in zip(self.store[layer], (keys, values), strict=True):
            store[self.write] = tensor.to(store.dtype)
        read_keys, read_values = (store[self.read].to(keys.dtype) for store in self.store[layer])
        if isinstance(self.read, slice):
            return read_keys[None], read_values[None]
        return read_keys, read_values


def checked_cache(cache: Any, model: LanguageModel) -> KvCache:
    """`cache` if it is one for this model."""
    if not isinstance(cache, KvCache):
        raise TypeError(f"cache is a PagedKvCache or a ContiguousKvCache, but got {arguments.shown(cache)}")
    cache.check_made_for(model)
    return cache


def checked_request_id(request_id: Any) -> Hashable:
    """`request_id` if a table can hold it."""
    try:
        hash(request_id)
    except TypeError:  # a tuple with a list in it, too
        raise TypeError(
            f"request_id is a name such as 'a' or 7 (hashable), but got {arguments.shown(request_id)}"
        ) from None
    return request_id  # type: ignore[no-any-return]
