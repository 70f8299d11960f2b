"""A request's page table: which physical block holds its tokens 0 to block_size - 1, which the next ones, and so on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from llmserving.paging.prefix_cache import ROOT, Key, block_hash


class Slot(NamedTuple):
    """Where a token's keys and values go: the place `offset` in `block`.

    copied_from: the block whose content must be copied into `block` before the token is written, None mostly.
    """

    block: int
    offset: int
    copied_from: int | None = None


@dataclass
class BlockTable:
    """Invariant: `blocks` are just enough for `num_tokens`, so only the last one can be partial.

    parent_hash, tail: of the prefix cache, the hash of the last full block and the tokens since.
    """

    blocks: list[int]
    num_tokens: int
    block_size: int
    key: Key = None
    parent_hash: bytes = ROOT
    tail: list[int] = field(default_factory=list)

    def take_in(self, token: int) -> bool:
        """Remember a token for the prefix cache; whether that fills the block, which then has the hash `parent_hash`."""
        self.tail.append(token)
        if len(self.tail) < self.block_size:
            return False
        self.parent_hash, self.tail = block_hash(self.parent_hash, self.tail, self.key), []
        return True

    def copy(self) -> BlockTable:
        """A table of its own with the same blocks."""
        return BlockTable(
            list(self.blocks), self.num_tokens, self.block_size, self.key, self.parent_hash, list(self.tail)
        )


def blocks_needed(num_tokens: int, block_size: int) -> int:
    """Blocks of `block_size` tokens for `num_tokens`: the last one may be partial.

    >>> blocks_needed(120, 16), blocks_needed(128, 16), blocks_needed(129, 16)
    (8, 8, 9)
    """
    return -(-num_tokens // block_size)
