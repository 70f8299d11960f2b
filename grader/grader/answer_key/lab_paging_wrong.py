"""Allocators as learners write them, wrong in one way each. None uses anything from around it but its base."""

from __future__ import annotations

from grader.answer_key.lab_paging_written import PagedKV


class TakesEarly(PagedKV):
    def blocks_for(self, num_tokens: int) -> int:
        return num_tokens // self.block_size + 1

    def append(self, request: object, token: int) -> None:
        table = self.tables[request]
        if self.is_shared(table[-1]):
            table[-1] = self.take()
        self.lengths[request] += 1
        if self.is_full(request):
            table.append(self.take())


class TakesLate(PagedKV):
    def is_full(self, request: object) -> bool:
        return self.lengths[request] % self.block_size == 1


class RoundsDown(PagedKV):
    def blocks_for(self, num_tokens: int) -> int:
        return max(1, num_tokens // self.block_size)


class LeaksTheTail(PagedKV):
    def free(self, request: object) -> None:
        if not self.is_full(request):
            self.tables[request].pop()
        super().free(request)


class WritesInPlace(PagedKV):
    def is_shared(self, block: int) -> bool:
        return False


class CopiesAtFork(PagedKV):
    def fork(self, parent: object, child: object) -> None:
        self.refuse_taken(child)
        self.tables[child] = [self.take() for _ in self.tables[parent]]
        self.lengths[child] = self.lengths[parent]


class SharesTheList(PagedKV):
    def fork(self, parent: object, child: object) -> None:
        self.refuse_taken(child)
        self.tables[child] = self.tables[parent]
        self.lengths[child] = self.lengths[parent]


class CopiesAlways(PagedKV):
    def append(self, request: object, token: int) -> None:
        table = self.tables[request]
        alone = not self.is_shared(table[-1])
        before = table[-1]
        if self.is_full(request):
            table.append(self.take())
        else:
            table[-1] = self.take()
            if alone:
                self.free_blocks.append(before)
        self.lengths[request] += 1


class CopiesTheTable(PagedKV):
    def append(self, request: object, token: int) -> None:
        table = self.tables[request]
        if self.is_full(request):
            table.append(self.take())
        elif self.is_shared(table[-1]):
            self.tables[request] = [self.take() for _ in table]
        self.lengths[request] += 1


class FreesShared(PagedKV):
    def free(self, request: object) -> None:
        self.free_blocks += self.tables.pop(request)
        del self.lengths[request]


class TakesBeforeLooking(PagedKV):
    def allocate(self, request: object, tokens: list[int]) -> None:
        self.refuse_taken(request)
        table = []
        for _ in range(self.blocks_for(len(tokens))):
            table.append(self.take())
        self.tables[request] = table
        self.lengths[request] = len(tokens)


class TakesAnyName(PagedKV):
    def refuse_taken(self, request: object) -> None:
        pass
