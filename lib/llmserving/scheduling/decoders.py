"""All requests that decode, kept by the number of the step: none of them is looked at until something happens to it.

Each takes one token a step. So from the moment it starts it is known how many tokens it has in the cache at any step, in
which steps it needs a fresh block, and in which it ends; per step, sums and counts are enough.
"""

from __future__ import annotations

from collections import defaultdict

from llmserving.scheduling.request import Request


class Row:
    """A request while it is served. While it decodes, its cache holds `offset` + the step's number of tokens."""

    __slots__ = ("cached", "decodes", "last_step", "offset", "place", "produced", "request", "target")

    def __init__(self, request: Request, place: int) -> None:
        self.request, self.place = request, place  # in the order of arrival
        self.cached = self.produced = self.offset = self.last_step = 0
        self.target = request.prompt_tokens
        self.decodes = False


class Decoders:
    """Invariant: a row's `cached` and `produced` are those of the moment it was last started or stopped."""

    def __init__(self, block_size: int) -> None:
        self.count = 0
        self._offsets = 0
        self._block_size = block_size
        self._needing = [0] * block_size  # rows that need a block in a step, by its number modulo the block size
        self._ending: defaultdict[int, list[Row]] = defaultdict(list)

    def start(self, row: Row, first_step: int) -> None:
        """It takes in a token in this step, and in every step until its answer is complete."""
        row.offset = row.cached + 1 - first_step
        row.last_step = first_step + row.request.output_tokens - row.produced - 1
        self._count(row, 1)
        self._ending[row.last_step].append(row)

    def interrupt(self, row: Row, step: int) -> None:
        """It takes no part in this step."""
        self._ending[row.last_step].remove(row)
        row.cached = row.offset + step - 1
        row.produced = row.request.output_tokens - (row.last_step - step + 1)
        self._count(row, -1)

    def end(self, step: int) -> list[Row]:
        """Those for whom this step was the last: each is now to be given its last token."""
        ending = self._ending.pop(step, [])
        for row in ending:
            row.cached = row.offset + step
            row.produced = row.request.output_tokens - 1
            self._count(row, -1)
        return ending

    def cached_tokens(self, step: int) -> int:
        """Tokens that all of them have in the cache, those of this step included."""
        return self._offsets + self.count * step

    def needing_block(self, step: int) -> int:
        """How many need a fresh block for this step's token."""
        return self._needing[step % self._block_size]

    def needs_block(self, row: Row, step: int) -> bool:
        """Whether its blocks are full before this step's token."""
        return (row.offset + step - 1) % self._block_size == 0

    def _count(self, row: Row, change: int) -> None:
        row.decodes = change > 0
        self.count += change
        self._offsets += change * row.offset
        self._needing[(1 - row.offset) % self._block_size] += change
