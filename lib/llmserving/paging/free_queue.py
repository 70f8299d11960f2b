"""The free list: blocks that no request owns, in the order in which they will be given out.

A queue whose every move is O(1), also taking a block out of its middle, which a prefix-cache hit needs. The linked list
with an index that this takes is what Python's OrderedDict is made of.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, KeysView


class FreeQueue:
    """Block ids without repetition. Invariant: a block is in the queue exactly while no table holds it."""

    def __init__(self, blocks: Iterable[int] = ()) -> None:
        self._queue: OrderedDict[int, None] = OrderedDict.fromkeys(blocks)

    @property
    def blocks(self) -> KeysView[int]:
        """The free blocks, next to be given out first: a live, read-only view."""
        return self._queue.keys()

    def __len__(self) -> int:
        return len(self._queue)

    def __contains__(self, block: int) -> bool:
        return block in self._queue

    def pop(self) -> int:
        """Take the block at the front; ValueError where there is none."""
        if not self._queue:
            raise ValueError("no block is free")
        return self._queue.popitem(last=False)[0]

    def pop_many(self, count: int) -> list[int]:
        """Take `count` blocks from the front, all of them or none."""
        if not 0 <= count <= len(self):
            raise ValueError(f"{count} blocks were asked for and {len(self)} are free")
        return [self.pop() for _ in range(count)]

    def append(self, blocks: Iterable[int]) -> None:
        """Put blocks at the end, in their order: they are given out last."""
        for block in self._checked(blocks):
            self._queue[block] = None

    def put_in_front(self, blocks: Iterable[int]) -> None:
        """Put blocks at the front, in their order: the first of them is given out next."""
        for block in reversed(self._checked(blocks)):
            self._queue[block] = None
            self._queue.move_to_end(block, last=False)

    def remove(self, block: int) -> None:
        """Take this block out, wherever it stands."""
        if block not in self._queue:
            raise ValueError(f"block {block} is not free")
        del self._queue[block]

    def _checked(self, blocks: Iterable[int]) -> list[int]:
        entering = list(blocks)
        twice = [block for block in entering if block in self._queue] or len(entering) - len(set(entering))
        if twice:
            raise ValueError(f"blocks {entering} would be in the free list twice")
        return entering
