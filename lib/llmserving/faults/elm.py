"""An allocator that is broken on purpose, in one method."""

from __future__ import annotations

from collections.abc import Hashable


class Elm:
    """Blocks with a prefix cache: the full blocks of a prompt are found again by all tokens up to their end. One of its
    methods is broken.

    by_prefix: where the last tokens of a prefix are. prefix_of: the same from the block's side, until it is written again.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}
        self.by_prefix: dict[tuple[int, ...], int] = {}
        self.prefix_of: dict[int, tuple[int, ...]] = {}

    def table(self, request: Hashable) -> list[int]:
        return self.tables[request]

    def allocate(self, request: Hashable, tokens: list[int]) -> int:
        """A new request; how many tokens of its prompt were found cached. The others are computed."""
        if request in self.tables:
            raise ValueError(f"{request} has a table already")
        found = self.find(tokens)
        needed = -(-len(tokens) // self.block_size) - len(found)
        besides = [block for block in self.free_blocks if block not in found]
        if needed > len(besides):
            raise RuntimeError(f"{needed} blocks are needed, and {len(besides)} are free besides those found")
        self.free_blocks = besides
        table = found + [self.take() for _ in range(needed)]
        for place, block in enumerate(table[: len(tokens) // self.block_size], 1):
            self.remember(block, tuple(tokens[: place * self.block_size]))
        self.tables[request], self.lengths[request] = table, len(tokens)
        return len(found) * self.block_size

    def append(self, request: Hashable, token: int) -> None:
        """One more token: the first of a block takes it. What is generated is not cached."""
        if self.lengths[request] % self.block_size == 0:
            if not self.free_blocks:
                raise RuntimeError("no block is free")
            self.tables[request].append(self.take())
        self.lengths[request] += 1

    def free(self, request: Hashable) -> None:
        """The end of a request: its blocks that nobody else holds are free, and can be found until they are taken."""
        mine = self.tables.pop(request)
        held = {block for table in self.tables.values() for block in table}
        self.free_blocks += [block for block in reversed(mine) if block not in held]
        del self.lengths[request]

    def find(self, tokens: list[int]) -> list[int]:
        """The blocks of a prompt's prefix that are cached."""
        found: list[int] = []
        for end in range(self.block_size, len(tokens) + 1, self.block_size):
            if tuple(tokens[:end]) not in self.by_prefix:
                break
            found.append(self.by_prefix[tuple(tokens[:end])])
        return found

    def take(self) -> int:
        """A free block; what was in it is found no more."""
        block = self.free_blocks.pop(0)
        prefix = self.prefix_of.pop(block, None)
        if prefix is not None and self.by_prefix[prefix] == block:
            del self.by_prefix[prefix]
        return block

    def remember(self, block: int, prefix: tuple[int, ...]) -> None:
        """From now on this block is found by this prefix, unless another is already."""
        if self.by_prefix.setdefault(prefix, block) == block:
            self.prefix_of[block] = prefix
