"""All physical blocks of the KV cache: which are free, and how many tables hold each of the others.

A block is memory for the keys and values of `block_size` tokens. It is named by its number, from 0.

A free block keeps what was written into it until it is given out and written again. With a prefix cache such a block is
not lost: while it is cached, a new prompt that begins with the same tokens finds it and takes it from the free list as it
is. To give a cached block out as a fresh one evicts what it holds. A prompt's blocks are found in their order, so a block is
of use only while the one before it, its parent, is cached too: children should be evicted before their parents.

The free list follows the rule of vLLM V1 as of 2026. Blocks are given out from the front. A table is given back last block
first: cached blocks go to the end, so that the block unused for longest is the next to be evicted, and a child before its
parent; blocks that are not cached go to the front, since giving those out loses nothing. (Before, vLLM put all of them at
the end: the same counts, other numbers.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView, Sequence

from llmserving.paging.errors import NoFreeBlocksError
from llmserving.paging.free_queue import FreeQueue


class BlockPool:
    """Invariant: a block is in the free list exactly while its owners are 0."""

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        self.owners = [0] * num_blocks  # how many tables hold the block
        self._free = FreeQueue(range(num_blocks))

    @property
    def free_blocks(self) -> KeysView[int]:
        """The free blocks, next to be given out first: a live, read-only, ordered set."""
        return self._free.blocks

    def take(self, count: int) -> list[int]:
        """`count` free blocks, each with one owner from now on; NoFreeBlocksError where there are fewer."""
        if count > len(self._free):
            raise NoFreeBlocksError(f"{blocks(count)} needed and {blocks(len(self._free))} free")
        taken = self._free.pop_many(count)
        for block in taken:
            self.owners[block] = 1
        return taken

    def share(self, shared: Iterable[int]) -> None:
        """One owner more for each block; a free one leaves the free list."""
        for block in shared:
            if not self.owners[block]:
                self._free.remove(block)
            self.owners[block] += 1

    def give_back(self, table: Sequence[int], can_be_found: Callable[[int], bool]) -> None:
        """One owner less for each block of a table; ValueError, and nothing changed, for a block that is free.

        can_be_found: whether a block is cached.
        """
        for block in table:
            if not self.owners[block]:
                raise ValueError(f"block {block} is given back and is free already")
        free: list[int] = []
        for block in reversed(table):
            self.owners[block] -= 1
            if not self.owners[block]:
                free.append(block)
        self._free.put_in_front(block for block in free if not can_be_found(block))
        self._free.append(block for block in free if can_be_found(block))


def blocks(count: int) -> str:
    """`count` blocks, with the verb that follows.

    >>> blocks(1), blocks(2)
    ('1 block is', '2 blocks are')
    """
    return f"{count:,} block is" if count == 1 else f"{count:,} blocks are"
