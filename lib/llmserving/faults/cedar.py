"""An allocator that is broken on purpose, in one method."""

from __future__ import annotations

from collections.abc import Hashable


class Cedar:
    """Blocks as tokens come, shared by forks, copied before a shared one is written. One of its methods is broken.

    blocks: a request's list, in which the allocator works. on_gpu: the copy of it that attention reads.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.blocks: dict[Hashable, list[int]] = {}
        self.on_gpu: dict[Hashable, tuple[int, ...]] = {}
        self.lengths: dict[Hashable, int] = {}
        self.holders = [0] * num_blocks

    def table(self, request: Hashable) -> tuple[int, ...]:
        return self.on_gpu[request]

    def allocate(self, request: Hashable, tokens: list[int]) -> None:
        """A new request: just enough free blocks for its tokens."""
        if request in self.blocks:
            raise ValueError(f"{request} has a table already")
        needed = -(-len(tokens) // self.block_size)
        if needed > len(self.free_blocks):
            raise RuntimeError(f"{needed} blocks are needed, and {len(self.free_blocks)} are free")
        self.blocks[request] = [self.take() for _ in range(needed)]
        self.on_gpu[request] = tuple(self.blocks[request])
        self.lengths[request] = len(tokens)

    def append(self, request: Hashable, token: int) -> None:
        """One more token, in the last block, in a fresh one, or in a copy of a shared one."""
        blocks = self.blocks[request]
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
            self.on_gpu[request] = tuple(blocks)
        elif self.holders[blocks[-1]] > 1:
            fresh = self.take()
            self.holders[blocks[-1]] -= 1
            blocks[-1] = fresh
        self.lengths[request] += 1

    def fork(self, parent: Hashable, child: Hashable) -> None:
        """A new request that goes on from where parent is, with the same blocks."""
        if child in self.blocks:
            raise ValueError(f"{child} has a table already")
        self.blocks[child] = list(self.blocks[parent])
        self.on_gpu[child] = tuple(self.blocks[child])
        self.lengths[child] = self.lengths[parent]
        for block in self.blocks[child]:
            self.holders[block] += 1

    def free(self, request: Hashable) -> None:
        """The end of a request: its blocks that nobody else holds are free again."""
        for block in self.blocks.pop(request):
            self.holders[block] -= 1
            if not self.holders[block]:
                self.free_blocks.append(block)
        del self.on_gpu[request], self.lengths[request]

    def take(self) -> int:
        """A free block, which now has one holder."""
        if not self.free_blocks:
            raise RuntimeError("no block is free")
        block = self.free_blocks.pop(0)
        self.holders[block] = 1
        return block
