"""Right allocators as learners write them, which have nothing in common with ours."""

from __future__ import annotations

from typing import Any


class Naive:
    """Plain lists, no owners counted: what is held is looked up in the tables."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.tables: dict[Any, list[int]] = {}
        self.lengths: dict[Any, int] = {}
        self.free_blocks: Any = list(range(num_blocks))

    def table(self, request: Any) -> list[int]:
        return self.tables[request]

    def num_tokens(self, request: Any) -> int:
        return self.lengths[request]

    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return self.blocks_for(len(tokens)) <= len(self.free_blocks)

    def can_append(self, request: Any) -> bool:
        return bool(self.free_blocks) or not self.needs_block(request)

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> Any:
        self.check_new(request)
        if not self.can_allocate(tokens):
            raise RuntimeError("there are too few free blocks")
        self.tables[request] = [self.take() for _ in range(self.blocks_for(len(tokens)))]
        self.lengths[request] = len(tokens)
        tokens.clear()  # it was given this list, and may do with it what it likes

    def append(self, request: Any, token: int) -> Any:
        table = self.tables[request]
        if not self.can_append(request):
            raise RuntimeError("no block is free")
        if self.lengths[request] % self.block_size == 0:
            table.append(self.take())
        elif self.is_shared(table[-1]):
            table[-1] = self.take()
        self.lengths[request] += 1

    def fork(self, parent: Any, child: Any) -> None:
        self.check_new(child)
        self.tables[child] = list(self.tables[parent])
        self.lengths[child] = self.lengths[parent]

    def free(self, request: Any) -> None:
        table = self.tables.pop(request)
        del self.lengths[request]
        self.free_blocks += [block for block in table if not any(block in other for other in self.tables.values())]

    def blocks_for(self, tokens: int) -> int:
        return (tokens + self.block_size - 1) // self.block_size

    def is_shared(self, block: int) -> bool:
        return sum(block in table for table in self.tables.values()) > 1

    def needs_block(self, request: Any) -> bool:
        return self.lengths[request] % self.block_size == 0 or self.is_shared(self.tables[request][-1])

    def take(self) -> int:
        return int(self.free_blocks.pop(0))

    def check_new(self, request: Any) -> None:
        if request in self.tables:
            raise ValueError(f"{request} has a table")


class Caching(Naive):
    """Naive, with a prefix cache: a dict from whole prefixes to blocks."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.prefixes: dict[Any, int] = {}

    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        found = self.found(tokens, key)
        free = [block for block in self.free_blocks if block not in found]
        return self.blocks_for(len(tokens)) - len(found) <= len(free)

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> int:
        self.check_new(request)
        if not self.can_allocate(tokens, key):
            raise RuntimeError("there are too few free blocks")
        found = self.found(tokens, key)
        self.free_blocks = [block for block in self.free_blocks if block not in found]
        table = [*found, *(self.take() for _ in range(self.blocks_for(len(tokens)) - len(found)))]
        for place in range(len(tokens) // self.block_size):
            self.prefixes.setdefault(self.prefix(tokens, place, key), table[place])
        self.tables[request], self.lengths[request] = table, len(tokens)
        return len(found) * self.block_size

    def take(self) -> int:
        block = super().take()
        self.prefixes = {prefix: held for prefix, held in self.prefixes.items() if held != block}
        return block

    def found(self, tokens: list[int], key: Any) -> list[int]:
        found: list[int] = []
        while (len(found) + 1) * self.block_size < len(tokens):
            block = self.prefixes.get(self.prefix(tokens, len(found), key))
            if block is None:
                break
            found.append(block)
        return found

    def prefix(self, tokens: list[int], place: int, key: Any) -> Any:
        return key, *tokens[: (place + 1) * self.block_size]


class Counting:
    """Owners are counted, a stack of blocks is free, only their number is told; no can_x, and a look-up is a refusal."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self._size = block_size
        self._stack = list(reversed(range(num_blocks)))
        self._owners = [0] * num_blocks
        self._requests: dict[Any, tuple[list[int], list[int]]] = {}

    def free_blocks(self) -> int:
        return len(self._stack)

    def table(self, request: Any) -> tuple[int, ...]:
        return tuple(self._requests[request][0])

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> list[int]:
        assert request not in self._requests
        count = len(range(0, len(tokens), self._size))
        assert count <= len(self._stack), "full"
        blocks = [self._new() for _ in range(count)]
        self._requests[request] = (blocks, tokens)
        return blocks

    def append(self, request: Any, token: int) -> tuple[int, int]:
        blocks, tokens = self._requests[request]
        offset = len(tokens) % self._size
        if offset == 0:
            blocks.append(self._new())
        elif self._owners[blocks[-1]] > 1:
            new = self._new()
            self._owners[blocks[-1]] -= 1
            blocks[-1] = new
        tokens.append(token)
        return blocks[-1], offset

    def fork(self, parent: Any, child: Any) -> None:
        blocks, tokens = self._requests[parent]
        if child in self._requests:
            raise KeyError(child)
        for block in blocks:
            self._owners[block] += 1
        self._requests[child] = (blocks[:], tokens[:])

    def free(self, request: Any) -> None:
        for block in self._requests.pop(request)[0]:
            self._owners[block] -= 1
            if not self._owners[block]:
                self._stack.append(block)

    def _new(self) -> int:
        block = self._stack.pop()
        self._owners[block] += 1
        return block
