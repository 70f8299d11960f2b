"""An allocator that is broken on purpose, in one method."""

from __future__ import annotations

from collections.abc import Hashable


class Ash:
    """Blocks as tokens come, shared by forks, copied before a shared one is written. One of its methods is broken."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}

    def table(self, request: Hashable) -> list[int]:
        return self.tables[request]

    def allocate(self, request: Hashable, tokens: list[int]) -> None:
        """A new request: just enough free blocks for its tokens."""
        if request in self.tables:
            raise ValueError(f"{request} has a table already")
        needed = -(-len(tokens) // self.block_size)
        if needed > len(self.free_blocks):
            raise RuntimeError(f"{needed} blocks are needed, and {len(self.free_blocks)} are free")
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(needed)]
        self.lengths[request] = len(tokens)

    def append(self, request: Hashable, token: int) -> None:
        """One more token, in the last block, in a fresh one, or in a copy of a shared one."""
        table = self.tables[request]
        full = self.lengths[request] % self.block_size == 0
        if full or self.holders(table[-1]) > 1:
            if not self.free_blocks:
                raise RuntimeError("no block is free")
            table[len(table) - (not full) :] = [self.free_blocks.pop(0)]
        self.lengths[request] += 1

    def fork(self, parent: Hashable, child: Hashable) -> None:
        """A new request that goes on from where parent is, with the same blocks."""
        if child in self.tables:
            raise ValueError(f"{child} has a table already")
        self.tables[child] = list(self.tables[parent])
        self.lengths[child] = self.lengths[parent]

    def free(self, request: Hashable) -> None:
        """The end of a request."""
        self.free_blocks += self.tables.pop(request)
        del self.lengths[request]

    def holders(self, block: int) -> int:
        """How many tables a block is in."""
        return sum(block in table for table in self.tables.values())
