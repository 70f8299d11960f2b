"""Whatever is done to it, the allocator keeps its invariants, and every request reads back its own keys and values.

A Hypothesis state machine plays random requests on an allocator, with a memory beside it in which the content of a slot is
what keys and values depend on: the key and all tokens up to there. Allocators with a fault each then show that the checks
can fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from llmserving.events import Event
from llmserving.paging import BlockPool, NoFreeBlocksError, PagedAllocator, UnknownRequestError, Waste, block_hash

from tests.lib.allocator_state import refused, state
from tests.lib.paging_specification import Specification

TOKENS = st.integers(0, 2)  # few, so that prompts share prefixes by chance too
KEYS = st.sampled_from([None, None, "adapter"])


class Machine(RuleBasedStateMachine):
    """One allocator, the specification beside it, a physical memory, and what the log says that the tables are."""

    allocator_class: ClassVar[type[PagedAllocator]] = PagedAllocator
    happened: ClassVar[Counter[str]] = Counter()

    @initialize(
        num_blocks=st.sampled_from([1, 2, 4, 6, 8, 12, 16]),
        block_size=st.integers(1, 5),
        caching=st.sampled_from([True, True, False]),
    )
    def start(self, num_blocks: int, block_size: int, caching: bool) -> None:
        self.log: list[Event] = []
        self.allocator = self.allocator_class(num_blocks, block_size, caching, log=self.log)
        self.specification = Specification(num_blocks, block_size, caching)
        self.memory: dict[tuple[int, int], Any] = {}  # (block, offset) -> key and prefix of the token there
        self.prompts: list[tuple[list[int], Any]] = []
        self.named = 0

    # What is done

    @rule(data=st.data(), fresh=st.lists(TOKENS, min_size=1, max_size=9))
    def allocate(self, data: st.DataObject, fresh: list[int]) -> None:
        """Of four prompts, three begin as an earlier one did."""
        tokens, key = fresh, data.draw(KEYS)
        if self.prompts and data.draw(st.integers(0, 3)) < 3:
            earlier, key = data.draw(st.sampled_from(self.prompts))
            tokens = earlier[: len(earlier) - data.draw(st.integers(0, 3))] + data.draw(st.sampled_from([fresh, []]))
        tokens = tokens or fresh
        request = self.new_name()
        before = state(self.allocator)
        promised, will_find = self.allocator.can_allocate(tokens, key), self.allocator.cached_tokens(tokens, key)
        assert state(self.allocator) == before, "asking changed something"
        expected = self.specification.allocate(request, tokens, key)
        assert promised == (expected is not None), "can_allocate says otherwise than the specification"
        if expected is None:
            self.happened["allocate refused"] += 1
            with refused(self.allocator, NoFreeBlocksError):
                self.allocator.allocate(request, tokens, key)
            return
        found = self.allocator.allocate(request, tokens, key)
        assert found < len(tokens), "nothing is left to compute of a prompt"
        assert found == will_find == expected, "not as much was found as is cached"
        self.prompts.append((tokens, key))
        self.happened["found"] += found > 0
        table, size = self.allocator.table(request), self.allocator.block_size
        for position in range(found, len(tokens)):
            self.write(table[position // size], position % size, (key, *tokens[: position + 1]))

    @precondition(lambda self: self.specification.tables)
    @rule(data=st.data(), tokens=st.lists(TOKENS, min_size=1, max_size=6))
    def append(self, data: st.DataObject, tokens: list[int]) -> None:
        request = self.any_request(data)
        for token in tokens:
            self.append_one(request, token)

    @precondition(lambda self: self.specification.tables)
    @rule(data=st.data(), token=TOKENS)
    def fork(self, data: st.DataObject, token: int) -> None:
        parent, child = self.any_request(data), self.new_name()
        self.allocator.fork(parent, child)
        self.specification.fork(parent, child)
        for request in data.draw(st.sampled_from([[child, parent], [parent, child], [child], []])):
            self.append_one(request, token)

    @precondition(lambda self: self.specification.tables)
    @rule(data=st.data(), all_of_them=st.booleans())
    def free(self, data: st.DataObject, all_of_them: bool) -> None:
        for request in data.draw(st.permutations(list(self.specification.tables)))[: None if all_of_them else 1]:
            self.allocator.free(request)
            self.specification.free(request)
            for call in (self.allocator.free, self.allocator.table, self.allocator.can_append):
                with refused(self.allocator, UnknownRequestError):
                    call(request)

    @rule()
    def reset_prefix_cache(self) -> None:
        before = state(self.allocator)
        expected = self.specification.reset()
        assert self.allocator.reset_prefix_cache() == expected
        assert expected or state(self.allocator) == before

    @rule(data=st.data())
    def refusals(self, data: st.DataObject) -> None:
        unknown = self.new_name()
        for call in (self.allocator.free, self.allocator.table, self.allocator.can_append):
            with refused(self.allocator, UnknownRequestError):
                call(unknown)
        with refused(self.allocator, UnknownRequestError):
            self.allocator.append(unknown, 1)
        with refused(self.allocator, UnknownRequestError):
            self.allocator.fork(unknown, "child")
        with refused(self.allocator, ValueError):
            self.allocator.allocate(unknown, [])
        if self.specification.tables:
            taken = self.any_request(data)
            with refused(self.allocator, ValueError):
                self.allocator.allocate(taken, [1])
            with refused(self.allocator, ValueError):
                self.allocator.fork(taken, taken)

    # What must hold after each step

    @invariant()
    def a_block_is_free_while_no_table_holds_it(self) -> None:  # invariants 1, 2 and 6
        tables = [self.allocator.table(request) for request in self.allocator.requests]
        free = list(self.allocator.free_blocks)
        assert len(set(free)) == len(free), "a block is in the free list twice"
        for block in range(self.allocator.num_blocks):
            holders = sum(table.count(block) for table in tables)
            assert self.allocator.owners(block) == holders, "a block's owners are not the tables that hold it"
            assert (block in free) == (holders == 0), "a block is free and held, or neither"
        assert len(free) + len(set().union(*tables)) == self.allocator.num_blocks

    @invariant()
    def what_can_be_found_is_there(self) -> None:  # invariant 3
        cache, size = self.allocator._cache, self.allocator.block_size
        assert set(cache._hashes) == {block for blocks in cache._blocks.values() for block in blocks}
        for name, blocks in cache._blocks.items():
            for block in blocks:
                assert cache._hashes[block] == name, "a block is found by a hash that is not its own"
                key, *prefix = self.memory[block, size - 1]
                assert chain(prefix, size, key) == name, "a block is found by a hash of other content"

    @invariant()
    def every_request_reads_back_its_own_tokens(self) -> None:
        self.read_back()

    @invariant()
    def a_request_wastes_less_than_a_block(self) -> None:  # invariant 7
        size = self.allocator.block_size
        filled = set()
        for request in self.allocator.requests:
            table, count = self.allocator.table(request), self.allocator.num_tokens(request)
            assert 0 <= len(table) * size - count < size, "a table is longer or shorter than its tokens need"
            filled |= {(table[position // size], position % size) for position in range(count)}
        held = (self.allocator.num_blocks - len(self.allocator.free_blocks)) * size
        waste = self.allocator.waste()
        assert (waste.used, waste.tail) == (len(filled), held - len(filled)), "waste() counts otherwise than the slots"
        assert (waste.reserved, waste.external) == (0, 0)
        assert waste.held + waste.free == self.allocator.num_blocks * size

    @invariant()
    def it_is_as_the_specification_says(self) -> None:
        requests = self.specification.tables
        assert self.allocator.requests == tuple(requests)
        for request, table in requests.items():
            assert self.allocator.num_tokens(request) == len(self.specification.contents[request])
            assert self.allocator.table(request) == tuple(table), "a table is not that of the specification"
        order = "the free list is in another order than in the specification"
        assert list(self.allocator.free_blocks) == self.specification.free_list, order
        assert self.allocator._cache._hashes.keys() == self.specification.cached.keys(), "other blocks are cached"

    @invariant()
    def the_log_tells_it_all(self) -> None:
        tables = replayed(self.log)
        held = {request: list(self.allocator.table(request)) for request in self.allocator.requests}
        assert tables == held, "the log tells of other tables"
        assert not self.log or self.log[-1].free_blocks == len(self.allocator.free_blocks)

    def teardown(self) -> None:
        self.happened.update(event.kind for event in getattr(self, "log", []))

    # Means

    def new_name(self) -> int:
        self.named += 1
        return self.named

    def any_request(self, data: st.DataObject) -> Any:
        return data.draw(st.sampled_from(list(self.specification.tables)))

    def append_one(self, request: Any, token: int) -> None:
        before = state(self.allocator)
        promised = self.allocator.can_append(request)
        assert state(self.allocator) == before, "asking changed something"
        expected = self.specification.append(request, token)
        assert promised == (expected is not None), "can_append says otherwise than the specification"
        if expected is None:
            self.happened["append refused"] += 1
            with refused(self.allocator, NoFreeBlocksError):
                self.allocator.append(request, token)
            return
        slot = self.allocator.append(request, token)
        if slot.copied_from is not None:
            for offset in range(slot.offset):
                self.memory[slot.block, offset] = self.memory.get((slot.copied_from, offset))
        content = self.specification.contents[request]
        self.write(slot.block, slot.offset, (self.specification.keys[request], *content))
        self.read_back()
        assert tuple(slot) == expected, "a token went into another slot than in the specification"

    def write(self, block: int, offset: int, content: Any) -> None:  # invariant 4
        assert self.allocator.owners(block) == 1, "a block with several owners is written"
        self.memory[block, offset] = content

    def read_back(self) -> None:
        size = self.allocator.block_size
        for request, content in self.specification.contents.items():
            table, key = self.allocator.table(request), self.specification.keys[request]
            for position in range(len(content)):
                read = self.memory.get((table[position // size], position % size))
                assert read == (key, *content[: position + 1]), "a request reads what is not its own"


def chain(tokens: Sequence[int], block_size: int, key: Any) -> bytes:
    name = b""
    for start in range(0, len(tokens), block_size):
        name = block_hash(name, tokens[start : start + block_size], key)
    return name


def replayed(log: Iterable[Event]) -> dict[Any, list[int]]:
    """The tables that events alone tell of."""
    tables: dict[Any, list[int]] = {}
    for event in log:
        match event.kind:
            case "allocate" | "fork":
                tables[event.request] = list(event.blocks)
            case "append":
                tables[event.request] += event.blocks
            case "copy":
                assert tables[event.request][-1] == event.source
                tables[event.request][-1:] = event.blocks
            case "free":
                assert tables.pop(event.request) == list(event.blocks)
    return tables


REACHED = (
    "allocate",
    "append",
    "copy",
    "fork",
    "cache",
    "evict",
    "free",
    "found",
    "allocate refused",
    "append refused",
)


def hardly_reached(happened: Counter[str]) -> list[str]:
    return [what for what in REACHED if happened[what] < 5]


SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
STEPS = settings(max_examples=300, stateful_step_count=30, suppress_health_check=SLOW_IS_FINE)
UNTIL_THE_FIRST_FAILURE = settings(
    STEPS,
    max_examples=2000,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    print_blob=False,
    verbosity=Verbosity.quiet,
)


def test_the_invariants_hold_after_every_operation() -> None:
    Machine.happened.clear()
    run_state_machine_as_test(Machine, settings=STEPS)
    assert not hardly_reached(Machine.happened)


# Allocators with one fault each. A check that none of them fails would check nothing.


class WithoutCopyOnWrite(PagedAllocator):
    def _needs_block(self, table: Any) -> bool:
        return bool(table.num_tokens % self.block_size == 0)


class CopyWithoutSource(PagedAllocator):
    """Does not tell the engine which block to copy."""

    def append(self, request_id: Any, token: int) -> Any:
        return super().append(request_id, token)._replace(copied_from=None)


class LeaksABlockOnFree(PagedAllocator):
    def free(self, request_id: Any) -> None:
        table = self._tables.release(request_id)
        self._pool.give_back(table.blocks[:-1], self._can_be_found)
        self._event("free", request_id, table.blocks)


class LeavesHitsInTheFreeList(PagedAllocator):
    class Pool(BlockPool):
        def share(self, shared: Iterable[int]) -> None:
            for block in shared:
                self.owners[block] += 1

    def __init__(self, num_blocks: Any, *arguments: Any, **more: Any) -> None:
        super().__init__(num_blocks, *arguments, **more)
        self._pool = self.Pool(num_blocks)


class CountsFreeHitsTwice(PagedAllocator):
    """Takes a free block that is found for free and for found."""

    def _missing(self, token_ids: Sequence[int], found: list[int]) -> int:
        return -(-len(token_ids) // self.block_size) - len(found) - len(self.free_blocks)


class LeavesNothingToCompute(PagedAllocator):
    def _found(self, token_ids: Sequence[int], hashes: Any) -> list[int]:
        names = list(hashes)
        super()._found(token_ids, iter(names))
        return self._cache.find(names)


class KeepsTheHashOfEvictedBlocks(PagedAllocator):
    def _take(self, count: int) -> list[int]:
        return self._pool.take(count)


class HashesBlocksByThemselves(PagedAllocator):
    """Leaves out the blocks before."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        whole = self._cache.hashes

        def hashes(tokens: Sequence[int], key: Any = None) -> Iterable[bytes]:
            size = self.block_size
            return [block_hash(b"", tokens[at * size :][:size], key) for at, _ in enumerate(whole(tokens, key))]

        self._cache.hashes = hashes  # type: ignore[method-assign, assignment]


class ForgetsTheKey(PagedAllocator):
    def allocate(self, request_id: Any, token_ids: Sequence[int], key: Any = None) -> int:
        return super().allocate(request_id, token_ids)

    def cached_tokens(self, token_ids: Sequence[int], key: Any = None) -> int:
        return super().cached_tokens(token_ids)


class ForksShareTheirTable(PagedAllocator):
    def fork(self, parent: Any, child: Any) -> None:
        super().fork(parent, child)
        self._tables[child] = self._tables[parent]


class EvictsParentsFirst(PagedAllocator):
    def free(self, request_id: Any) -> None:
        table = self._tables.release(request_id)
        self._pool.give_back(table.blocks[::-1], self._can_be_found)
        self._event("free", request_id, table.blocks)


class ChangesSomethingWhenItRefuses(PagedAllocator):
    def append(self, request_id: Any, token: int) -> Any:
        try:
            return super().append(request_id, token)
        except NoFreeBlocksError:
            self._tables[request_id].num_tokens += 1
            raise


class PromisesTooMuch(PagedAllocator):
    def can_append(self, request_id: Any) -> bool:
        super().can_append(request_id)
        return True


class CountsSharedTailsTwice(PagedAllocator):
    def waste(self) -> Waste:
        return replace(
            super().waste(), tail=sum(-table.num_tokens % self.block_size for table in self._tables.values())
        )


class LogsNoForks(PagedAllocator):
    def fork(self, parent: Any, child: Any) -> None:
        self.log, log = None, self.log
        try:
            super().fork(parent, child)
        finally:
            self.log = log


# What the checks say first; where chance decides which of several comes first, all of them.
CAUGHT: dict[type[PagedAllocator], tuple[str, ...]] = {
    WithoutCopyOnWrite: ("a block with several owners is written", "can_append says otherwise"),
    CopyWithoutSource: ("a request reads what is not its own",),
    LeaksABlockOnFree: ("a block's owners are not the tables that hold it",),
    LeavesHitsInTheFreeList: (
        "a block is free and held, or neither",
        "a block's owners are not the tables that hold it",
    ),
    CountsFreeHitsTwice: ("can_allocate says otherwise",),
    LeavesNothingToCompute: ("nothing is left to compute of a prompt", "can_allocate says otherwise"),
    KeepsTheHashOfEvictedBlocks: (
        "a block is found by a hash that is not its own",
        "a block is found by a hash of other content",
        "not as much was found as is cached",
        "other blocks are cached",
    ),
    HashesBlocksByThemselves: ("a block is found by a hash of other content",),
    ForgetsTheKey: ("a block is found by a hash of other content",),
    ForksShareTheirTable: (
        "a block's owners are not the tables that hold it",
        "a token went into another slot",
        "a request reads what is not its own",
        "can_append says otherwise",
    ),
    EvictsParentsFirst: ("the free list is in another order",),
    ChangesSomethingWhenItRefuses: ("a refused call changed something",),
    PromisesTooMuch: ("can_append says otherwise",),
    CountsSharedTailsTwice: ("waste() counts otherwise than the slots",),
    LogsNoForks: ("the log tells of other tables",),
}


@pytest.mark.parametrize("bug", CAUGHT)
def test_an_allocator_with_a_fault_is_caught(bug: type[PagedAllocator]) -> None:
    class Faulty(Machine):
        allocator_class = bug
        happened: ClassVar[Counter[str]] = Counter()

    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(Faulty, settings=UNTIL_THE_FIRST_FAILURE)
    assert str(failure.value).startswith(CAUGHT[bug])


def test_a_machine_that_hardly_gets_to_a_kind_of_event_is_noticed() -> None:
    assert hardly_reached(Counter(dict.fromkeys(REACHED, 5) | {"copy": 4})) == ["copy"]
