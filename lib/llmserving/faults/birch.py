"""An allocator that is broken on purpose, in one method."""

from __future__ import annotations

from collections.abc import Hashable


class Birch:
    """Blocks as tokens come; nothing is ever shared. One of its methods is broken."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}

    def table(self, request: Hashable) -> list[int]:
        return self.tables[request]

    def num_tokens(self, request: Hashable) -> int:
        return self.lengths[request]

    def allocate(self, request: Hashable, tokens: list[int]) -> None:
        """A new request: just enough free blocks for its tokens."""
        if request in self.tables:
            raise ValueError(f"{request} has a table already")
        self.tables[request] = self.take(-(-len(tokens) // self.block_size))
        self.lengths[request] = len(tokens)

    def append(self, request: Hashable, token: int) -> None:
        """One more token: the first of a block takes it."""
        if self.lengths[request] % self.block_size == 1:
            self.tables[request] += self.take(1)
        self.lengths[request] += 1

    def free(self, request: Hashable) -> None:
        """The end of a request: its blocks are free again."""
        self.free_blocks += self.tables.pop(request)
        del self.lengths[request]

    def take(self, count: int) -> list[int]:
        """So many free blocks, or none and an error."""
        if count > len(self.free_blocks):
            raise RuntimeError(f"{count} blocks are needed, and {len(self.free_blocks)} are free")
        taken, self.free_blocks = self.free_blocks[:count], self.free_blocks[count:]
        return taken
