"""Allocators that are wrong, one way each: what they break, in which script, at which operation, and what is said."""

from __future__ import annotations

from typing import Any

from llmserving.paging import (
    BLOCK_BY_BLOCK,
    FORK_AND_COPY,
    FULL_POOL,
    HIT_ON_FREE_BLOCKS,
    MISUSE,
    SHARED_PREFIX,
    WHOLE_PROMPT_CACHED,
    PagedAllocator,
    PrefixCache,
    allocate,
    append,
    block_hash,
    free,
)
from llmserving.paging.prefix_cache import ROOT

from tests.lib.allocators import Caching, Counting, Naive


class Pops(Naive):
    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> None:
        self.check_new(request)
        self.tables[request] = [self.take() for _ in range(self.blocks_for(len(tokens)))]  # stops in the middle
        self.lengths[request] = len(tokens)


class EntersAndRefuses(Naive):
    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> None:
        self.check_new(request)
        self.tables[request] = [0]
        if not self.can_allocate(tokens):
            raise RuntimeError("there are too few free blocks")
        self.tables.pop(request)
        super().allocate(request, tokens, key)


class RefusesAtNone(Naive):
    def can_append(self, request: Any) -> bool:
        return bool(self.free_blocks)


class KeepsOneBack(Naive):
    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return self.blocks_for(len(tokens)) < len(self.free_blocks)


class FreesTwice(Naive):
    def free(self, request: Any) -> None:
        if request in self.tables:
            super().free(request)


class Revives(Naive):
    def append(self, request: Any, token: int) -> None:
        if request in self.tables:
            super().append(request, token)
        else:
            super().allocate(request, [token])


class Overwrites(Naive):
    def check_new(self, request: Any) -> None:
        pass


class FromOne(Naive):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_blocks = list(range(1, num_blocks + 1))


class CountsFromOne(Counting):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks + 1, block_size)
        self._stack.pop()


class SameList(Naive):
    def fork(self, parent: Any, child: Any) -> None:
        self.check_new(child)
        self.tables[child] = self.tables[parent]
        self.lengths[child] = self.lengths[parent]


class KeepsTable(Naive):
    def free(self, request: Any) -> None:
        self.free_blocks += [block for block in self.tables[request] if not self.is_shared(block)]


class CopiesAtFork(Naive):
    def fork(self, parent: Any, child: Any) -> None:
        super().fork(parent, child)
        self.tables[child] = [self.take() for _ in self.tables[parent]]


class NeverCopies(Naive):
    def needs_block(self, request: Any) -> bool:
        return self.lengths[request] % self.block_size == 0

    def append(self, request: Any, token: int) -> None:
        if self.needs_block(request):
            self.tables[request].append(self.take())
        self.lengths[request] += 1


class AlwaysCopies(Naive):
    def is_shared(self, block: int) -> bool:
        return True

    def append(self, request: Any, token: int) -> None:
        before = self.tables[request][-1]
        super().append(request, token)
        if before not in self.tables[request] and not any(before in table for table in self.tables.values()):
            self.free_blocks.append(before)


class TakesEarly(Naive):
    def blocks_for(self, tokens: int) -> int:
        return tokens // self.block_size + 1


class TakesLate(Naive):
    def append(self, request: Any, token: int) -> None:
        if self.lengths[request] % self.block_size == 1:
            self.tables[request].append(self.take())
        self.lengths[request] += 1


class PeeksAndCounts(Counting):
    """Hands out the same block again and again; only the count goes down."""

    def _new(self) -> int:
        self._stack.pop()
        return 0


class PeeksAtTheList(Naive):
    def take(self) -> int:
        return int(self.free_blocks[0])

    def blocks_for(self, tokens: int) -> int:
        return 1


class FreesShared(Naive):
    def free(self, request: Any) -> None:
        self.free_blocks += self.tables.pop(request)
        del self.lengths[request]


class FreesTheLastTwice(Naive):
    def free(self, request: Any) -> None:
        last = self.tables[request][-1]
        super().free(request)
        self.free_blocks.append(last)


class ForgetsTheLast(Naive):
    def free(self, request: Any) -> None:
        self.tables[request].pop()
        super().free(request)


class CountsOneLess(Counting):
    def free(self, request: Any) -> None:
        super().free(request)
        self._stack.pop()


class CountsBadly(Naive):
    def num_tokens(self, request: Any) -> int:
        return len(self.tables[request]) * self.block_size


class SaysYes(Naive):
    def can_append(self, request: Any) -> bool:
        return True

    def take(self) -> int:
        if not self.free_blocks:
            raise RuntimeError("no block is free")
        return super().take()


class SaysNo(Naive):
    def can_append(self, request: Any) -> bool:
        return False

    def append(self, request: Any, token: int) -> None:
        table = self.tables[request]
        if self.lengths[request] % self.block_size == 0:
            table.append(self.take())
        self.lengths[request] += 1


class LooksAndTakes(Naive):
    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return len([self.take() for _ in range(self.blocks_for(len(tokens)))]) > 0


class HitsWholePrompts(PagedAllocator):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size, prefix_caching=True)

    def _found(self, token_ids: Any, hashes: Any) -> list[int]:
        return self._cache.find(hashes)


class ForgetsTheParent(PagedAllocator):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self._cache = NoParent(self.block_size, enabled=True)


class NoParent(PrefixCache):
    def hashes(self, tokens: Any, key: Any = None) -> Any:
        for start in range(0, len(tokens) - self.block_size + 1, self.block_size):
            yield block_hash(ROOT, tokens[start : start + self.block_size], key)


class ForgetsTheKey(PagedAllocator):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size, prefix_caching=True)

    def allocate(self, request_id: Any, token_ids: Any, key: Any = None) -> int:
        return super().allocate(request_id, token_ids)


class NeverEvicts(PagedAllocator):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size, prefix_caching=True)

    def _take(self, count: int) -> list[int]:
        return self._pool.take(count)


class SharesInSilence(PagedAllocator):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size, prefix_caching=True)

    def allocate(self, request_id: Any, token_ids: Any, key: Any = None) -> Any:
        super().allocate(request_id, token_ids, key)


class CopiesTheTable(Naive):
    """Copy-on-write of all of the table, though nothing is written into its full blocks."""

    def append(self, request: Any, token: int) -> None:
        table = self.tables[request]
        if self.lengths[request] % self.block_size and self.is_shared(table[-1]):
            self.tables[request] = [self.take() for _ in table]
            self.lengths[request] += 1
        else:
            super().append(request, token)


class CountsHitsAsFree(Caching):
    """A free block that is found counts as room for the rest of the prompt too."""

    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return self.blocks_for(len(tokens)) - len(self.found(tokens, key)) <= len(self.free_blocks)


class LeavesHitsFree(Caching):
    """A free block that is found stays in the free list. `first`: from which end of it blocks are given out."""

    first = 0

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> int:
        free = list(self.free_blocks)
        found = super().allocate(request, tokens, key)
        table = self.tables[request]
        hits = table[: found // self.block_size]
        fresh = [free.pop(self.first) for _ in table[len(hits) :]]
        self.tables[request], self.free_blocks = hits + fresh, free
        return found


class LeavesHitsFreeAtTheBack(LeavesHitsFree):
    def free(self, request: Any) -> None:
        free = list(self.free_blocks)
        super().free(request)
        self.free_blocks = [block for block in self.free_blocks if block not in free] + free
        self.free_blocks.sort(key=lambda block: block in self.prefixes.values())


class SaysNoRoom(Naive):
    """Refuses by what it returns."""

    answer: Any = False

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> Any:
        if request in self.tables or not self.can_allocate(tokens):
            return self.answer
        return super().allocate(request, tokens, key)

    def append(self, request: Any, token: int) -> Any:
        return super().append(request, token) if self.can_append(request) else self.answer


class ReturnsInSilence(SaysNoRoom):
    answer = None


class SaysNoRoomTooSoon(SaysNoRoom):
    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return self.blocks_for(len(tokens)) < len(self.free_blocks)


class ReturnsItsBlocks(Naive):
    """Takes what allocate returns for the number of blocks."""

    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> int:
        super().allocate(request, tokens, key)
        return len(self.tables[request])


class ReturnsItsTokens(Naive):
    def allocate(self, request: Any, tokens: list[int], key: Any = None) -> int:
        count = len(tokens)
        super().allocate(request, tokens, key)
        return count


class InFront(Naive):
    def append(self, request: Any, token: int) -> None:
        before = list(self.tables[request])
        super().append(request, token)
        if len(self.tables[request]) > len(before):
            self.tables[request].insert(0, self.tables[request].pop())


WRONG: list[tuple[str, Any, Any, int, str]] = [
    ("refusal", Pops, [allocate("a", range(13)), allocate("b", range(8))], 2,
     "it was refused and yet changed the free blocks from 1 to 0: block 4 is free no more"),
    ("refusal", EntersAndRefuses, FULL_POOL, 3, "it was refused and yet changed the table of 'c'"),
    ("needless refusal", RefusesAtNone, FULL_POOL, 5,
     "it was refused (no block is free), although it needs no block"),
    ("needless refusal", KeepsOneBack, FULL_POOL, 2,
     "it was refused (there are too few free blocks), although 2 blocks are free and 2 are enough"),
    ("double free", FreesTwice, [allocate("a", [1]), free("a"), free("a")], 3,
     "'a' was freed already, and free did not refuse"),
    ("use after free", Revives, [allocate("a", [1]), free("a"), append("a", 2)], 3,
     "'a' was freed already, and append did not refuse"),
    ("unknown name", FreesTwice, MISUSE, 6, "'x' never had a table, and free did not refuse"),
    ("taken name", Overwrites, MISUSE, 2, "'a' has a table already, and allocate did not refuse the name"),
    ("no such block", FromOne, FORK_AND_COPY, 0, "Before operation 1: block 0 is not free; the pool has 0 to 7."),
    ("no such block", CountsFromOne, BLOCK_BY_BLOCK, 9,
     "block 6 in the table of 'a' does not exist; the pool has 0 to 5"),
    ("other table", SameList, FORK_AND_COPY, 3,
     "the table of 'a' changed too, from [0, 1] to [0, 2]; this is no matter of 'a'"),
    ("stale table", KeepsTable, FORK_AND_COPY, 7, "'a' has no tokens any more and still has the table [0, 1]"),
    ("fork", CopiesAtFork, FORK_AND_COPY, 2,
     "the table of 'b' is [2, 3]; it shares that of 'a', [0, 1], and takes no block"),
    ("copy-on-write", NeverCopies, FORK_AND_COPY, 3,
     "Operation 3, append to 'b': block 1 was written while 'a' still reads it; copy it first "
     "(copy-on-write)."),
    ("handed out twice", PeeksAndCounts, [allocate("a", [1]), allocate("b", [1])], 2,
     "block 0 belongs to 'a' and was given to 'b' too; if it was found in a prefix cache"),
    ("handed out twice", SharesInSilence, SHARED_PREFIX, 2, "allocate returns how many tokens were"),
    ("needless copy", AlwaysCopies, FORK_AND_COPY, 4,
     "block 1 was replaced by block 3, and 'a' was its only owner: it writes in place"),
    ("needless copy", CopiesTheTable, FORK_AND_COPY, 3,
     "block 0 was replaced by block 2, and is full: nothing is written into it any more"),
    ("refusal", CountsHitsAsFree, HIT_ON_FREE_BLOCKS, 4,
     "it was refused and yet changed the free blocks from 3 to 0"),
    ("twice", LeavesHitsFree, HIT_ON_FREE_BLOCKS, 6,
     "block 0 is in the table of 'b' twice: it was found in the prefix cache, and taken from the free list as a fresh "
     "block too; a free block that is found leaves the free list first"),
    ("free while held", LeavesHitsFreeAtTheBack, [allocate("a", range(8)), free("a"), allocate("b", range(12))], 3,
     "block 0 was found in the prefix cache, and is in the free list still, while 'b' holds it; a free block that is "
     "found leaves the free list"),
    ("refusal", SaysNoRoom, FULL_POOL, 3, "Operation 3, allocate 'c': 0 blocks are free and 2 are needed, and allocate "
     "returned False and did nothing; a refusal is a raised exception, such as NoFreeBlocksError."),
    ("refusal", ReturnsInSilence, FULL_POOL, 3, "and allocate returned None and did nothing; a refusal is a raised exception"),
    ("refusal", SaysNoRoom, [allocate("a", range(20)), append("a", 1)], 2,
     "0 blocks are free and 1 is needed, and append returned False and did nothing; a refusal is a raised exception"),
    ("needless refusal", SaysNoRoomTooSoon, FULL_POOL, 2, "allocate returned False and did nothing, although 2 blocks are "
     "free and 2 are enough; and a refusal is a raised exception, such as NoFreeBlocksError"),
    ("taken name", SaysNoRoom, [allocate("a", [1]), allocate("a", [1])], 2,
     "'a' has a table already, and allocate did not refuse the name; it should raise an exception"),
    ("wrong hit", ReturnsItsBlocks, FORK_AND_COPY, 1, "allocate returned 2, so 2 tokens are said to be cached, but block 0 "
     "does not hold token number 1 after the same prefix under the same key; without a prefix cache, return None or 0"),
    ("full hit", ReturnsItsTokens, FORK_AND_COPY, 1, "allocate returned 6, and what it returns is how many tokens it found "
     "cached, at most all but the last"),
    ("boundary", TakesEarly, [allocate("a", range(4))], 1, "the table has 2 blocks for 4 tokens; 1 is enough"),
    ("boundary", TakesLate, BLOCK_BY_BLOCK, 3, "the table has 1 block for 5 tokens; 2 are needed"),
    ("full hit", HitsWholePrompts, WHOLE_PROMPT_CACHED, 2,
     "the whole prompt was found in the cache, so nothing is left to compute a logit from"),
    ("twice", FreesTheLastTwice, FULL_POOL, 6, "block 1 is in the free list twice"),
    ("free while held", FreesShared, FORK_AND_COPY, 7,
     "block 0 is in the free list while 'b' holds it; it would be given out"),
    ("free while held", PeeksAtTheList, [allocate("a", [1])], 1, "block 0 is in the free list while 'a' holds it"),
    ("leak", ForgetsTheLast, FULL_POOL, 6,
     "Operation 6, free 'a': block 1 is in no table and not free: it has leaked."),
    ("count", CountsOneLess, FULL_POOL, 6, "Operation 6, free 'a': 1 block is free and 2 in tables, of 4."),
    ("num_tokens", CountsBadly, FORK_AND_COPY, 1, "num_tokens says 8 for 'a', which has 6 tokens"),
    ("can", SaysYes, FULL_POOL, 4, "can_append said yes, and append refused"),
    ("can", SaysNo, BLOCK_BY_BLOCK, 2, "can_append said no, and append went through"),
    ("can", LooksAndTakes, FULL_POOL, 1,
     "can_allocate changed the free blocks from 4 to 2: block 0 is free no more, and it should only look"),
    ("wrong hit", ForgetsTheParent, WHOLE_PROMPT_CACHED, 6,
     "4 tokens are said to be cached, but block 1 does not hold token number 1 after the same prefix"),
    ("wrong hit", ForgetsTheKey, WHOLE_PROMPT_CACHED, 5,
     "4 tokens are said to be cached, but block 0 does not hold token number 1 after the same prefix "
     "under the same key"),
    ("wrong hit", NeverEvicts, WHOLE_PROMPT_CACHED, 11, "tokens are said to be cached"),
    ("read back", InFront, BLOCK_BY_BLOCK, 3,
     "'a' does not read back its own tokens: its token number 1 should be in block 1, slot 1 of 4, and "
     "something else is there"),
]  # fmt: skip
