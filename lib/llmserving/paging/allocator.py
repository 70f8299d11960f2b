"""PagedAttention's bookkeeping: it hands out blocks of the KV cache to requests as they grow, and shares equal ones.

The convention: `append(request_id, token)` counts the token itself. Before the call it is not in the table; after it, it
is, and has its slot. So a fresh block is taken when all blocks are full *before* the token, at num_tokens % block_size
== 0. A token that a step has produced enters the cache with the next step, which takes it in; a request of P prompt
tokens and O output tokens therefore ends with P + O - 1 in the cache.

A call that is refused raises and changes nothing. `can_x` says whether `x` would find room.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice, tee
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.paging.block_pool import BlockPool, blocks
from llmserving.paging.block_table import BlockTable, Slot, blocks_needed
from llmserving.paging.errors import NoFreeBlocksError
from llmserving.paging.holdings import Holdings
from llmserving.paging.prefix_cache import ROOT, Key, PrefixCache, block_hash, checked_key
from llmserving.paging.tables import checked_tokens


class PagedAllocator(Holdings):
    """Block tables over `num_blocks` blocks of `block_size` tokens, all of them usable.

    An engine that keeps one block aside as its null block, as vLLM does, has one less than it says. With `prefix_caching`
    a full block can be found by its prefix until it is written again. `log` is a list to which the allocator adds an
    Event for each change.
    """

    def __init__(
        self, num_blocks: Any, block_size: Any, prefix_caching: bool = False, *, log: list[Event] | None = None
    ) -> None:
        tokens = arguments.count("block_size", "the number of tokens in a block", block_size)
        pool = BlockPool(arguments.count("num_blocks", "the number of blocks in the pool", num_blocks))
        super().__init__(pool, PrefixCache(tokens, enabled=prefix_caching), log)

    def cached_tokens(self, token_ids: Sequence[int], key: Key = None) -> int:
        """How many of these prompt tokens `allocate` would find in the prefix cache."""
        return len(self._found(token_ids, self._cache.hashes(token_ids, checked_key(key)))) * self.block_size

    def can_allocate(self, token_ids: Sequence[int], key: Key = None) -> bool:
        """Whether there is room for a new request with this prompt."""
        return self._missing(token_ids, self._found(token_ids, self._cache.hashes(token_ids, checked_key(key)))) <= 0

    def allocate(self, request_id: Hashable, token_ids: Sequence[int], key: Key = None) -> int:
        """Give a new request blocks for its prompt; how many of its tokens were found in the prefix cache.

        At least the last token is left to compute, since only a computed token gives logits: a prompt that is cached as a
        whole has its last block computed again. `key` sets requests apart whose caches differ for equal tokens, by an
        adapter or a salt. NoFreeBlocksError where there is no room.
        """
        self._tables.check_new(request_id)
        names, ahead = tee(self._cache.hashes(token_ids, checked_key(key)))  # what is looked up is not hashed again
        found = self._found(token_ids, ahead)
        needed = blocks_needed(len(token_ids), self.block_size)
        if self._missing(token_ids, found) > 0:
            raise NoFreeBlocksError(self._no_room(request_id, needed, found))
        hashes = list(names)
        tail = list(token_ids[len(hashes) * self.block_size :]) if self._cache.enabled else []
        block_hash(ROOT, tail)  # refuses what is no token before anything changes
        self._pool.share(found)
        table = BlockTable(found + self._take(needed - len(found)), len(token_ids), self.block_size, key)
        self._tables[request_id] = table
        self._event("allocate", request_id, table.blocks, cached_blocks=len(found))
        for name, block in islice(zip(hashes, table.blocks, strict=False), len(found), None):
            self._insert(name, block, request_id)
        table.parent_hash, table.tail = hashes[-1] if hashes else ROOT, tail
        return len(found) * self.block_size

    def can_append(self, request_id: Hashable) -> bool:
        """Whether there is room for one more token of this request."""
        table = self._tables[request_id]
        return bool(self.free_blocks) or not self._needs_block(table)

    def append(self, request_id: Hashable, token: int) -> Slot:
        """Give the next token of a request its slot, in a fresh block where the last one is full.

        A partial block that others hold too is copied first, and the token written to the copy (copy-on-write); its sole
        owner writes in place. NoFreeBlocksError where a block is needed and none is free.
        """
        table = self._tables[request_id]
        if self._cache.enabled:
            arguments.count("token", "the number of a token", token, at_least=-(2**63), most=2**63 - 1)
        if not self.can_append(request_id):
            raise NoFreeBlocksError(
                f"request {request_id!r} needs a block for token {table.num_tokens} and no block is free"
            )
        offset = table.num_tokens % self.block_size
        source = table.blocks[-1] if offset and self._needs_block(table) else None
        if source is not None:
            self._pool.give_back([source], self._can_be_found)
            table.blocks[-1] = self._take(1)[0]
        elif not offset:
            table.blocks += self._take(1)
        table.num_tokens += 1
        if source is not None or not offset:
            self._event("append" if source is None else "copy", request_id, table.blocks[-1:], source=source)
        if self._cache.enabled and table.take_in(token):
            self._insert(table.parent_hash, table.blocks[-1], request_id)
        return Slot(table.blocks[-1], offset, source)

    def fork(self, parent: Hashable, child: Hashable) -> None:
        """A new request that shares all blocks of `parent`, for another sample of the same prompt; nothing is copied."""
        table = self._tables[parent]
        self._tables.check_new(child)
        self._pool.share(table.blocks)
        self._tables[child] = table.copy()
        self._event("fork", child, table.blocks, source=parent)

    def free(self, request_id: Hashable) -> None:
        """Give a request's blocks back; those without another owner are free, and what is cached can still be found."""
        table = self._tables.release(request_id)
        self._pool.give_back(table.blocks, self._can_be_found)
        self._event("free", request_id, table.blocks)

    def reset_prefix_cache(self) -> bool:
        """Forget all cached prefixes, as after a change of the weights; False, and nothing changed, while requests run."""
        if self._tables:
            return False
        for block in self.free_blocks:
            self._forget(block)
        return True

    def _found(self, token_ids: Sequence[int], hashes: Iterator[bytes]) -> list[int]:
        """The cached blocks of a prompt's prefix, without the block of the last token; no more is hashed than is looked up."""
        most = (checked_tokens(token_ids) - 1) // self.block_size
        return self._cache.find(islice(hashes, most))

    def _missing(self, token_ids: Sequence[int], found: list[int]) -> int:
        """Blocks that a prompt needs beyond the free ones; a free block that it finds is not free for it twice."""
        fresh = blocks_needed(len(token_ids), self.block_size) - len(found)
        return fresh - len(self.free_blocks) + sum(not self._pool.owners[block] for block in found)

    def _no_room(self, request_id: Hashable, needed: int, found: list[int]) -> str:
        if needed > self.num_blocks:
            return (
                f"request {request_id!r} needs {needed:,} blocks of {self.block_size}, and the whole pool has "
                f"{self.num_blocks:,}: it can never fit"
            )
        besides = len(self.free_blocks) - sum(not self._pool.owners[block] for block in found)
        wanted = f"{needed:,} block" if needed == 1 else f"{needed:,} blocks"
        if found:
            return f"request {request_id!r} needs {wanted}, {len(found):,} of them cached, and {blocks(besides)} free besides"
        return f"request {request_id!r} needs {wanted} and {blocks(besides)} free"

    def _take(self, count: int) -> list[int]:
        """Fresh blocks; what the prefix cache still found in them is gone."""
        taken = self._pool.take(count)
        for block in taken:
            self._forget(block)
        return taken

    def _forget(self, block: int) -> None:
        if self._cache.forget(block):
            self._event("evict", None, [block])

    def _needs_block(self, table: BlockTable) -> bool:
        """Whether the next token needs a block: all are full, or the last is partial and others hold it too."""
        return table.num_tokens % self.block_size == 0 or self._pool.owners[table.blocks[-1]] > 1

    def _insert(self, name: bytes, block: int, request_id: Hashable) -> None:
        self._cache.insert(name, block)
        self._event("cache", request_id, [block])

    def _can_be_found(self, block: int) -> bool:
        return block in self._cache
