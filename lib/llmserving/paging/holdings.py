"""Who holds which block at this moment: the part of an allocator that only answers."""

from __future__ import annotations

from collections.abc import Hashable, KeysView, Sequence

from llmserving import arguments
from llmserving.events import Event, PagingKind
from llmserving.paging.block_pool import BlockPool
from llmserving.paging.block_table import BlockTable
from llmserving.paging.prefix_cache import PrefixCache
from llmserving.paging.tables import Tables
from llmserving.paging.waste import Waste


class Holdings:
    """Invariant: a block's owners are the tables that hold it, and it is free where there are none."""

    def __init__(self, pool: BlockPool, cache: PrefixCache, log: list[Event] | None) -> None:
        self._pool, self._cache, self.log = pool, cache, log
        self._tables: Tables[BlockTable] = Tables()

    @property
    def block_size(self) -> int:
        return self._cache.block_size

    @property
    def num_blocks(self) -> int:
        return self._pool.num_blocks

    @property
    def free_blocks(self) -> KeysView[int]:
        """The blocks that no table holds, next to be given out first: an ordered set, whose len() counts them."""
        return self._pool.free_blocks

    @property
    def requests(self) -> tuple[Hashable, ...]:
        """The requests that have a table, in the order in which they got it."""
        return tuple(self._tables)

    def table(self, request_id: Hashable) -> tuple[int, ...]:
        """The physical blocks of a request in the order of its tokens; token t is in block table[t // block_size]."""
        return tuple(self._tables[request_id].blocks)

    def num_tokens(self, request_id: Hashable) -> int:
        """The tokens that a request has in the cache."""
        return self._tables[request_id].num_tokens

    def owners(self, block: int) -> int:
        """How many tables hold this block."""
        number = arguments.count("block", "the number of a block", block, at_least=0, most=self.num_blocks - 1)
        return self._pool.owners[number]

    def waste(self) -> Waste:
        """What becomes of the memory at this moment, in tokens; paging reserves nothing, and no gap is too short."""
        filled = {table.blocks[-1]: (table.num_tokens - 1) % self.block_size + 1 for table in self._tables.values()}
        tail = sum(self.block_size - tokens for tokens in filled.values())
        free = len(self.free_blocks) * self.block_size
        return Waste(self.num_blocks * self.block_size - free - tail, tail, 0, 0, free)

    def _event(
        self,
        kind: PagingKind,
        request: Hashable,
        blocks: Sequence[int],
        source: Hashable = None,
        cached_blocks: int = 0,
    ) -> None:
        if self.log is not None:
            tokens = self._tables[request].num_tokens if request in self._tables else 0
            free = len(self.free_blocks)
            self.log.append(Event(kind, request, 0.0, 0, tokens, free, tuple(blocks), source, cached_blocks))
