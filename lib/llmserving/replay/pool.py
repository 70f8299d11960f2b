"""The block pool after the first k events of a log: who holds which block, what can be found, and what is free.

A log says when blocks change hands, not when tokens are written: a request's tokens are as of its last event, unless the
log has a "write" for each.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.replay.log import PAGING_KINDS, LogError, checked_log, checked_upto
from llmserving.replay.pool_moves import PoolMoves


@dataclass(frozen=True)
class PoolState:
    """After `number` events, of which `last` is the last, None for none.

    tables: each request's physical blocks, in the order in which requests got their table. tokens: what each has in the
    cache. cached: blocks that can be found by their prefix, held or free. free: blocks that can be given out. free_order:
    the same, next to be given out first; None where the log does not say.
    """

    number: int
    last: Event | None
    num_blocks: int
    block_size: int
    tables: Mapping[Hashable, tuple[int, ...]]
    tokens: Mapping[Hashable, int]
    cached: frozenset[int]
    free: frozenset[int]
    free_order: tuple[int, ...] | None

    @cached_property
    def owners(self) -> tuple[tuple[Hashable, ...], ...]:
        """The requests that hold each block, [num_blocks]."""
        owners: list[list[Hashable]] = [[] for _ in range(self.num_blocks)]
        for request, table in self.tables.items():
            for block in table:
                owners[block].append(request)
        return tuple(map(tuple, owners))

    @cached_property
    def filled_slots(self) -> tuple[int, ...]:
        """How many of each block's slots hold a token that somebody can use, [num_blocks]; a cached block is full."""
        filled = [self.block_size if block in self.cached else 0 for block in range(self.num_blocks)]
        for request, table in self.tables.items():
            for logical, block in enumerate(table):
                inside = min(self.block_size, self.tokens[request] - logical * self.block_size)
                filled[block] = max(filled[block], inside)
        return tuple(filled)

    @property
    def shared(self) -> tuple[int, ...]:
        """Blocks that more than one table holds."""
        return tuple(block for block, owners in enumerate(self.owners) if len(owners) > 1)

    @property
    def touched(self) -> tuple[int, ...]:
        """The blocks of the last event, and the source of a copy."""
        if self.last is None or self.last.kind not in PAGING_KINDS:
            return ()
        source = (self.last.source,) if self.last.kind == "copy" and isinstance(self.last.source, int) else ()
        return (*self.last.blocks, *source)


def replay_pool(events: Iterable[Event], num_blocks: Any, block_size: Any, upto: Any = None) -> PoolState:
    """The pool after the first `upto` events, all of them if None; scheduling events change nothing here.

    LogError, which names the event, where the log contradicts itself.
    """
    log = checked_log(events)
    pool = PoolMoves(
        arguments.count("num_blocks", "the number of blocks in the pool", num_blocks),
        arguments.count("block_size", "the number of tokens in a block", block_size),
    )
    count = checked_upto(upto, len(log))
    for number, event in enumerate(log[:count], 1):
        if event.kind in PAGING_KINDS:
            try:
                pool.apply(event)
            except ValueError as why:
                raise LogError(number, event, str(why)) from None
    return PoolState(
        count,
        log[count - 1] if count else None,
        pool.num_blocks,
        pool.block_size,
        MappingProxyType({request: tuple(table) for request, table in pool.tables.items()}),
        MappingProxyType(dict(pool.tokens)),
        frozenset(pool.cached),
        frozenset(pool.free),
        pool.free_order,
    )
