"""Who holds which blocks, and for how many tokens."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from llmserving.paging.block_table import blocks_needed
from llmserving.replay.log import request_name


class Holdings:
    """Invariant: `owners` counts the tables that hold a block, and `unowned` are the blocks that none holds."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.num_blocks, self.block_size = num_blocks, block_size
        self.tables: dict[Hashable, list[int]] = {}
        self.tokens: dict[Hashable, int] = {}
        self.owners = [0] * num_blocks
        self.unowned = set(range(num_blocks))

    def hold(self, request: Hashable, blocks: Sequence[int]) -> None:
        """Add blocks to the end of a table, which may be a new one."""
        self.tables.setdefault(request, []).extend(blocks)
        for block in blocks:
            self.owners[block] += 1
        self.unowned.difference_update(blocks)

    def release(self, request: Hashable) -> None:
        """Take a table away."""
        del self.tokens[request]
        for block in self.tables.pop(request):
            self.owners[block] -= 1
            if not self.owners[block]:
                self.unowned.add(block)

    def grow(self, request: Hashable, tokens: int) -> None:
        """The request has that many tokens; its table must be just long enough for them, and none goes away."""
        known, held = self.tokens.get(request, 0), len(self.tables[request])
        if tokens < known:
            raise ValueError(f"{request_name(request)} had {known:,} tokens and now has {tokens:,}")
        if blocks_needed(tokens, self.block_size) != held:
            raise ValueError(
                f"{tokens:,} tokens need {blocks_needed(tokens, self.block_size):,} blocks of {self.block_size:,}, but "
                f"{request_name(request)} has {held:,}"
            )
        self.tokens[request] = tokens

    def table(self, request: Hashable) -> list[int]:
        if request not in self.tables:
            raise ValueError(f"{request_name(request)} has no block table")
        return self.tables[request]

    def check_new(self, request: Hashable) -> None:
        if request in self.tables:
            raise ValueError(f"{request_name(request)} has a block table already")

    def check_fresh(self, blocks: Sequence[int]) -> None:
        for block in blocks:
            if self.owners[block]:
                holder = next(request for request, table in self.tables.items() if block in table)
                raise ValueError(f"block {block} is given out as free while {request_name(holder)} holds it")
