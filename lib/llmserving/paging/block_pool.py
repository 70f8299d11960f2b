"""All physical blocks of the KV cache: which are free, and how many tables hold each of the others.

A block is memory for the keys and values of `block_size` tokens. It is named by its number, from 0.

The free list follows vLLM V1's current rule. Blocks are given out from the front. A table is given back last block
first: blocks whose content the prefix cache can find go to the end, so that the block unused for longest is the next to
be evicted, and children before their parents; blocks that nothing can find go to the front, since giving those out loses
nothing. (vLLM's earlier rule put all of them at the end: the same counts, other numbers.)
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
        """One owner less for each block of a table; ValueError, and nothing changed, for a block that is free."""
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
