"""A memory filled with equal requests until it is full: how many there are, and what the slots that they hold are used for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.contiguous import ContiguousAllocator
from llmserving.paging.waste import Waste


@dataclass(frozen=True)
class Filled:
    """`requests` requests, and what becomes of the memory with all of them in it."""

    requests: int
    waste: Waste


def fill(allocator: ContiguousAllocator | PagedAllocator, num_tokens: Any) -> Filled:
    """Let requests of `num_tokens` tokens in, numbered from 0, until one is refused."""
    tokens = range(arguments.count("num_tokens", "the tokens that each request has in the cache", num_tokens))
    requests = 0
    while allocator.can_allocate(tokens):
        allocator.allocate(requests, tokens)
        requests += 1
    return Filled(requests, allocator.waste())
