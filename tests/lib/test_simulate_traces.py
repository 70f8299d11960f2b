"""The simulator on the real traces: what is published of them, exact counts, and how much it needs for that."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from llmserving.paging import PagedAllocator
from llmserving.scheduling import (
    ContinuousBatching,
    StaticBatching,
    Workload,
    azure_trace,
    mooncake_trace,
    prefix_hit_rate,
    simulate,
)

from tests import traces

pytestmark = pytest.mark.slow

CPU_BUDGET_S = 3 * 10  # "about 10 s or less on one core", times three for a busy machine
ENOUGH = 10**9  # blocks, so that only the batch size decides who runs


@pytest.fixture(scope="module")
def conversation() -> Workload:
    return azure_trace(traces.need_azure("conv"))


@pytest.fixture(scope="module")
def code() -> Workload:
    return azure_trace(traces.need_azure("code"))


@pytest.fixture(scope="module")
def mooncake() -> Workload:
    return mooncake_trace(traces.need_mooncake())


# The whole conversation trace


def test_the_whole_conversation_trace_is_simulated_in_seconds(conversation: Workload) -> None:
    began = time.process_time()
    events, summary = simulate(conversation, "continuous", "llama-2-13b", "a100-80gb")
    assert time.process_time() - began < CPU_BUDGET_S
    assert (len(summary.served), summary.rejected, summary.output_tokens) == (19_366, 0, 4_088_665)
    assert (summary.steps, len(events)) == (86_931, 85_861)
    # Four events for each, and for each preemption three: it is sent back, its prompt begins again, and is complete again.
    assert len(events) == 4 * 19_366 + 3 * summary.preemptions


def test_memory_grows_with_the_requests_and_not_with_the_tokens(conversation: Workload) -> None:
    def most_bytes(requests: Workload) -> int:
        tracemalloc.start()
        simulate(requests, "continuous", "llama-2-13b", "a100-80gb")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = most_bytes(conversation[:1000]), most_bytes(conversation)
    assert many < 1.1 * 19.366 * few
    assert many < 64 * 2**20  # 4.1 million tokens: a word for each would be half of that


def test_steps_and_events_grow_no_faster_than_the_requests_from_1000_to_all(conversation: Workload) -> None:
    few, many = (simulate(requests, "continuous") for requests in (conversation[:1000], conversation))
    assert len(many.events) / len(few.events) == pytest.approx(19.366, rel=0.1)
    assert 10 < many.summary.steps / few.summary.steps < 1.1 * 19.366  # batches are larger where the rate is higher


# Static and continuous


def steps_ratio(requests: Workload, batch: int) -> float:
    static, continuous = (
        simulate(requests, policy, num_blocks=ENOUGH).summary.steps
        for policy in (StaticBatching(batch), ContinuousBatching(batch))
    )
    return round(static / continuous, 2)


@pytest.mark.parametrize(
    ("batch", "of_conversation", "of_code"),
    [(8, 2.07, 3.70), (16, 2.33, 5.44), (32, 2.59, 7.59), (64, 2.88, 9.87), (128, 3.19, 11.47)],
)
def test_continuous_batching_takes_fewer_steps_than_full_static_batches(
    conversation: Workload, code: Workload, batch: int, of_conversation: float, of_code: float
) -> None:
    for requests, expected in ((conversation, of_conversation), (code, of_code)):
        whole = requests[: len(requests) // batch * batch].at_once()
        assert steps_ratio(whole, batch) == expected


@pytest.mark.parametrize(("batch", "of_conversation"), [(32, 2.60), (64, 2.89), (128, 3.21)])
def test_with_the_last_batch_that_is_not_full_the_conversations_gain_more(
    conversation: Workload, batch: int, of_conversation: float
) -> None:
    assert steps_ratio(conversation.at_once(), batch) == of_conversation


@pytest.mark.parametrize(("batch", "of_code"), [(16, 5.45), (32, 7.61), (64, 9.93), (128, 11.78)])
def test_with_the_last_batch_that_is_not_full_the_code_gains_more(code: Workload, batch: int, of_code: float) -> None:
    assert steps_ratio(code.at_once(), batch) == of_code


# Prefixes


@pytest.mark.parametrize(
    ("num_blocks", "percent"), [(1_000, 4.45), (5_000, 11.18), (10_000, 21.16), (50_000, 35.46), (None, 36.64)]
)
def test_what_a_prefix_cache_finds_of_mooncake_s_conversations(
    mooncake: Workload, num_blocks: int | None, percent: float
) -> None:
    assert round(100 * prefix_hit_rate(mooncake, num_blocks), 2) == percent


@pytest.mark.parametrize(
    ("num_blocks", "percent"), [(1_000, 4.45), (5_000, 11.16), (10_000, 21.13), (50_000, 35.41), (200_000, 36.60)]
)
def test_the_allocator_finds_slightly_less_since_it_leaves_the_last_block(
    mooncake: Workload, num_blocks: int, percent: float
) -> None:
    """A block of the trace, 512 tokens, is a token here, so blocks have one; requests come one at a time.

    200,000 blocks hold everything: the trace names fewer.
    """
    allocator = PagedAllocator(num_blocks, 1, prefix_caching=True)
    found = asked = 0
    for request in mooncake:
        found += allocator.allocate(request.id, request.prompt_blocks)
        allocator.free(request.id)
        asked += len(request.prompt_blocks)
    assert round(100 * found / asked, 2) == percent
    assert found / asked < prefix_hit_rate(mooncake, num_blocks)


def test_200000_blocks_hold_all_that_the_conversations_name(mooncake: Workload) -> None:
    assert len({block for request in mooncake for block in request.prompt_blocks}) < 200_000
