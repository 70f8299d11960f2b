"""A model of the memory behind the block numbers, to find out whether every request still reads its own tokens.

Token t of a request lies in slot table[t // block_size] * block_size + t % block_size. An entry stands for the keys and
values of one token, as those in `Expected`.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmserving.paging.observation import Observation


class PhysicalMemory:
    """What an engine does that follows the allocator's tables to the letter."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._entries: dict[int, int] = {}  # by slot

    def slot(self, table: Sequence[int], token: int) -> int:
        """Where token number `token` of the request with this table lies."""
        return table[token // self.block_size] * self.block_size + token % self.block_size

    def carry_out(self, seen: Observation, contents: Sequence[int]) -> None:
        """Write what an operation that went through has to write; `contents` are those of its request after it."""
        kind, table = seen.operation.kind, seen.table
        if kind == "append":
            self._copy(seen)
            self._write(table, len(contents) - 1, contents)
        elif kind == "allocate":
            self._write(table, seen.found, contents)

    def misread(self, table: Sequence[int], contents: Sequence[int], first: int = 0) -> int | None:
        """The first token from number `first` on that a request does not read back from its table, None if it reads all."""
        for token in range(first, len(contents)):
            if self._entries.get(self.slot(table, token)) != contents[token]:
                return token
        return None

    def first_moved(self, seen: Observation) -> int:
        """The first token that lies in another block than before the operation, or in one that was written."""
        if seen.operation.kind != "append":
            return 0
        old, new = seen.old_table, seen.table
        full = seen.old_lengths[seen.operation.request] // self.block_size
        if old[:full] != new[:full]:
            full = next(place for place in range(full) if old[place] != new[place])
        return full * self.block_size

    def _write(self, table: Sequence[int], first: int, contents: Sequence[int]) -> None:
        for token in range(first, len(contents)):
            self._entries[self.slot(table, token)] = contents[token]

    def _copy(self, seen: Observation) -> None:
        """The copy of copy-on-write: the last block was replaced while others still hold the old one."""
        old, new = seen.old_table, seen.table
        if len(old) != len(new) or old[-1] == new[-1] or not seen.holders.of(old[-1]):
            return
        for offset in range(self.block_size):
            source, target = old[-1] * self.block_size + offset, new[-1] * self.block_size + offset
            if source in self._entries:
                self._entries[target] = self._entries[source]
