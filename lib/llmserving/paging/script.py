"""The scripts that the lessons play: what is asked of an allocator, and in what order.

A script knows no block. Its tokens are numbers that it invents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.paging.operation import Operation, allocate, append, append_each, fork, free, operations_of


@dataclass(frozen=True)
class Script:
    """What is asked, in order, and the pool for which it was thought out.

    num_blocks: blocks in the pool. block_size: tokens in a block. prefix_caching: whether the course's own allocator
    plays it with its prefix cache; an allocator that is given says that itself.
    """

    title: str
    operations: tuple[Operation, ...]
    num_blocks: int
    block_size: int
    prefix_caching: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", operations_of(self.operations))
        if not self.operations:
            raise ValueError(f"the script {self.title!r} has no operation: there is nothing to play")
        arguments.count("num_blocks", "the number of blocks in the pool", self.num_blocks)
        arguments.count("block_size", "the number of tokens in a block", self.block_size)
        if not isinstance(self.prefix_caching, bool):
            raise TypeError(f"prefix_caching is True or False, but got {arguments.shown(self.prefix_caching)}")


def _script(title: str, num_blocks: int, *parts: Any, prefix_caching: bool = False) -> Script:
    return Script(title, operations_of(parts), num_blocks, 4, prefix_caching)


FORK_AND_COPY = _script(
    "Fork and copy on write", 8,
    allocate("a", range(6)), fork("a", "b"), append("b", 60),  # the last block is partial and shared: copied
    append("a", 70), append("b", 61),  # each has its own now: in place
    append("b", 62),  # full: a fresh block
    free("a"), free("b"),
)  # fmt: skip
FORK_AT_A_BOUNDARY = _script(
    "Fork where the last block is full", 8,
    allocate("a", range(8)), fork("a", "b"), append("b", 80), append("a", 90), free("a"), append("b", 81), free("b"),
)  # fmt: skip
BLOCK_BY_BLOCK = _script(
    "From one block to the next", 6,
    allocate("a", range(3)), append_each("a", range(3, 6)), allocate("b", range(8)), append("b", 8),
    append_each("a", range(6, 9)), free("b"), allocate("c", range(4)), free("a"), free("c"),
)  # fmt: skip
SHARED_PREFIX = _script(
    "A shared prefix", 8,
    allocate("a", range(10)), allocate("b", [*range(8), 20, 21, 22]), free("a"),
    allocate("c", [*range(8), 30]), free("b"), free("c"),
    prefix_caching=True,
)  # fmt: skip
WHOLE_PROMPT_CACHED = _script(
    "The whole prompt is cached", 6,
    allocate("a", range(8)), allocate("b", range(8)), free("a"), free("b"),
    allocate("c", range(8), key="adapter"),  # other keys and values for equal tokens
    allocate("d", [*range(4, 8), 1]),  # a block of the same tokens, but after another prefix
    free("c"), free("d"), allocate("e", range(50, 72)), free("e"), allocate("f", range(8)), free("f"),
    prefix_caching=True,
)  # fmt: skip
HIT_ON_FREE_BLOCKS = _script(
    "A hit on free blocks, in a pool that is nearly full", 5,
    allocate("a", range(8)), allocate("z", range(20, 28)), free("a"),
    allocate("b", [*range(8), *range(30, 37)]),  # no room: 2 of the 3 free blocks are those that it finds
    free("z"), allocate("b", [*range(8), *range(30, 37)]), free("b"),
    prefix_caching=True,
)  # fmt: skip
FULL_POOL = _script(
    "A full pool", 4,
    allocate("a", range(8)), allocate("b", range(20, 26)), allocate("c", range(30, 35)),  # no room
    append("a", 8),  # no room either
    append("b", 26), free("a"), allocate("c", range(30, 35)), free("b"), free("c"),
)  # fmt: skip
MISUSE = _script(
    "Names that are taken, unknown or freed", 4,
    allocate("a", range(5)), allocate("a", range(3)), fork("a", "a"), fork("x", "b"), append("x", 1), free("x"),
    free("a"), free("a"), append("a", 5), fork("a", "b"), allocate("a", range(3)), free("a"),
)  # fmt: skip
SCRIPTS = (
    FORK_AND_COPY, FORK_AT_A_BOUNDARY, BLOCK_BY_BLOCK, SHARED_PREFIX, WHOLE_PROMPT_CACHED, HIT_ON_FREE_BLOCKS, FULL_POOL,
    MISUSE,
)  # fmt: skip
