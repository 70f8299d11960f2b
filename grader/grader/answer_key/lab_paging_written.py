"""Allocators as learners write them: right in two forms. None uses anything from around it."""

from __future__ import annotations


class PagedKV:
    """Plain lists; what is shared is looked up in the tables."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables: dict[object, list[int]] = {}
        self.lengths: dict[object, int] = {}

    def table(self, request: object) -> list[int]:
        return self.tables[request]

    def blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def refuse_taken(self, request: object) -> None:
        if request in self.tables:
            raise ValueError(f"{request} has a table already")

    def is_shared(self, block: int) -> bool:
        return sum(block in table for table in self.tables.values()) > 1

    def is_full(self, request: object) -> bool:
        return self.lengths[request] % self.block_size == 0

    def take(self) -> int:
        if not self.free_blocks:
            raise RuntimeError("no block is free")
        return self.free_blocks.pop(0)

    def allocate(self, request: object, tokens: list[int]) -> None:
        self.refuse_taken(request)
        needed = self.blocks_for(len(tokens))
        if needed > len(self.free_blocks):
            raise RuntimeError("there are too few free blocks")
        self.tables[request] = [self.take() for _ in range(needed)]
        self.lengths[request] = len(tokens)

    def append(self, request: object, token: int) -> None:
        table = self.tables[request]
        if self.is_full(request):
            table.append(self.take())
        elif self.is_shared(table[-1]):
            table[-1] = self.take()
        self.lengths[request] += 1

    def fork(self, parent: object, child: object) -> None:
        self.refuse_taken(child)
        self.tables[child] = list(self.tables[parent])
        self.lengths[child] = self.lengths[parent]

    def free(self, request: object) -> None:
        table = self.tables.pop(request)
        del self.lengths[request]
        held = {block for other in self.tables.values() for block in other}
        self.free_blocks += [block for block in table if block not in held]


class Counted:
    """Owners are counted, a set of blocks is free, and the tokens are kept instead of their number."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.size = block_size
        self.owners = [0] * num_blocks
        self.held: dict[object, tuple[list[int], list[int]]] = {}

    @property
    def free_blocks(self) -> set[int]:
        return {block for block, owners in enumerate(self.owners) if owners == 0}

    def table(self, request: object) -> tuple[int, ...]:
        return tuple(self.held[request][0])

    def allocate(self, request: object, tokens: list[int]) -> None:
        assert request not in self.held
        needed = len(range(0, len(tokens), self.size))
        found = sorted(self.free_blocks, reverse=True)[:needed]
        assert len(found) == needed, "too few blocks are free"
        for block in found:
            self.owners[block] = 1
        self.held[request] = (found, list(tokens))

    def append(self, request: object, token: int) -> None:
        blocks, tokens = self.held[request]
        place = len(tokens) // self.size
        if place == len(blocks) or self.owners[blocks[place]] > 1:
            fresh = max(self.free_blocks, default=None)
            if fresh is None:
                raise MemoryError("every block is in a table")
            self.owners[fresh] = 1
            if place < len(blocks):
                self.owners[blocks[place]] -= 1
            blocks[place:] = [fresh]
        tokens.append(token)

    def fork(self, parent: object, child: object) -> None:
        blocks, tokens = self.held[parent]
        assert child not in self.held
        for block in blocks:
            self.owners[block] += 1
        self.held[child] = (blocks[:], tokens[:])

    def free(self, request: object) -> None:
        for block in self.held.pop(request)[0]:
            self.owners[block] -= 1
