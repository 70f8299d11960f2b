"""What each paging event does to the pool, and what must hold for it to be possible."""

from __future__ import annotations

from collections.abc import Sequence

from llmserving.events import Event
from llmserving.replay.holdings import Holdings
from llmserving.replay.log import request_name


class PoolMoves(Holdings):
    """A pool that is moved on event by event. ValueError says why an event cannot follow those before it.

    cached: blocks that can be found by their prefix. A fresh block is no longer one of them, evicted by an event or not.
    taken: blocks that were evicted by an operation whose own event, which gives them an owner, is still to come.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.cached: set[int] = set()
        self.taken: set[int] = set()
        self.free_order: tuple[int, ...] | None = None

    @property
    def free(self) -> set[int]:
        return self.unowned - self.taken

    def apply(self, event: Event) -> None:
        self._check_blocks(event.blocks)
        if event.kind != "evict":
            self.taken.clear()
        {
            "allocate": self._allocate,
            "append": self._append,
            "copy": self._copy,
            "fork": self._fork,
            "cache": self._cache,
            "evict": self._evict,
            "free": self._free,
            "write": self._write,
        }[event.kind](event)
        self._check_free(event)

    def _allocate(self, event: Event) -> None:
        self.check_new(event.request)
        found, fresh = event.blocks[: event.cached_blocks], event.blocks[event.cached_blocks :]
        for block in found:
            if block not in self.cached:
                raise ValueError(f"block {block} is said to be found in the prefix cache, which does not have it")
        self.check_fresh(fresh)
        self.hold(event.request, event.blocks)
        self.cached.difference_update(fresh)
        self.grow(event.request, event.tokens)

    def _append(self, event: Event) -> None:
        self.table(event.request)
        self.check_fresh([self._one(event)])
        self.hold(event.request, event.blocks)
        self.cached.difference_update(event.blocks)
        self.grow(event.request, event.tokens)

    def _copy(self, event: Event) -> None:
        table, block, source = self.table(event.request), self._one(event), event.source
        if not table or table[-1] != source or not isinstance(source, int):
            raise ValueError(f"block {source} is copied, but the table ends with block {table[-1] if table else None}")
        if self.owners[source] < 2:
            raise ValueError(f"block {source} is copied before it is written, though no other request holds it")
        self.check_fresh([block])
        table.pop()
        self.owners[source] -= 1
        self.hold(event.request, [block])
        self.cached.discard(block)
        self.grow(event.request, event.tokens)

    def _fork(self, event: Event) -> None:
        self.check_new(event.request)
        if tuple(self.table(event.source)) != event.blocks:
            raise ValueError(f"blocks {event.blocks} are not the table of {request_name(event.source)}")
        self.hold(event.request, event.blocks)
        self.grow(event.source, event.tokens)
        self.grow(event.request, event.tokens)

    def _cache(self, event: Event) -> None:
        table, block = self.table(event.request), self._one(event)
        self.grow(event.request, event.tokens)
        if block not in table or event.tokens < (table.index(block) + 1) * self.block_size:
            raise ValueError(f"block {block} is no full block of {request_name(event.request)}")
        self.cached.add(block)

    def _evict(self, event: Event) -> None:
        block = self._one(event)
        if block not in self.cached or self.owners[block]:
            raise ValueError(f"block {block} is {'still in a table' if self.owners[block] else 'not cached'}")
        self.cached.discard(block)
        self.taken.add(block)

    def _free(self, event: Event) -> None:
        if tuple(self.table(event.request)) != event.blocks:
            raise ValueError(f"it gives up blocks {event.blocks}, but its table is {self.tables[event.request]}")
        self.release(event.request)

    def _write(self, event: Event) -> None:
        table, block = self.table(event.request), self._one(event)
        if not table or block != table[-1]:
            raise ValueError(f"block {block} is written, but the table ends with block {table[-1] if table else None}")
        if self.owners[block] > 1:
            raise ValueError(f"block {block} is written while it is in {self.owners[block]} tables")
        self.grow(event.request, event.tokens)

    def _one(self, event: Event) -> int:
        if len(event.blocks) != 1:
            raise ValueError(f"it concerns one block, but names {len(event.blocks)}")
        return event.blocks[0]

    def _check_blocks(self, blocks: Sequence[int]) -> None:
        for block in blocks:
            if type(block) is not int or not 0 <= block < self.num_blocks:
                raise ValueError(f"there is no block {block!r} in a pool of {self.num_blocks:,}")
        if len(set(blocks)) < len(blocks):
            raise ValueError(f"blocks {blocks} name one block twice")

    def _check_free(self, event: Event) -> None:
        """What the event says of the free blocks; an eviction comes in the middle of an operation, and is not held to it."""
        order = event.free_list
        if event.kind == "evict":
            self.taken |= self.unowned.difference(order) if order else set()
        elif event.free_blocks != len(self.unowned):
            raise ValueError(
                f"it says that {event.free_blocks:,} blocks are free, but {len(self.unowned):,} are in no table"
            )
        if order:
            for block in self.free.symmetric_difference(order):
                where = "in its free list, but not free" if block in order else "free, but not in its free list"
                raise ValueError(f"block {block} is {where}")
            if len(set(order)) < len(order):
                raise ValueError(f"its free list {order} names one block twice")
        self.free_order = order if order or not self.free else None
