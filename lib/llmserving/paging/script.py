"""Operations on an allocator as data, and the scripts that the lessons play.

A script says what is asked of an allocator and in what order; it knows no block. Its tokens are numbers that it invents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from llmserving import arguments
from llmserving.paging.prefix_cache import Key
from llmserving.paging.tables import checked_tokens


@dataclass(frozen=True)
class Operation:
    """One call of an allocator. tokens: of allocate the prompt, of append the one token. parent: of fork."""

    kind: Literal["allocate", "append", "fork", "free"]
    request: Hashable
    tokens: tuple[int, ...] = ()
    key: Key = None
    parent: Hashable = None

    def __str__(self) -> str:
        if self.kind == "append":
            return f"append to {self.request!r}"
        if self.kind == "fork":
            return f"fork {self.parent!r} as {self.request!r}"
        return f"{self.kind} {self.request!r}"


def allocate(request: Hashable, tokens: Iterable[int], key: Key = None) -> Operation:
    """A new request with a prompt of these tokens, for example `range(6)`."""
    prompt = tuple(tokens)
    checked_tokens(prompt)
    return Operation("allocate", request, prompt, key)


def append(request: Hashable, token: int) -> Operation:
    """One more token of a request."""
    return Operation("append", request, (token,))


def append_each(request: Hashable, tokens: Iterable[int]) -> tuple[Operation, ...]:
    """An append for each of these tokens."""
    return tuple(append(request, token) for token in tokens)


def fork(parent: Hashable, child: Hashable) -> Operation:
    """A second request that goes on from where `parent` is."""
    return Operation("fork", child, parent=parent)


def free(request: Hashable) -> Operation:
    """The end of a request."""
    return Operation("free", request)


def operations_of(parts: Any) -> tuple[Operation, ...]:
    """Operations, and groups of them such as those of `append_each`, as one row; TypeError for anything else."""
    if isinstance(parts, Operation):
        return (parts,)
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise TypeError(
            f"a script is made of operations such as allocate('a', range(6)) and free('a'), but got "
            f"{arguments.shown(parts)}"
        )
    return tuple(operation for part in parts for operation in operations_of(part))


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
    FORK_AND_COPY, FORK_AT_A_BOUNDARY, BLOCK_BY_BLOCK, SHARED_PREFIX, WHOLE_PROMPT_CACHED, FULL_POOL, MISUSE
)  # fmt: skip
