"""Paging takes memory as a request grows, shares it where requests are equal, wastes less than a block of each, and says why
it refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving.events import Event
from llmserving.paging import (
    BlockPool,
    ContiguousAllocator,
    NoFreeBlocksError,
    PagedAllocator,
    Slot,
    UnknownRequestError,
    Waste,
    prefix_cache,
)
from llmserving.paging.contiguous import Reservation
from llmserving.paging.prefix_cache import block_hash

from tests.lib.allocator_state import refused, state


def tokens(count: int, first: int = 0) -> list[int]:
    return list(range(first, first + count))


def grown(allocator: Any, request_id: str, prompt: int, total: int) -> Any:
    """An allocator whose request has decoded up to `total` tokens."""
    allocator.allocate(request_id, tokens(prompt))
    for token in range(prompt, total):
        allocator.append(request_id, token)
    return allocator


# What paging buys (L3.1 and L5.1A)


@pytest.mark.parametrize(("used", "wasted", "share"), [(120, 1928, 0.9414), (60, 1988, 0.971)])
def test_reserving_2048_slots_for_a_short_request_wastes_nearly_all(used: int, wasted: int, share: float) -> None:
    waste = grown(ContiguousAllocator(2048, max_len=2048), "chat", 20, used).waste()
    assert waste == Waste(used=used, tail=0, reserved=wasted, external=0, free=0)
    assert waste.share == wasted / 2048 == pytest.approx(share, abs=0.0005)


@pytest.mark.parametrize(("used", "blocks", "wasted"), [(120, 8, 8), (60, 4, 4)])
def test_blocks_of_16_waste_the_end_of_one(used: int, blocks: int, wasted: int) -> None:
    allocator = grown(PagedAllocator(128, 16), "chat", 20, used)
    assert len(allocator.table("chat")) == blocks
    waste = allocator.waste()
    assert waste == Waste(used=used, tail=wasted, reserved=0, external=0, free=2048 - blocks * 16)
    assert waste.share == wasted / (blocks * 16) == 0.0625


def test_the_memory_of_one_reserved_chat_holds_32_paged_ones() -> None:
    contiguous, paged = ContiguousAllocator(2048, 2048), PagedAllocator(2048 // 16, 16)
    for allocator, chats in ((contiguous, 1), (paged, 32)):
        for chat in range(chats):
            allocator.allocate(chat, tokens(60))
        assert not allocator.can_allocate(tokens(60))


@given(st.sampled_from([1, 7, 16, 1000]), st.integers(1, 2500))
def test_a_request_wastes_at_most_one_block_less_a_token(block_size: int, count: int) -> None:
    allocator = PagedAllocator(2500, block_size)
    allocator.allocate("r", tokens(count))
    assert len(allocator.table("r")) == math.ceil(count / block_size)
    assert allocator.waste().tail == math.ceil(count / block_size) * block_size - count <= block_size - 1


@pytest.mark.parametrize(("block_size", "tail"), [(1, 0), (7, 6), (1000, 999)])
def test_the_worst_tail_is_that_of_the_first_token_of_a_block(block_size: int, tail: int) -> None:
    allocator = grown(PagedAllocator(2, block_size), "r", block_size, block_size + 1)
    assert allocator.waste().tail == tail
    assert [allocator.append("r", 0).offset for _ in range(tail)] == list(range(1, block_size))
    assert not allocator.can_append("r")


# Waste of each kind, apart


def test_shared_blocks_are_counted_once() -> None:
    allocator = PagedAllocator(10, 16)
    allocator.allocate("parent", tokens(20))
    alone = allocator.waste()
    allocator.fork("parent", "child")
    assert allocator.waste() == alone == Waste(used=20, tail=12, reserved=0, external=0, free=128)
    allocator.append("child", 20)  # a copy of the 4 tokens in the partial block, and one more
    assert allocator.waste() == Waste(used=20 + 5, tail=12 + 11, reserved=0, external=0, free=112)
    assert allocator.waste().held == 48


def test_a_prefix_found_in_the_cache_is_counted_once() -> None:
    allocator = PagedAllocator(10, 16, prefix_caching=True)
    allocator.allocate("a", tokens(40))
    allocator.allocate("b", tokens(40))
    assert allocator.waste() == Waste(used=32 + 2 * 8, tail=2 * 8, reserved=0, external=0, free=6 * 16)


def test_an_empty_pool_wastes_nothing() -> None:
    for allocator in (PagedAllocator(4, 16), ContiguousAllocator(64, 16)):
        assert allocator.waste() == Waste(0, 0, 0, 0, 64)
        assert allocator.waste().share == 0.0


def test_holes_that_are_too_short_are_external_waste() -> None:
    allocator = ContiguousAllocator(100, max_len=30)
    for name, reserve in (("a", 20), ("b", 30), ("c", 25), ("d", 15)):
        allocator.allocate(name, tokens(10), reserve=reserve)
    assert allocator.waste() == Waste(used=40, tail=0, reserved=50, external=10, free=10)
    allocator.free("a")
    allocator.free("c")  # gaps of 20, 25 and 10, and none of 30
    assert allocator.waste() == Waste(used=20, tail=0, reserved=25, external=55, free=55)
    assert not allocator.can_allocate([7])
    allocator.free("b")  # joins two of them to one of 75
    assert allocator.waste() == Waste(used=10, tail=0, reserved=5, external=10, free=85)
    allocator.allocate("e", [7])
    assert allocator.reservation("e") == Reservation(0, 30, 1)


def test_paging_has_no_holes_where_reservations_have() -> None:
    paged, contiguous = PagedAllocator(6, 16), ContiguousAllocator(96, max_len=32)
    for allocator, more in ((paged, {}), (contiguous, {"reserve": 16})):
        for name in range(6):
            allocator.allocate(name, tokens(16), **more)
        for name in (0, 2, 4):
            allocator.free(name)
    assert contiguous.free_slots == len(paged.free_blocks) * 16 == 48
    assert not contiguous.can_allocate(tokens(32))
    assert paged.can_allocate(tokens(48))
    assert (contiguous.waste().external, paged.waste().external) == (48, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 12)), max_size=30))
def test_reservations_never_overlap_and_the_first_gap_is_taken(calls: list[tuple[int, int]]) -> None:
    allocator = ContiguousAllocator(30, max_len=8)
    slots: list[int | None] = [None] * 30  # who holds each
    for name, size in calls:
        if name in allocator.requests:
            allocator.free(name)
            slots = [None if holder == name else holder for holder in slots]
            continue
        starts = [start for start in range(31 - size) if not any(holder is not None for holder in slots[start:][:size])]
        assert allocator.can_allocate([7], reserve=size) == bool(starts)
        if not starts:
            with refused(allocator, NoFreeBlocksError):
                allocator.allocate(name, [7], reserve=size)
            continue
        allocator.allocate(name, [7], reserve=size)
        assert allocator.reservation(name) == (starts[0], size, 1)
        slots[starts[0] : starts[0] + size] = [name] * size
        assert allocator.free_slots == slots.count(None)
        waste = allocator.waste()
        assert waste.held + waste.free == 30


def test_the_slots_of_a_reservation_are_used_one_after_the_other() -> None:
    allocator = ContiguousAllocator(20, max_len=10)
    allocator.allocate("a", tokens(3))
    allocator.allocate("b", tokens(7))
    assert [allocator.append("b", token) for token in range(3)] == [17, 18, 19]
    assert allocator.num_tokens("b") == 10
    assert not allocator.can_append("b")
    assert allocator.can_append("a")


# Several samples of one prompt


@given(st.integers(1, 60), st.integers(1, 40), st.integers(1, 6), st.sampled_from([1, 2, 7, 16, 1000]))
def test_samples_share_the_full_blocks_of_their_prompt(prompt: int, output: int, n: int, block_size: int) -> None:
    shared, unshared = PagedAllocator(700, block_size), PagedAllocator(700, block_size)
    shared.allocate(0, tokens(prompt))
    for sample in range(1, n):
        shared.fork(0, sample)
    for sample in range(n):
        unshared.allocate(sample, tokens(prompt))
    slots = []
    for token in range(output):
        for sample in range(n):
            slots.append(shared.append(sample, token))
            unshared.append(sample, token)
    of_each = math.ceil((prompt + output) / block_size)
    full = prompt // block_size
    assert shared.num_blocks - len(shared.free_blocks) == full + n * (of_each - full)
    assert unshared.num_blocks - len(unshared.free_blocks) == n * of_each
    assert sum(slot.copied_from is not None for slot in slots) == (n - 1 if prompt % block_size else 0)


# The prefix cache


def test_another_adapter_or_salt_sets_a_cache_apart() -> None:
    keys = [None, "adapter", "salt", ("adapter", "salt"), ("salt", "adapter"), 7, "7", ("7",), ()]
    allocator = PagedAllocator(27, 4, prefix_caching=True)
    for request, key in enumerate(keys):
        assert allocator.allocate(request, tokens(6), key) == 0
    for request, key in enumerate(keys):
        assert allocator.cached_tokens(tokens(6), key) == 4
        assert allocator.allocate(("again", request), tokens(6), key) == 4
        assert allocator.table(("again", request))[0] == allocator.table(request)[0]


def test_a_fork_s_full_blocks_are_found_under_what_it_wrote_itself() -> None:
    allocator = PagedAllocator(10, 4, prefix_caching=True)
    allocator.allocate("parent", [1, 2], "adapter")
    allocator.fork("parent", "child")
    for parents, childs in ((3, 30), (4, 40), (5, 50)):
        allocator.append("parent", parents)
        allocator.append("child", childs)
    assert allocator.table("parent")[0] != allocator.table("child")[0]
    for prompt, owner in (([1, 2, 3, 4, 0], "parent"), ([1, 2, 30, 40, 0], "child")):
        request = f"like {owner}"
        assert allocator.allocate(request, prompt, "adapter") == 4
        assert allocator.table(request)[0] == allocator.table(owner)[0]
    assert allocator.cached_tokens([1, 2, 30, 4, 0], "adapter") == 0
    assert allocator.cached_tokens([1, 2, 3, 4, 0]) == 0


def test_a_reset_forgets_every_prefix_and_is_refused_while_requests_run() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(10, 4, prefix_caching=True, log=log)
    allocator.allocate("r", tokens(9))
    before = state(allocator)
    assert not allocator.reset_prefix_cache()
    assert state(allocator) == before
    allocator.free("r")
    free = list(allocator.free_blocks)
    assert allocator.cached_tokens(tokens(9)) == 8
    assert allocator.reset_prefix_cache()
    assert allocator.cached_tokens(tokens(9)) == 0
    assert list(allocator.free_blocks) == free
    assert [event.blocks for event in log if event.kind == "evict"] == [(1,), (0,)]


def test_asking_changes_nothing() -> None:
    allocator = PagedAllocator(3, 4, prefix_caching=True)
    allocator.allocate("r", tokens(9))
    allocator.free("r")
    before = state(allocator)
    assert allocator.can_allocate(tokens(12))
    assert not allocator.can_allocate(tokens(13))
    assert allocator.cached_tokens(tokens(9)) == 8
    assert state(allocator) == before


@pytest.mark.parametrize("cached", [0, 5, 9, 12])
def test_each_full_block_of_a_prompt_is_hashed_once(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it is found: a prefix that is looked up has its names already."""
    allocator = PagedAllocator(30, 4, prefix_caching=True)
    allocator.allocate("earlier", list(range(4 * cached)) or [-1])
    hashed: list[list[int]] = []

    def counted(parent: bytes, tokens: Any, key: Any = None) -> bytes:
        hashed.append(list(tokens))
        return block_hash(parent, tokens, key)

    monkeypatch.setattr(prefix_cache, "block_hash", counted)
    assert allocator.allocate("later", list(range(4 * 10 + 3))) == 4 * min(cached, 10)
    assert hashed == [list(range(start, start + 4)) for start in range(0, 40, 4)]


def test_a_free_block_that_is_found_makes_no_room_for_another() -> None:
    allocator = PagedAllocator(3, 4, prefix_caching=True)
    allocator.allocate("r", tokens(9))
    allocator.free("r")
    allocator.allocate("other", [99])
    assert len(allocator.free_blocks) == 2
    assert allocator.cached_tokens(tokens(9)) == 8
    assert not allocator.can_allocate(tokens(9))  # the two free blocks are those that it finds
    sentence = "request 'r' needs 3 blocks, 2 of them cached, and 0 blocks are free besides"
    with refused(allocator, NoFreeBlocksError, sentence):
        allocator.allocate("r", tokens(9))
    assert allocator.can_allocate(tokens(8))  # finds one, and takes the other


# What is refused, in which words

LIST = "token_ids is the list of a prompt's tokens, such as [5, 17, 2], but got "
EMPTY = "token_ids is empty: a request has at least one token, since one must be computed for the next"
NUMBERS = "token_ids are whole numbers, one a token, but one of them is not: "
TOKEN = "token is the number of a token, a whole number such as 32, but got "
NAME = "request_id is a name such as 'a' or 7, but got "
KEY = (
    "key is what sets a request's cache apart, such as an adapter's name or a salt, a text or a number or a tuple of those, "
    "but got "
)
UNKNOWN = "request 'nobody' has no block table; the tables are those of 'a', 'b'"
FREED = "request 'freed' was freed already and has no block table any more"
TAKEN = "request 'a' has a block table already; free it first, or append to it"
NO_NAME = "request_id is a name such as 'a' or 7, but got ['x'], which no dict can hold"

Call = Callable[[Any], object]
PAGED_REFUSALS: list[tuple[Call, type[Exception], str]] = [
    # a request that is not there
    (lambda paged: paged.free("nobody"), UnknownRequestError, UNKNOWN),
    (lambda paged: paged.table("nobody"), UnknownRequestError, UNKNOWN),
    (lambda paged: paged.num_tokens("nobody"), UnknownRequestError, UNKNOWN),
    (lambda paged: paged.append("nobody", 1), UnknownRequestError, UNKNOWN),
    (lambda paged: paged.can_append("nobody"), UnknownRequestError, UNKNOWN),
    (lambda paged: paged.fork("nobody", "new"), UnknownRequestError, UNKNOWN),
    # one that is not there any more
    (lambda paged: paged.free("freed"), UnknownRequestError, FREED),
    (lambda paged: paged.table("freed"), UnknownRequestError, FREED),
    (lambda paged: paged.num_tokens("freed"), UnknownRequestError, FREED),
    (lambda paged: paged.append("freed", 1), UnknownRequestError, FREED),
    (lambda paged: paged.can_append("freed"), UnknownRequestError, FREED),
    (lambda paged: paged.fork("freed", "new"), UnknownRequestError, FREED),
    # a name that cannot be given
    (lambda paged: paged.allocate("a", [1]), ValueError, TAKEN),
    (lambda paged: paged.fork("b", "a"), ValueError, TAKEN),
    (lambda paged: paged.fork("a", "a"), ValueError, TAKEN),
    (lambda paged: paged.allocate(["x"], [1]), TypeError, NO_NAME),
    (lambda paged: paged.fork("a", ["x"]), TypeError, NO_NAME),
    # no room
    (lambda paged: paged.allocate("new", tokens(25)), NoFreeBlocksError,
     "request 'new' needs 7 blocks of 4, and the whole pool has 6: it can never fit"),
    (lambda paged: paged.allocate("new", tokens(5, 50)), NoFreeBlocksError,
     "request 'new' needs 2 blocks and 1 block is free"),
    (lambda paged: paged.allocate("new", tokens(8) + tokens(8, 50)), NoFreeBlocksError,
     "request 'new' needs 4 blocks, 2 of them cached, and 1 block is free besides"),
    # no prompt
    (lambda paged: paged.allocate("new", []), ValueError, EMPTY),
    (lambda paged: paged.allocate("new", "a text"), TypeError, LIST + "'a text'"),
    (lambda paged: paged.allocate("new", b"bytes"), TypeError, LIST + "b'bytes'"),
    (lambda paged: paged.allocate("new", {1: 2}), TypeError, LIST + "{1: 2}"),
    (lambda paged: paged.allocate("new", {1, 2}), TypeError, LIST + "{1, 2}"),
    (lambda paged: paged.allocate("new", 5), TypeError, LIST + "5"),
    (lambda paged: paged.allocate("new", None), TypeError, LIST + "None"),
    (lambda paged: paged.can_allocate("a text"), TypeError, LIST + "'a text'"),
    (lambda paged: paged.can_allocate([]), ValueError, EMPTY),
    (lambda paged: paged.cached_tokens([]), ValueError, EMPTY),
    # no token
    (lambda paged: paged.allocate("new", [1, "x"]), TypeError, NUMBERS + "'str' object cannot be interpreted as an integer"),
    (lambda paged: paged.allocate("new", [1, 2, 3, 2.5]), TypeError,
     NUMBERS + "'float' object cannot be interpreted as an integer"),
    (lambda paged: paged.allocate("new", [2**63]), TypeError, NUMBERS + "int too big to convert"),
    (lambda paged: paged.append("a", "x"), TypeError, TOKEN + "'x' of type str"),
    (lambda paged: paged.append("a", None), TypeError, TOKEN + "None of type NoneType"),
    (lambda paged: paged.append([], 1), TypeError, NAME + "[], which no dict can hold"),
    (lambda paged: paged.free({}), TypeError, NAME + "{}, which no dict can hold"),
    (lambda paged: paged.owners(-1), ValueError, "block is the number of a block and must be at least 0, but got -1"),
    (lambda paged: paged.owners(99), ValueError, "block is the number of a block, but 99 is more than any can have"),
    # no key
    (lambda paged: paged.allocate("new", [1], key=2.5), TypeError, KEY + "2.5"),
    (lambda paged: paged.allocate("new", [1], key=["x"]), TypeError, KEY + "['x']"),
    (lambda paged: paged.allocate("new", [1], key=("x", {"y"})), TypeError, KEY + "{'y'}"),
    (lambda paged: paged.can_allocate([1], key=2.5), TypeError, KEY + "2.5"),
    (lambda paged: paged.cached_tokens([1], key=2.5), TypeError, KEY + "2.5"),
]  # fmt: skip


def busy() -> PagedAllocator:
    """Five of six blocks in use, a prefix cached, a fork, and a request that has come and gone."""
    allocator = PagedAllocator(6, 4, prefix_caching=True, log=[])
    allocator.allocate("freed", [99])
    allocator.allocate("a", tokens(10))
    allocator.free("freed")
    allocator.fork("a", "b")
    for token in (10, 11, 12):
        allocator.append("b", token)
    assert list(allocator.free_blocks) == [5]
    assert allocator.cached_tokens(tokens(13)) == 12
    return allocator


@pytest.mark.parametrize(("call", "error", "sentence"), PAGED_REFUSALS)
def test_a_refused_call_says_why_and_changes_nothing(call: Call, error: type[Exception], sentence: str) -> None:
    allocator = busy()
    with refused(allocator, error, sentence):
        call(allocator)


def test_the_full_pool_refuses_a_fresh_block_a_copy_and_a_new_request() -> None:
    allocator = PagedAllocator(2, 4, prefix_caching=True, log=[])
    allocator.allocate("full", tokens(4))
    allocator.allocate("partial", tokens(2, 50))
    allocator.fork("partial", "copy")
    for request, token in (("full", 4), ("partial", 2), ("copy", 2)):
        assert not allocator.can_append(request)
        sentence = f"request '{request}' needs a block for token {token} and no block is free"
        with refused(allocator, NoFreeBlocksError, sentence):
            allocator.append(request, 7)
    assert not allocator.can_allocate([7])
    with refused(allocator, NoFreeBlocksError, "request 'new' needs 1 block and 0 blocks are free"):
        allocator.allocate("new", [7])
    allocator.free("copy")
    assert allocator.can_append("partial")  # the only owner now, and writes in place
    assert allocator.append("partial", 7) == Slot(1, 2)


def test_an_empty_allocator_says_that_there_is_no_table_and_a_busy_one_names_five() -> None:
    allocator = PagedAllocator(9, 4)
    with refused(allocator, UnknownRequestError, "request 7 has no block table; there is no table at all"):
        allocator.free(7)
    for request in range(6):
        allocator.allocate(request, [1])
    sentence = "request 7 has no block table; the tables are those of 0, 1, 2, 3, 4 and more"
    with refused(allocator, UnknownRequestError, sentence):
        allocator.table(7)


def test_a_freed_name_can_be_given_again() -> None:
    allocator = PagedAllocator(4, 4)
    for _ in range(2):
        allocator.allocate("r", [1])
        allocator.free("r")
        with refused(allocator, UnknownRequestError):
            allocator.free("r")


CONTIGUOUS_REFUSALS: list[tuple[Call, type[Exception], str]] = [
    (lambda slots: slots.free("nobody"), UnknownRequestError, UNKNOWN),
    (lambda slots: slots.free("freed"), UnknownRequestError, FREED),
    (lambda slots: slots.append("freed", 1), UnknownRequestError, FREED),
    (lambda slots: slots.can_append("freed"), UnknownRequestError, FREED),
    (lambda slots: slots.num_tokens("nobody"), UnknownRequestError, UNKNOWN),
    (lambda slots: slots.reservation("nobody"), UnknownRequestError, UNKNOWN),
    (lambda slots: slots.allocate("a", [1]), ValueError, TAKEN),
    (lambda slots: slots.allocate(["x"], [1]), TypeError, NO_NAME),
    (lambda slots: slots.allocate("new", []), ValueError, EMPTY),
    (lambda slots: slots.allocate("new", "a text"), TypeError, LIST + "'a text'"),
    (lambda slots: slots.allocate("new", tokens(11)), ValueError,
     "token_ids has 11 tokens, more than the 10 slots that are reserved for a request"),
    (lambda slots: slots.can_allocate(tokens(3), 2), ValueError,
     "token_ids has 3 tokens, more than the 2 slots that are reserved for a request"),
    (lambda slots: slots.allocate("new", [1], reserve=0), ValueError,
     "reserve is the slots to reserve and must be at least 1, but got 0"),
    (lambda slots: slots.allocate("new", [1]), NoFreeBlocksError,
     "request 'new' needs 10 slots in one piece; 11 are free, 6 at most in one piece"),
    (lambda slots: slots.append("b", 1), NoFreeBlocksError, "request 'b' has used all 4 slots reserved for it"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "sentence"), CONTIGUOUS_REFUSALS)
def test_reservations_refuse_in_the_same_words(call: Call, error: type[Exception], sentence: str) -> None:
    allocator = ContiguousAllocator(25, max_len=10)
    allocator.allocate("freed", [1], reserve=5)
    allocator.allocate("a", [1])
    allocator.allocate("b", tokens(4), reserve=4)
    allocator.free("freed")
    with refused(allocator, error, sentence):
        call(allocator)


COUNTS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: PagedAllocator(0, 16), ValueError,
     "num_blocks is the number of blocks in the pool and must be at least 1, but got 0"),
    (lambda: PagedAllocator(4, 0), ValueError,
     "block_size is the number of tokens in a block and must be at least 1, but got 0"),
    (lambda: PagedAllocator(4, 2.5), TypeError,
     "block_size is the number of tokens in a block, a whole number, but got 2.5; there is no part of one to count"),
    (lambda: PagedAllocator(True, 16), TypeError,
     "num_blocks is the number of blocks in the pool, a whole number, but got True, a truth value; write 1, not True"),
    (lambda: PagedAllocator(4, 16, "no"), TypeError, "prefix_caching is True or False, but got 'no'"),  # type: ignore[arg-type]
    (lambda: PagedAllocator(4, 16, 2), TypeError, "prefix_caching is True or False, but got 2"),  # type: ignore[arg-type]
    (lambda: ContiguousAllocator(0, 16), ValueError,
     "num_slots is the number of tokens that the memory holds and must be at least 1, but got 0"),
    (lambda: ContiguousAllocator(4, -1), ValueError,
     "max_len is the most tokens that a request can have and must be at least 1, but got -1"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "sentence"), COUNTS)
def test_an_allocator_of_no_size_is_refused(call: Callable[[], object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence


def test_a_pool_refuses_too_many_blocks_and_a_block_that_is_free_already() -> None:
    pool = BlockPool(3)
    held = pool.take(2)
    with refused(pool, NoFreeBlocksError, "2 blocks are needed and 1 block is free"):
        pool.take(2)
    with refused(pool, ValueError, "block 2 is given back and is free already"):
        pool.give_back([*held, 2], lambda block: False)


def test_a_refusal_that_changes_something_or_has_another_sentence_or_type_is_noticed() -> None:
    allocator = busy()

    def refuse_late() -> None:
        allocator.append("b", 13)
        raise KeyError

    with pytest.raises(AssertionError, match="a refused call changed something"), refused(allocator, KeyError):
        refuse_late()
    with pytest.raises(AssertionError), refused(allocator, UnknownRequestError, "another sentence"):
        allocator.free("nobody")
    with pytest.raises(AssertionError), refused(allocator, KeyError):
        allocator.free("nobody")


@pytest.mark.parametrize(
    "change",
    [
        lambda paged: paged.append("b", 13),  # into a block that it has: only its tokens change
        lambda paged: paged._pool._free._queue.move_to_end(next(iter(paged.free_blocks))),
        lambda paged: paged._tables._freed.clear(),
        lambda paged: paged._cache.forget(0),
        lambda paged: paged.log.pop(),
        lambda paged: paged._tables["b"].tail.append(7),
    ],
)
def test_the_state_that_refusals_are_compared_by_is_all_of_it(change: Call) -> None:
    allocator = busy()
    allocator.free("a")
    before = state(allocator)
    assert before == state(allocator)
    change(allocator)
    assert before != state(allocator)


# What the log says


def test_each_change_leaves_its_event() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(4, 4, prefix_caching=True, log=log)

    def events(call: Callable[[], object]) -> list[Event]:
        del log[:]
        call()
        return list(log)

    assert events(lambda: allocator.allocate("a", tokens(6))) == [
        Event("allocate", "a", tokens=6, free_blocks=2, blocks=(0, 1)),
        Event("cache", "a", tokens=6, free_blocks=2, blocks=(0,)),
    ]
    assert events(lambda: allocator.append("a", 6)) == []
    assert events(lambda: allocator.fork("a", "b")) == [
        Event("fork", "b", tokens=7, free_blocks=2, blocks=(0, 1), source="a")
    ]
    assert events(lambda: allocator.append("b", 70)) == [
        Event("copy", "b", tokens=8, free_blocks=1, blocks=(2,), source=1),
        Event("cache", "b", tokens=8, free_blocks=1, blocks=(2,)),
    ]
    assert events(lambda: allocator.append("b", 8)) == [Event("append", "b", tokens=9, free_blocks=0, blocks=(3,))]
    assert events(lambda: allocator.free("b")) == [Event("free", "b", free_blocks=2, blocks=(0, 2, 3))]
    assert events(lambda: allocator.allocate("c", [*tokens(4), 9])) == [
        Event("allocate", "c", tokens=5, free_blocks=1, blocks=(0, 3), cached_blocks=1)
    ]
    assert events(lambda: allocator.allocate("d", [7])) == [
        Event("evict", None, free_blocks=0, blocks=(2,)),
        Event("allocate", "d", tokens=1, free_blocks=0, blocks=(2,)),
    ]


@pytest.mark.parametrize("more", [1, 15, 16, 17, 200])
def test_decoding_leaves_an_event_for_a_block_and_none_for_a_token(more: int) -> None:
    log: list[Event] = []
    allocator = PagedAllocator(20, 16, log=log)
    allocator.allocate("r", tokens(16))
    for token in range(more):
        allocator.append("r", token)
    allocator.free("r")
    assert [event.kind for event in log] == ["allocate"] + ["append"] * math.ceil(more / 16) + ["free"]


def test_without_a_log_the_same_happens() -> None:
    silent, logging = PagedAllocator(4, 4, True), PagedAllocator(4, 4, True, log=[])
    for allocator in (silent, logging):
        allocator.allocate("a", tokens(6))
        allocator.fork("a", "b")
        allocator.append("b", 6)
    assert silent.log is None
    logging.log = None
    assert state(silent) == state(logging)
