"""What the allocator does, slowly and obviously: lists searched from end to end, prefixes spelt out instead of hashed.

It shares no code with llmserving.paging. A method returns None where there is no room, and changes nothing then.
"""

from __future__ import annotations

from typing import Any


class Specification:
    def __init__(self, num_blocks: int, block_size: int, caching: bool) -> None:
        self.block_size, self.caching = block_size, caching
        self.free_list = list(range(num_blocks))
        self.tables: dict[Any, list[int]] = {}
        self.contents: dict[Any, list[int]] = {}
        self.keys: dict[Any, Any] = {}
        self.cached: dict[int, tuple[Any, ...]] = {}  # block -> key and whole prefix, in the order of caching

    def owners(self, block: int) -> int:
        return sum(block in table for table in self.tables.values())

    def found(self, tokens: list[int], key: Any) -> list[int]:
        blocks: list[int] = []
        for end in range(self.block_size, len(tokens), self.block_size):  # never the last token
            hits = [block for block, prefix in self.cached.items() if prefix == (key, *tokens[:end])]
            if not hits:
                break
            blocks.append(hits[0])
        return blocks

    def allocate(self, request: Any, tokens: list[int], key: Any) -> int | None:
        found = self.found(tokens, key)
        free = [block for block in self.free_list if block not in found]
        fresh = (len(tokens) + self.block_size - 1) // self.block_size - len(found)
        if fresh > len(free):
            return None
        for block in free[:fresh]:
            self.cached.pop(block, None)
        self.free_list = free[fresh:]
        self.tables[request], self.keys[request] = found + free[:fresh], key
        self.contents[request] = list(tokens)
        for position in range(len(found), len(tokens) // self.block_size):
            self._cache(request, position)
        return len(found) * self.block_size

    def append(self, request: Any, token: int) -> tuple[int, int, int | None] | None:
        table, content = self.tables[request], self.contents[request]
        offset = len(content) % self.block_size
        shared = offset > 0 and self.owners(table[-1]) > 1
        source = table[-1] if shared else None
        if offset == 0 or shared:
            if not self.free_list:
                return None
            fresh = self.free_list.pop(0)
            self.cached.pop(fresh, None)
            self.tables[request] = [*(table[:-1] if shared else table), fresh]
        content.append(token)
        if offset == self.block_size - 1:
            self._cache(request, len(content) // self.block_size - 1)
        return self.tables[request][-1], offset, source

    def fork(self, parent: Any, child: Any) -> None:
        self.tables[child], self.keys[child] = list(self.tables[parent]), self.keys[parent]
        self.contents[child] = list(self.contents[parent])

    def free(self, request: Any) -> None:
        table = self.tables.pop(request)
        del self.contents[request], self.keys[request]
        freed = [block for block in reversed(table) if self.owners(block) == 0]
        nothing_in_them = [block for block in freed if block not in self.cached]
        self.free_list = nothing_in_them + self.free_list + [block for block in freed if block in self.cached]

    def reset(self) -> bool:
        if self.tables:
            return False
        self.cached = {}
        return True

    def _cache(self, request: Any, position: int) -> None:
        if self.caching:
            prefix = self.contents[request][: (position + 1) * self.block_size]
            self.cached[self.tables[request][position]] = (self.keys[request], *prefix)
