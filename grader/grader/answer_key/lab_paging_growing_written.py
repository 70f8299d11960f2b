"""Allocators that only grow, as learners write them: right in two forms, and wrong in one way each."""

from __future__ import annotations


class GrowingKV:
    """Lists; how many blocks are due is worked out from the tokens."""

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

    def allocate(self, request: object, tokens: list[int]) -> None:
        self.refuse_taken(request)
        needed = self.blocks_for(len(tokens))
        if needed > len(self.free_blocks):
            raise RuntimeError("there are too few free blocks")
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(needed)]
        self.lengths[request] = len(tokens)

    def append(self, request: object, token: int) -> None:
        table = self.tables[request]
        if self.blocks_for(self.lengths[request] + 1) > len(table):
            if not self.free_blocks:
                raise RuntimeError("no block is free")
            table.append(self.free_blocks.pop(0))
        self.lengths[request] += 1

    def free(self, request: object) -> None:
        self.free_blocks += self.tables.pop(request)
        del self.lengths[request]


class BySlots:
    """Blocks with the slots that are left in each, and free blocks as a set."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.size = block_size
        self.free_blocks = set(range(num_blocks))
        self.held: dict[object, list[tuple[int, int]]] = {}

    def table(self, request: object) -> tuple[int, ...]:
        return tuple(block for block, _ in self.held[request])

    def allocate(self, request: object, tokens: list[int]) -> None:
        assert request not in self.held
        pieces = [len(tokens[start : start + self.size]) for start in range(0, len(tokens), self.size)]
        assert len(pieces) <= len(self.free_blocks)
        self.held[request] = [(self.free_blocks.pop(), self.size - piece) for piece in pieces]

    def append(self, request: object, token: int) -> None:
        blocks = self.held[request]
        last, left = blocks[-1]
        if left:
            blocks[-1] = (last, left - 1)
        else:
            blocks.append((self.free_blocks.pop(), self.size - 1))

    def free(self, request: object) -> None:
        self.free_blocks |= {block for block, _ in self.held.pop(request)}


class TakesEarly(GrowingKV):
    def blocks_for(self, num_tokens: int) -> int:
        return num_tokens // self.block_size + 1


class TakesLate(GrowingKV):
    def append(self, request: object, token: int) -> None:
        if self.lengths[request] % self.block_size == 1:
            self.tables[request].append(self.free_blocks.pop(0))
        self.lengths[request] += 1


class CountsFirst(GrowingKV):
    def append(self, request: object, token: int) -> None:
        self.lengths[request] += 1
        if self.lengths[request] % self.block_size == 0:
            self.tables[request].append(self.free_blocks.pop(0))


class RoundsDown(GrowingKV):
    def allocate(self, request: object, tokens: list[int]) -> None:
        self.refuse_taken(request)
        needed = max(1, len(tokens) // self.block_size)
        if needed > len(self.free_blocks):
            raise RuntimeError("there are too few free blocks")
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(needed)]
        self.lengths[request] = len(tokens)


class TakesForEveryToken(GrowingKV):
    def append(self, request: object, token: int) -> None:
        if not self.free_blocks:
            raise RuntimeError("no block is free")
        self.tables[request].append(self.free_blocks.pop(0))
        self.lengths[request] += 1


class NeverGivesBack(GrowingKV):
    def free(self, request: object) -> None:
        del self.tables[request]
        del self.lengths[request]


class GivesBackOne(GrowingKV):
    def free(self, request: object) -> None:
        self.free_blocks.append(self.tables.pop(request)[-1])
        del self.lengths[request]


class KeepsTheTable(GrowingKV):
    def free(self, request: object) -> None:
        self.free_blocks += self.tables[request]


class KeepsTheLength(GrowingKV):
    def append(self, request: object, token: int) -> None:
        if self.lengths[request] % self.block_size == 0:
            self.tables[request].append(self.free_blocks.pop(0))
        self.lengths[request] += 1

    def free(self, request: object) -> None:
        self.free_blocks += self.tables.pop(request)


class FreesAnyName(GrowingKV):
    def free(self, request: object) -> None:
        self.free_blocks += self.tables.pop(request, [])
        self.lengths.pop(request, None)


class TakesBeforeLooking(GrowingKV):
    def allocate(self, request: object, tokens: list[int]) -> None:
        self.refuse_taken(request)
        table = []
        for _ in range(self.blocks_for(len(tokens))):
            table.append(self.free_blocks.pop(0))
        self.tables[request] = table
        self.lengths[request] = len(tokens)


class CountsBeforeLooking(GrowingKV):
    def append(self, request: object, token: int) -> None:
        self.lengths[request] += 1
        if self.blocks_for(self.lengths[request]) > len(self.tables[request]):
            self.tables[request].append(self.free_blocks.pop(0))


class TakesAnyName(GrowingKV):
    def refuse_taken(self, request: object) -> None:
        pass
