"""The allocator does what the tests of vLLM, nano-vllm and SGLang say that theirs do, scenario by scenario.

A test is named by the ids of its scenarios. V1's blocks have the numbers 1 to N - 1, with block 0 kept aside; ours have 0
to N - 1 and are all usable, so that "11 blocks" are num_blocks=10 here, and a block's number is one less. Of V1's two
free-list rules the scenarios are held to the newer. Scenarios that are not in this file are at its end, with the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from llmserving import MODELS, GiB
from llmserving.events import Event
from llmserving.kv_layout import kv_layout
from llmserving.kv_pool import KvPool, kv_pool
from llmserving.paging import (
    FreeQueue,
    NoFreeBlocksError,
    PagedAllocator,
    Slot,
    UnknownRequestError,
    block_hash,
    blocks_needed,
)

from tests.lib.allocator_state import refused

COMMON = list(range(48))  # three blocks of 16 that several prompts begin with


def tokens(count: int, first: int = 1000) -> list[int]:
    """`count` tokens that no other prompt has, if `first` is another."""
    return list(range(first, first + count))


def caching(num_blocks: int = 10, block_size: int = 16) -> PagedAllocator:
    return PagedAllocator(num_blocks, block_size, prefix_caching=True, log=[])


def hashed(allocator: PagedAllocator) -> set[int]:
    """The blocks that can be found by their prefix, as the log tells."""
    found: set[int] = set()
    for event in allocator.log or []:
        if event.kind == "cache":
            found.update(event.blocks)
        elif event.kind == "evict":
            found.difference_update(event.blocks)
    return found


def owners(allocator: PagedAllocator, request_id: str) -> list[int]:
    return [allocator.owners(block) for block in allocator.table(request_id)]


# A. The prefix cache of V1


def with_r0() -> PagedAllocator:
    allocator = caching()
    assert allocator.allocate("r0", COMMON + tokens(7)) == 0
    return allocator


def with_r0_and_r1() -> PagedAllocator:
    allocator = with_r0()
    assert allocator.allocate("r1", COMMON + tokens(5, 2000)) == 48
    return allocator


def test_A1_a_first_prompt_finds_nothing_and_its_full_blocks_are_hashed() -> None:
    allocator = with_r0()
    assert allocator.table("r0") == (0, 1, 2, 3)
    assert owners(allocator, "r0") == [1, 1, 1, 1]
    assert hashed(allocator) == {0, 1, 2}
    assert len(allocator.free_blocks) == 6


def test_A2_a_second_prompt_shares_the_common_blocks_of_the_first() -> None:
    allocator = with_r0_and_r1()
    assert allocator.table("r1") == (0, 1, 2, 4)
    assert owners(allocator, "r1") == [2, 2, 2, 1]
    assert len(allocator.free_blocks) == 5


def test_A3_freed_blocks_are_evicted_children_before_parents_and_unhashed_ones_first_of_all() -> None:
    allocator = with_r0_and_r1()
    allocator.free("r0")
    allocator.free("r1")
    assert list(allocator.free_blocks) == [4, 3, 5, 6, 7, 8, 9, 2, 1, 0]
    assert hashed(allocator) == {0, 1, 2}
    assert not any(map(allocator.owners, range(10)))


def test_A4_freed_blocks_are_found_again_and_leave_the_free_list() -> None:
    allocator = with_r0_and_r1()
    allocator.free("r0")
    allocator.free("r1")
    assert allocator.allocate("r2", COMMON + tokens(6, 3000)) == 48
    assert allocator.table("r2") == (0, 1, 2, 4)
    assert list(allocator.free_blocks) == [3, 5, 6, 7, 8, 9]


def test_A6_decoding_within_a_block_takes_and_hashes_nothing() -> None:
    allocator = with_r0()
    for token in tokens(4, 2000):
        allocator.append("r0", token)
    assert allocator.num_tokens("r0") == 59
    assert allocator.table("r0") == (0, 1, 2, 3)
    assert hashed(allocator) == {0, 1, 2}


def test_A7_a_block_is_hashed_the_moment_it_is_full() -> None:
    allocator = with_r0()
    for token in tokens(8, 2000):
        allocator.append("r0", token)
    assert (allocator.num_tokens("r0"), hashed(allocator)) == (63, {0, 1, 2})
    allocator.append("r0", 2008)
    assert (allocator.num_tokens("r0"), hashed(allocator)) == (64, {0, 1, 2, 3})
    for token in tokens(14, 3000):
        allocator.append("r0", token)
    assert allocator.num_tokens("r0") == 78
    assert allocator.table("r0") == (0, 1, 2, 3, 4)
    assert hashed(allocator) == {0, 1, 2, 3}


def test_A8_what_is_freed_first_is_evicted_first() -> None:
    allocator = caching()
    allocator.allocate("r0", tokens(87))
    allocator.allocate("r1", tokens(48, 2000))
    assert len(allocator.free_blocks) == 1
    allocator.free("r0")
    allocator.free("r1")
    assert list(allocator.free_blocks) == [5, 9, 4, 3, 2, 1, 0, 8, 7, 6]


def test_A10_a_block_that_is_written_again_loses_its_old_hash_before_it_gets_a_new_one() -> None:
    allocator = caching(num_blocks=2)
    old, new = tokens(17), tokens(32, 2000)
    allocator.allocate("old", old)
    allocator.free("old")
    assert allocator.cached_tokens(old) == 16
    allocator.allocate("new", new)
    assert set(allocator.table("new")) == {0, 1}
    allocator.free("new")
    assert allocator.cached_tokens(old) == 0
    assert allocator.cached_tokens([*new, 0]) == 32
    kinds = [event.kind for event in allocator.log or [] if event.blocks == (0,)]
    assert kinds == ["cache", "evict", "cache"]


def test_A12_without_caching_nothing_is_found_and_the_last_allocation_fails() -> None:
    allocator = PagedAllocator(4, 4)
    assert allocator.allocate("r0", tokens(10)) == 0
    assert len(allocator.table("r0")) == 3
    allocator.free("r0")
    assert allocator.allocate("r1", tokens(16)) == 0
    assert len(allocator.table("r1")) == 4
    assert not allocator.can_allocate(tokens(4))
    with refused(allocator, NoFreeBlocksError):  # V1 returns None here
        allocator.allocate("r2", tokens(4))


def test_A14_of_a_prompt_cached_as_a_whole_the_last_block_is_computed_again() -> None:
    allocator = caching()
    allocator.allocate("r0", COMMON)
    assert hashed(allocator) == {0, 1, 2}
    assert allocator.allocate("r1", COMMON) == 32
    assert allocator.table("r1") == (0, 1, 3)


def test_two_copies_of_equal_content_stay_apart_and_the_first_is_found() -> None:
    """What A16 says of them; see NOT_FOLLOWED for how they come about there, which does not happen here."""
    allocator = caching(block_size=4)
    allocator.allocate("r0", [1, 2, 3])
    allocator.allocate("r1", [1, 2, 3])
    allocator.append("r0", 4)
    allocator.append("r1", 4)
    assert allocator.table("r0") != allocator.table("r1")
    assert hashed(allocator) == {0, 1}
    allocator.allocate("r2", [1, 2, 3, 4, 5])
    assert allocator.table("r2")[0] == allocator.table("r0")[0]


def test_blocks_can_be_found_as_soon_as_they_are_allocated() -> None:
    """Where A16 has two copies."""
    allocator = caching()
    allocator.allocate("r0", COMMON + tokens(1))
    assert allocator.allocate("r1", COMMON + tokens(1)) == 48


def test_A17_a_block_s_hash_is_made_of_the_hash_before_it_its_tokens_and_a_key() -> None:
    name = block_hash(b"", [1, 2])
    assert name == block_hash(b"", (1, 2), None)
    others = [block_hash(b"", [1, 3]), block_hash(name, [1, 2]), block_hash(b"", [1, 2], "adapter"),
              block_hash(b"", [1, 2], "salt"), block_hash(b"", [1, 2], ("adapter", "salt")), block_hash(b"", [2, 1])]  # fmt: skip
    assert len({name, *others}) == 7
    allocator = caching(block_size=4)
    allocator.allocate("r0", [0, 0, 0, 0, 1, 2, 3, 4, 9])
    assert allocator.cached_tokens([0, 0, 0, 0, 1, 2, 3, 4, 9]) == 8
    assert allocator.cached_tokens([5, 5, 5, 5, 1, 2, 3, 4, 9]) == 0  # the same second block, after another first


def test_A20_the_cache_is_reset_only_while_no_block_is_in_use() -> None:
    allocator = with_r0()
    assert not allocator.reset_prefix_cache()
    assert allocator.cached_tokens(COMMON + tokens(7)) == 48
    allocator.free("r0")
    assert allocator.reset_prefix_cache()
    assert allocator.cached_tokens(COMMON + tokens(7)) == 0
    assert len(allocator.free_blocks) == 10


def test_A22_a_shared_block_is_free_when_its_last_owner_is() -> None:
    allocator = with_r0_and_r1()
    allocator.free("r0")
    assert allocator.owners(0) == 1
    assert 0 not in allocator.free_blocks
    allocator.free("r1")
    assert allocator.owners(0) == 0
    assert 0 in allocator.free_blocks
    assert allocator.cached_tokens([*COMMON, 0]) == 48


# B. The free queue


def test_B1_blocks_leave_the_queue_in_order_and_an_empty_queue_refuses() -> None:
    queue = FreeQueue(range(5))
    assert [queue.pop() for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="^no block is free$"):
        queue.pop()


def test_B3_many_at_once_are_as_many_single_ones_and_none_is_nothing() -> None:
    many, single = FreeQueue(range(5)), FreeQueue(range(5))
    assert many.pop_many(0) == []
    assert many.pop_many(3) == [single.pop() for _ in range(3)]
    many.append([])
    many.append([2, 0])
    single.append([2])
    single.append([0])
    assert list(many.blocks) == list(single.blocks) == [3, 4, 2, 0]
    many.put_in_front([])
    many.put_in_front([1])
    assert list(many.blocks) == [1, 3, 4, 2, 0]


def test_the_queue_refuses_too_many_a_block_twice_and_a_block_that_is_not_in_it() -> None:
    queue = FreeQueue(range(3))
    refusals: list[tuple[Callable[[], object], str]] = [
        (lambda: queue.pop_many(4), "4 blocks were asked for and 3 are free"),
        (lambda: queue.pop_many(-1), "-1 blocks were asked for and 3 are free"),
        (lambda: queue.append([7, 1]), "blocks [7, 1] would be in the free list twice"),
        (lambda: queue.append([7, 7]), "blocks [7, 7] would be in the free list twice"),
        (lambda: queue.put_in_front([1, 7]), "blocks [1, 7] would be in the free list twice"),
        (lambda: queue.remove(7), "block 7 is not free"),
    ]
    for call, sentence in refusals:
        with refused(queue, ValueError, sentence):
            call()


# C. Paging without a prefix cache


@pytest.mark.parametrize("num_blocks", [1, 1024])
def test_C1_C3_every_block_can_be_had_and_not_one_more(num_blocks: int) -> None:
    allocator = PagedAllocator(num_blocks, 16)
    for request_id in range(num_blocks):
        assert len(allocator.free_blocks) == num_blocks - request_id
        allocator.allocate(request_id, [7])
    assert len(allocator.free_blocks) == 0
    with refused(allocator, NoFreeBlocksError):
        allocator.allocate("one more", [7])
    allocator.free(0)
    assert len(allocator.free_blocks) == 1


def test_C2_the_only_block_is_the_same_block_a_hundred_times() -> None:
    allocator = PagedAllocator(1, 16)
    for _ in range(100):
        allocator.allocate("r", [7])
        assert allocator.table("r") == (0,)
        allocator.free("r")


def test_C5_the_table_of_a_freed_request_is_gone() -> None:
    allocator = PagedAllocator(4, 16)
    allocator.allocate("r", [7])
    allocator.free("r")
    with refused(allocator, UnknownRequestError):
        allocator.table("r")
    assert issubclass(UnknownRequestError, KeyError)


@pytest.mark.parametrize(("count", "blocks"), [(1, 1), (16, 1), (129, 9)])
def test_C6_a_prompt_takes_as_many_blocks_as_it_needs(count: int, blocks: int) -> None:
    allocator = PagedAllocator(10, 16)
    allocator.allocate("r", tokens(count))
    assert len(allocator.table("r")) == blocks


@pytest.mark.parametrize("before", [1, 3, 4, 5, 8])
def test_C7_appended_tokens_take_the_blocks_that_the_whole_needs_more(before: int) -> None:
    allocator = PagedAllocator(10, 4)
    allocator.allocate("r", tokens(before))
    started_with = len(allocator.table("r"))
    for more in range(1, 20):
        allocator.append("r", more)
        fresh = len(allocator.table("r")) - started_with
        assert fresh == math.ceil((before + more) / 4) - math.ceil(before / 4)


def test_C10_token_t_lies_in_block_t_div_block_size_at_t_mod_block_size() -> None:
    allocator = PagedAllocator(10, 4)
    allocator.allocate("other", tokens(5))
    allocator.allocate("r", tokens(3))
    allocator.free("other")
    slots = [allocator.append("r", token) for token in range(3, 12)]
    table = allocator.table("r")
    assert table == (2, 1, 0)  # logical order; the physical one is whatever was free
    assert slots == [Slot(table[t // 4], t % 4) for t in range(3, 12)]
    assert [slot.block * 4 + slot.offset for slot in slots[:2]] == [2 * 4 + 3, 1 * 4 + 0]


# D. Forks and copy-on-write


def forked(count: int, block_size: int = 8) -> PagedAllocator:
    allocator = PagedAllocator(10, block_size)
    allocator.allocate("parent", tokens(count))
    allocator.fork("parent", "child")
    return allocator


def test_D1_a_fork_takes_no_block_and_adds_an_owner_to_each() -> None:
    allocator = forked(20)
    assert allocator.table("child") == allocator.table("parent") == (0, 1, 2)
    assert owners(allocator, "child") == [2, 2, 2]
    assert len(allocator.free_blocks) == 7


def test_D2_a_parent_freed_first_leaves_all_blocks_to_the_child() -> None:
    allocator = forked(20)
    allocator.free("parent")
    assert len(allocator.free_blocks) == 7
    assert owners(allocator, "child") == [1, 1, 1]
    allocator.free("child")
    assert len(allocator.free_blocks) == 10


@pytest.mark.parametrize("count", range(1, 18))
def test_D4_D5_a_block_is_copied_once_if_it_is_partial_and_shared(count: int) -> None:
    allocator = forked(count)
    last = allocator.table("parent")[-1]
    copies = [slot for slot in (allocator.append("child", 1) for _ in range(10)) if slot.copied_from is not None]
    if count % 8:
        assert copies == [Slot(allocator.table("child")[blocks_needed(count, 8) - 1], count % 8, copied_from=last)]
        assert allocator.table("parent")[-1] == last not in allocator.table("child")
    else:
        assert not copies
        assert allocator.table("child")[: count // 8] == allocator.table("parent")


def test_D6_a_sole_owner_writes_in_place() -> None:
    allocator = forked(20)
    allocator.append("child", 1)  # copies, and leaves the parent alone in its block
    assert allocator.append("parent", 1) == Slot(2, 4)
    assert allocator.append("child", 2) == Slot(3, 5)


def samples(prompt: int, output: int, n: int, block_size: int, *, in_turn: bool) -> tuple[int, int]:
    """Blocks in use and copies made after n samples of `output` tokens from one prompt."""
    allocator = PagedAllocator(200, block_size)
    allocator.allocate(0, tokens(prompt))
    for sample in range(1, n):
        allocator.fork(0, sample)
    order = [sample for _ in range(output) for sample in range(n)]
    slots = [allocator.append(sample, 1) for sample in (order if in_turn else sorted(order))]
    return 200 - len(allocator.free_blocks), sum(slot.copied_from is not None for slot in slots)


@pytest.mark.parametrize("block_size", [4, 8, 16])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_D8_n_samples_of_a_prompt_share_its_full_blocks_and_cost_n_less_one_copies(n: int, block_size: int) -> None:
    for prompt in range(1, 38):
        for output in (1, 5, 17):
            whole = prompt // block_size
            shared = whole + n * (math.ceil((prompt + output) / block_size) - whole)
            copies = n - 1 if prompt % block_size else 0
            for in_turn in (True, False):
                assert samples(prompt, output, n, block_size, in_turn=in_turn) == (shared, copies)


# E. What holds of V0's evictor too


def test_E6_of_blocks_freed_together_the_tail_of_a_chain_is_evicted_before_its_head() -> None:
    allocator = caching(num_blocks=3, block_size=4)
    prompt = tokens(12)
    allocator.allocate("r", prompt)
    allocator.free("r")
    left = []
    for other in range(3):
        allocator.allocate(other, [other])
        left.append(allocator.cached_tokens([*prompt, 0]))
    assert left == [8, 4, 0]


# F. What holds of SGLang's radix tree too


@pytest.mark.parametrize(("block_size", "found"), [(1, 5), (2, 4), (4, 4)])
def test_F6_what_is_found_is_a_multiple_of_the_block(block_size: int, found: int) -> None:
    allocator = caching(block_size=block_size)
    allocator.allocate("r", [1, 2, 3, 4, 5])
    assert allocator.cached_tokens([1, 2, 3, 4, 5, 6]) == found


def test_F7_nothing_is_found_under_another_key_with_caching_off_or_after_a_reset() -> None:
    prompt = [1, 2, 3, 4, 5]
    for prefix_caching, key, reset, found in [
        (True, "adapter", False, 4),
        (True, "other adapter", False, 0),
        (True, None, False, 0),
        (False, "adapter", False, 0),
        (True, "adapter", True, 0),
    ]:
        allocator = PagedAllocator(4, 4, prefix_caching)
        allocator.allocate("r", prompt, "adapter")
        allocator.free("r")
        if reset:
            assert allocator.reset_prefix_cache()
        assert allocator.cached_tokens(prompt, key) == found


# G. The one of preemption and batching that is the allocator's


def test_G10_a_block_is_appended_for_its_first_token_and_hashed_with_its_last() -> None:
    """nano-vllm counts the new token first, we count it in the call; the moments are the same."""
    allocator = caching(block_size=4)
    allocator.allocate("r", [0])
    log: list[Event] = []
    allocator.log = log
    for token in range(1, 20):
        del log[:]
        allocator.append("r", token)
        length = allocator.num_tokens("r")
        assert [event.kind for event in log] == ["append"] * (length % 4 == 1) + ["cache"] * (length % 4 == 0)


# H. The planner's numbers from the same suites


def layers(full: int, windowed: int, window: int = 1024) -> Any:
    """A model with so many layers of full attention and, after them, so many with a sliding window."""
    return replace(
        MODELS["gemma-3-27b"],
        layers=full + windowed,
        window=window,
        window_layers=windowed,
        window_positions=tuple(range(full, full + windowed)),
    )


def test_H1_concurrency_of_full_attention() -> None:
    assert KvPool(kv_layout("llama-3.1-8b"), 1536).max_concurrency(16_384) == 1.5


def test_H3_concurrency_of_a_hybrid() -> None:
    layout = kv_layout(layers(16, 16))
    assert layout.request_blocks(16_384, max_num_batched_tokens=1024) == 1024 + 129
    assert KvPool(layout, (1024 + 129) * 3).max_concurrency(16_384, max_num_batched_tokens=1024) == 3.0


def test_H4_the_longest_request_that_8_gib_hold() -> None:
    pool = kv_pool("course-32-layer", 8 * GiB)
    assert pool.layout.printed_bytes_per_token == GiB / 2048  # 0.5 MiB
    assert pool.longest_request() == 16_384


def test_H6_two_full_and_four_sliding_layers_make_three_groups() -> None:
    layout = kv_layout(layers(2, 4))
    assert (layout.full_groups, layout.window_groups) == (1, 2)
    assert layout.block_bytes == 2 * layout.page_bytes
    assert kv_pool(layers(2, 4), 32 * 2 * layout.page_bytes).blocks == 32


def test_H8_six_full_and_five_sliding_layers_make_two_groups_with_a_layer_of_padding() -> None:
    layout = kv_layout(layers(6, 5))
    assert (layout.full_groups, layout.window_groups) == (1, 1)
    assert layout.groups * layout.block_bytes == (6 + 5 + 1) * layout.page_bytes


def test_H9_all_stages_of_a_pipeline_have_as_many_blocks_as_the_poorest() -> None:
    poorest = kv_pool("llama-3.1-8b", 10 * GiB, pipeline_parallel=2)
    assert kv_pool("llama-3.1-8b", (10 * GiB, 20 * GiB), pipeline_parallel=2) == poorest
    assert kv_pool("llama-3.1-8b", (20 * GiB, 10 * GiB), pipeline_parallel=2) == poorest


def test_H10_an_engine_with_a_null_block_has_one_less() -> None:
    pool = KvPool(kv_layout("llama-3.1-8b"), 5385)
    assert (pool.usable_blocks, pool.usable_tokens) == (5384, 86_144)
    allocator = PagedAllocator(pool.usable_blocks, 16)
    assert len(allocator.free_blocks) * allocator.block_size == 86_144


# Which scenarios are where

SCENARIOS = [
    f"{letter}{number}"
    for letter, numbers in {
        "A": (1, 2, 3, 4, 6, 7, 8, 10, 12, 14, 16, 17, 19, 20, 22),
        "B": (1, 3),
        "C": (1, 2, 3, 5, 6, 7, 9, 10),
        "D": (1, 2, 4, 5, 6, 8),
        "E": (1, 2, 4, 6),
        "F": (1, 3, 4, 6, 7),
        "G": (1, 3, 4, 5, 6, 8, 10, 11),
        "H": (1, 3, 4, 6, 8, 9, 10),
    }.items()
    for number in numbers
]

# Preemption, batches and budgets: the scheduler's, and in its tests.
SCHEDULING = ("G1", "G3", "G4", "G5", "G6", "G8", "G11")

NOT_FOLLOWED = {
    "A16": "allocate hashes full blocks at once, so an equal prompt finds them in the same step; no two copies arise there",
    "A19": "logprobs of the prompt are nothing that the allocator knows of; it has no way to skip the lookup",
    "C9": "a watermark of V0: here every block can go to a new request, and what to keep back is the scheduler's to decide",
    "E1": "V0 keeps one copy of equal blocks; V1's tables are append-only, and equal blocks stay apart",
    "E2": "as E1: an equal chain needs a block of its own for its last token",
    "E4": "as E1: of two equal chains the last block is there twice",
    "F1": "a radix tree counts the tokens that an insertion finds; here a prompt is not inserted apart from its request",
    "F3": "as F1",
    "F4": "a tree locks its leaves; here a block is kept while it has an owner, which A22 shows",
}


def ids_of_tests() -> set[str]:
    names = [name.removeprefix("test_") for name in globals() if re.match(r"test_[A-H]\d", name)]
    return {part for name in names for part in name.split("_") if re.fullmatch(r"[A-H]\d+", part)}


def missing(scenarios: list[str], places: list[set[str]]) -> dict[str, int]:
    """The scenarios that are not in exactly one of the places."""
    counts = {scenario: sum(scenario in place for place in places) for scenario in scenarios}
    return {scenario: count for scenario, count in counts.items() if count != 1}


def test_every_scenario_is_tested_or_listed_with_a_reason() -> None:
    places = [ids_of_tests(), set(SCHEDULING), set(NOT_FOLLOWED)]
    assert missing(SCENARIOS, places) == {}
    assert set.union(*places) == set(SCENARIOS)
    assert all(NOT_FOLLOWED.values())


def test_a_scenario_that_is_nowhere_or_in_two_places_is_noticed() -> None:
    assert missing(["A1", "A2", "A3"], [{"A1", "A3"}, {"A3"}]) == {"A2": 0, "A3": 2}
