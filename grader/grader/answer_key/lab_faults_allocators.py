"""The allocators of the fault lab, mended in two ways each, and wrongly. None uses anything from around it but its base."""

from __future__ import annotations

from typing import Any

from llmserving.faults import Ash, Birch, Cedar


class AshFreed(Ash):
    def free(self, request: Any) -> None:
        table = self.tables.pop(request)
        self.free_blocks += [block for block in table if self.holders(block) == 0]
        del self.lengths[request]


class AshFreedOtherwise(Ash):
    def free(self, request: Any) -> None:
        others = [table for name, table in self.tables.items() if name != request]
        for block in self.tables[request]:
            if not any(block in other for other in others):
                self.free_blocks.append(block)
        del self.tables[request], self.lengths[request]


class AshNotTwice(Ash):
    def free(self, request: Any) -> None:
        self.free_blocks += [block for block in self.tables.pop(request) if block not in self.free_blocks]
        del self.lengths[request]


class AshCountsItself(Ash):
    def free(self, request: Any) -> None:
        self.free_blocks += [block for block in self.tables[request] if self.holders(block) == 0]
        del self.tables[request], self.lengths[request]


class AshTableLeft(Ash):
    def free(self, request: Any) -> None:
        self.free_blocks += [block for block in self.tables[request] if self.holders(block) == 1]


class AshAllOrNothing(Ash):
    def free(self, request: Any) -> None:
        table = self.tables.pop(request)
        if all(self.holders(block) == 0 for block in table):
            self.free_blocks += table
        del self.lengths[request]


class AshNoSharing(Ash):
    def fork(self, parent: Any, child: Any) -> None:
        if child in self.tables:
            raise ValueError(f"{child} has a table already")
        if len(self.tables[parent]) > len(self.free_blocks):
            raise RuntimeError("too few blocks are free")
        self.tables[child] = [self.free_blocks.pop(0) for _ in self.tables[parent]]
        self.lengths[child] = self.lengths[parent]


class BirchInTime(Birch):
    def append(self, request: Any, token: int) -> None:
        if self.lengths[request] % self.block_size == 0:
            self.tables[request] += self.take(1)
        self.lengths[request] += 1


class BirchInTimeOtherwise(Birch):
    def append(self, request: Any, token: int) -> None:
        length = self.lengths[request] + 1
        if length > len(self.tables[request]) * self.block_size:
            self.tables[request] = [*self.tables[request], *self.take(1)]
        self.lengths[request] = length


class BirchLate(Birch):
    def append(self, request: Any, token: int) -> None:
        self.lengths[request] += 1
        if self.lengths[request] % self.block_size == 2:
            self.tables[request] += self.take(1)


class BirchEarly(Birch):
    def append(self, request: Any, token: int) -> None:
        if (self.lengths[request] + 1) % self.block_size == 0:
            self.tables[request] += self.take(1)
        self.lengths[request] += 1


class BirchBoth(Birch):
    def append(self, request: Any, token: int) -> None:
        if self.lengths[request] % self.block_size in (0, 1):
            self.tables[request] += self.take(1)
        self.lengths[request] += 1


class BirchEveryToken(Birch):
    def append(self, request: Any, token: int) -> None:
        self.tables[request] += self.take(1)
        self.lengths[request] += 1


class BirchCountsFirst(Birch):
    def append(self, request: Any, token: int) -> None:
        self.lengths[request] += 1
        if self.lengths[request] % self.block_size == 1:
            self.tables[request] += self.take(1)


class CedarShown(Cedar):
    def append(self, request: Any, token: int) -> None:
        blocks = self.blocks[request]
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
        elif self.holders[blocks[-1]] > 1:
            fresh = self.take()
            self.holders[blocks[-1]] -= 1
            blocks[-1] = fresh
        self.on_gpu[request] = tuple(blocks)
        self.lengths[request] += 1


class CedarReadAtTheSource(Cedar):
    def table(self, request: Any) -> tuple[int, ...]:
        return tuple(self.blocks[request])


class CedarStale(Cedar):
    def append(self, request: Any, token: int) -> None:
        blocks = self.blocks[request]
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
        elif self.holders[blocks[-1]] > 1:
            fresh = self.take()
            self.holders[blocks[-1]] -= 1
            blocks[-1] = fresh
        if len(blocks) > len(self.on_gpu[request]):
            self.on_gpu[request] = tuple(blocks)
        self.lengths[request] += 1


class CedarInPlace(Cedar):
    def append(self, request: Any, token: int) -> None:
        if self.lengths[request] % self.block_size == 0:
            self.blocks[request].append(self.take())
            self.on_gpu[request] = tuple(self.blocks[request])
        self.lengths[request] += 1


class CedarSourceBack(Cedar):
    def append(self, request: Any, token: int) -> None:
        blocks = self.blocks[request]
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
        elif self.holders[blocks[-1]] > 1:
            fresh = self.take()
            self.free_blocks.append(blocks[-1])
            blocks[-1] = fresh
        self.on_gpu[request] = tuple(blocks)
        self.lengths[request] += 1


class CedarShownBefore(Cedar):
    def append(self, request: Any, token: int) -> None:
        blocks = self.blocks[request]
        self.on_gpu[request] = tuple(blocks)
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
        elif self.holders[blocks[-1]] > 1:
            fresh = self.take()
            self.holders[blocks[-1]] -= 1
            blocks[-1] = fresh
        self.lengths[request] += 1


class CedarCopiesAlone(Cedar):
    def append(self, request: Any, token: int) -> None:
        blocks = self.blocks[request]
        if self.lengths[request] % self.block_size == 0:
            blocks.append(self.take())
        else:
            fresh, before = self.take(), blocks[-1]
            self.holders[before] -= 1
            if self.holders[before] == 0:
                self.free_blocks.append(before)
            blocks[-1] = fresh
        self.on_gpu[request] = tuple(blocks)
        self.lengths[request] += 1
