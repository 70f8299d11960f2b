"""An allocator as the engine asks it, whoever wrote it: what it says and does is held against a count of one's own.

The count is exact, since nothing is shared between the requests of a simulation: each has tokens of its own, so that a
prefix cache never finds one request's prompt in another's. What goes wrong raises LearnersBug with a sentence.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sized
from typing import Any

from llmserving import arguments
from llmserving.paging import ContiguousAllocator, PagedAllocator
from llmserving.paging.block_pool import blocks
from llmserving.paging.learners_code import LearnersBug, bug, has, pass_stop_on
from llmserving.paging.slips import about_free, refuse_deferred
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.request import MOST_TOKENS

METHODS = ("can_allocate", "allocate", "can_append", "append", "free")


class CheckedAllocator:
    """Invariant: `free_blocks` are all blocks but those that the tokens of the requests in it need.

    allocator: a class or a function, called with (num_blocks, block_size), or a fresh object with the methods of
    PagedAllocator; by default the course's own.
    """

    def __init__(self, memory: KvMemory, allocator: Any = None) -> None:
        self._memory = memory
        self._allocator = memory.allocator() if allocator is None else _made(allocator, memory)
        self._numbers: dict[Hashable, int] = {}  # of all requests that it was ever asked about
        self._tokens: dict[Hashable, int] = {}
        self.free_blocks = memory.num_blocks
        size = getattr(self._allocator, "block_size", memory.block_size)
        if size != memory.block_size:
            raise LearnersBug(f"block_size of the allocator is {size}, and that of the simulation {memory.block_size}")
        self._count("at the start")

    def has_room(self, tokens: int) -> bool:
        """Whether that many tokens of a new request fit now."""
        return self._memory.blocks_for(tokens) <= self.free_blocks

    def has_slot(self, request: Hashable) -> bool:
        """Whether a request's next token fits now."""
        return self._growth(request) <= self.free_blocks

    def can_allocate(self, request: Hashable, tokens: int) -> bool:
        needed = self._memory.blocks_for(tokens)
        said = bool(self._call("can_allocate", self._prompt(request, tokens)))
        return self._agreed(f"can_allocate says {said} for the {tokens} tokens of request {request}", said, needed)

    def allocate(self, request: Hashable, tokens: int) -> None:
        self._call("allocate", request, self._prompt(request, tokens))
        self._tokens[request] = tokens
        self.free_blocks -= self._memory.blocks_for(tokens)
        self._count(f"after request {request} was allocated {tokens} tokens")

    def can_append(self, request: Hashable) -> bool:
        said = bool(self._call("can_append", request))
        return self._agreed(
            f"can_append says {said} for the next token of request {request}", said, self._growth(request)
        )

    def append(self, request: Hashable) -> None:
        tokens, growth = self._tokens[request], self._growth(request)
        self._call("append", request, self._numbers[request] * MOST_TOKENS + tokens)
        self._tokens[request] = tokens + 1
        self.free_blocks -= growth
        self._count(f"after token {tokens} of request {request} was appended")

    def free(self, request: Hashable) -> None:
        self._call("free", request)
        self.free_blocks += self._memory.blocks_for(self._tokens.pop(request))
        self._count(f"after request {request} was freed")

    def _growth(self, request: Hashable) -> int:
        """Blocks that a request's next token takes: 1 or 0."""
        tokens = self._tokens[request]
        return self._memory.blocks_for(tokens + 1) - self._memory.blocks_for(tokens)

    def _prompt(self, request: Hashable, tokens: int) -> Any:
        first = self._numbers.setdefault(request, len(self._numbers)) * MOST_TOKENS
        prompt = range(first, first + tokens)
        ours = isinstance(self._allocator, PagedAllocator | ContiguousAllocator)
        return prompt if ours else list(prompt)  # a list of its own, with which the allocator may do what it likes

    def _agreed(self, saying: str, said: bool, needed: int) -> bool:
        if said != (needed <= self.free_blocks):
            raise LearnersBug(f"{saying}; {blocks(needed)} needed and {blocks(self.free_blocks)} free")
        return said

    def _call(self, method: str, *given: Any) -> Any:
        try:
            return getattr(self._allocator, method)(*given)
        except BaseException as error:
            pass_stop_on(error)
            raise bug(method, error, caller="the engine", aside=about_free(error, self._allocator)) from None

    def _count(self, when: str) -> None:
        try:
            free = _number_of(self._allocator, self._memory)
        except BaseException as error:
            pass_stop_on(error)
            raise bug("free_blocks", error, caller="the engine") from None
        if free is None:
            shown = arguments.shown(self._allocator.free_blocks)
            raise LearnersBug(f"free_blocks is a number of blocks or a collection of them, but it is {shown}")
        if free != self.free_blocks:
            raise LearnersBug(f"{when}, {blocks(free)} free, and it should be {self.free_blocks:,}")


def _number_of(allocator: Any, memory: KvMemory) -> int | None:
    """How many blocks an allocator has free; a learner's tells their number or a collection of them, or has a method."""
    if isinstance(allocator, ContiguousAllocator):
        return allocator.free_slots // memory.block_size
    free = allocator.free_blocks
    free = free() if callable(free) else free
    if isinstance(free, Sized) and not isinstance(free, str):
        return len(free)
    return operator.index(free) if hasattr(free, "__index__") else None


def _made(allocator: Any, memory: KvMemory) -> Any:
    refuse_deferred(allocator, (*METHODS, "free_blocks"))
    if isinstance(allocator, type) or (callable(allocator) and not hasattr(allocator, "allocate")):
        try:
            allocator = allocator(memory.num_blocks, memory.block_size)
        except BaseException as error:
            pass_stop_on(error)
            name = getattr(allocator, "__name__", "the factory")
            raise bug(f"{name}({memory.num_blocks}, {memory.block_size})", error, caller="the engine") from None
    missing = [name for name in METHODS if not callable(getattr(allocator, name, None))]
    if not isinstance(allocator, ContiguousAllocator) and not has(allocator, "free_blocks"):
        missing.append("free_blocks")
    if missing:
        raise TypeError(
            f"allocator is a class, a function of (num_blocks, block_size), or an object with the methods of "
            f"PagedAllocator, but {arguments.shown(allocator)} has no {', '.join(missing)}"
        )
    return allocator
