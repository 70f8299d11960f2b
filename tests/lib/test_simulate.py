"""What a simulation says about small workloads, worked out by hand: times from the roofline, tokens and blocks counted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llmserving import kv_bytes_per_token, plan, predict_decode, predict_prefill
from llmserving.scheduling import (
    BrokenRuleError,
    ChunkedPrefill,
    ContinuousBatching,
    DynamicBatching,
    Request,
    Served,
    Simulation,
    Spread,
    StaticBatching,
    Summary,
    Workload,
)
from llmserving.scheduling import simulate as simulate_it

from tests.lib.schedules import Watched, told, workload

MODEL, GPU = "llama-2-13b", "a100-80gb"


def simulate(requests: Any, policy: Any = "continuous", **settings: Any) -> Simulation:
    """Each case runs on both engines, which must agree on it; a watched policy has only the plain one."""
    result = simulate_it(requests, policy, **settings)
    if not isinstance(policy, Watched):
        assert result == simulate_it(requests, policy, step_by_step=True, **settings)
    return result


def prefill(tokens: int, batch: int = 1) -> float:
    return predict_prefill(MODEL, GPU, tokens, batch).seconds


def decode(context: int, batch: int = 1) -> float:
    """A step that gives each of a batch a token; `context` tokens are in the cache then, the one taken in included."""
    return predict_decode(MODEL, GPU, batch, context).seconds


def attention(context: int) -> float:
    return predict_decode(MODEL, GPU, 1, context).attention_seconds


def matmuls(tokens: int) -> float:
    return predict_prefill(MODEL, GPU, tokens).matmul_seconds


def by_id(summary: Summary) -> dict[int, Served]:
    return {one.request.id: one for one in summary.served}


# Times


@pytest.mark.parametrize("policy", ["static", "continuous", "chunked"])
def test_a_request_alone_takes_its_prefill_and_a_decode_step_for_each_other_token(policy: str) -> None:
    """Prompt 100, output 4: the prefill gives the first token, three steps with 101, 102 and 103 in the cache the rest."""
    events, summary = simulate(workload((2.5, 100, 4)), policy)
    assert told(events) == ["arrive 0", "prefill 0", "first token 0", "finish 0"]
    (one,) = summary.served
    steps = [decode(101), decode(102), decode(103)]
    assert one.time_to_first_token_s == pytest.approx(prefill(100))
    assert one.time_per_output_token_s == pytest.approx(sum(steps) / 3)
    assert one.finish_s == pytest.approx(2.5 + prefill(100) + sum(steps))
    assert summary.duration_s == pytest.approx(prefill(100) + sum(steps))
    assert (summary.steps, summary.output_tokens, summary.tally.computed_tokens) == (4, 4, 103)
    assert summary.throughput_tokens_per_s == pytest.approx(4 / summary.duration_s)
    assert summary.throughput_requests_per_s == pytest.approx(1 / summary.duration_s)


def test_the_events_of_a_request_alone_carry_step_tokens_and_free_blocks() -> None:
    """Prompt 5, output 4 in blocks of 4: two blocks for the prompt, 8 tokens at the end."""
    events, _ = simulate(workload((1, 5, 4)), block_size=4, num_blocks=10)
    assert [(event.kind, event.step, event.tokens, event.free_blocks) for event in events] == [
        ("arrive", 0, 0, 10),
        ("prefill", 1, 5, 8),
        ("first token", 1, 5, 8),
        ("finish", 4, 8, 10),
    ]
    assert events[1].time_s == events[0].time_s == 1.0


def test_a_request_with_one_token_of_output_is_its_prefill() -> None:
    events, summary = simulate(workload((0, 100, 1)))
    assert [event.kind for event in events] == ["arrive", "prefill", "first token", "finish"]
    assert summary.duration_s == pytest.approx(prefill(100))
    assert summary.served[0].time_per_output_token_s is None
    assert summary.time_per_output_token is None
    assert summary.goodput_requests_per_s(1, 1e-9) == summary.throughput_requests_per_s


def test_a_prompt_joins_the_decodes_of_a_step() -> None:
    """The second comes during the first step, and its whole prompt rides with the first one's decode.

    Step 2 has 51 tokens in its matmuls; attention is that of one decode over 101 tokens and of a prompt of 50.
    """
    _, summary = simulate(workload((0, 100, 4), (0.001, 50, 2)))
    mixed = matmuls(51) + attention(101) + predict_prefill(MODEL, GPU, 50).attention_seconds
    both = matmuls(2) + attention(102) + attention(51)
    first, second = summary.served[1], summary.served[0]  # the second ends first
    assert second.first_token_s == pytest.approx(prefill(100) + mixed)
    assert second.finish_s == pytest.approx(prefill(100) + mixed + both)
    assert first.finish_s == pytest.approx(prefill(100) + mixed + both + decode(103))
    assert summary.steps == 4


def test_nothing_runs_between_two_requests_far_apart() -> None:
    _, summary = simulate(workload((0, 100, 2), (10, 100, 2)))
    work = prefill(100) + decode(101)
    assert summary.duration_s == pytest.approx(10 + work)
    assert summary.busy_share == pytest.approx(2 * work / (10 + work))
    assert summary.tally.busy_s == pytest.approx(2 * work)


def test_utilisation_is_what_was_done_over_what_the_time_allowed() -> None:
    _, summary = simulate(workload((0, 100, 3), (5, 100, 3)))
    steps = [
        predict_prefill(MODEL, GPU, 100),
        predict_decode(MODEL, GPU, 1, 101),
        predict_decode(MODEL, GPU, 1, 102),
    ] * 2
    duration = 5 + sum(step.seconds for step in steps) / 2
    flops, num_bytes = sum(step.flops for step in steps), sum(step.num_bytes for step in steps)
    assert summary.compute_utilisation == pytest.approx(flops / (312e12 * duration))
    assert summary.bandwidth_utilisation == pytest.approx(num_bytes / (2039e9 * duration))
    assert summary.mean_batch == 1


@pytest.mark.parametrize(
    ("model", "gpu", "settings"),
    [
        ("gemma-2-27b", "a100-80gb", {}),  # windows
        ("mixtral-8x7b", "a100-80gb", {"tensor_parallel": 2}),  # experts
        ("deepseek-v2-lite", "a100-80gb", {}),  # latent attention, and experts
        ("llama-3.1-8b", "h100-80gb", {"tensor_parallel": 4, "link_bytes_per_s": 450e9}),
        ("llama-3.1-8b", "h100-80gb", {"weight_dtype": "int4", "kv_dtype": "fp8"}),
        ("llama-3.1-8b", "h100-80gb", {"compute_share": 0.5, "bandwidth_share": 0.8}),
        ("llama-3.1-8b", "h100-80gb", {"weight_dtype": "fp8", "compute_dtype": "fp8"}),
    ],
)
@pytest.mark.parametrize("prompt", [20, 6000])  # below and above gemma's window of 4096
def test_every_model_and_setting_takes_the_time_that_the_roofline_predicts(
    model: str, gpu: str, settings: dict[str, Any], prompt: int
) -> None:
    _, summary = simulate(workload((0, prompt, 3)), model=model, gpu=gpu, **settings)
    steps = [
        predict_prefill(model, gpu, prompt, **settings),
        predict_decode(model, gpu, 1, prompt + 1, **settings),
        predict_decode(model, gpu, 1, prompt + 2, **settings),
    ]
    assert summary.duration_s == pytest.approx(sum(step.seconds for step in steps))
    assert summary.tally.flops == pytest.approx(sum(step.flops for step in steps))


def test_int4_weights_make_decode_three_times_as_fast_and_leave_the_prefill_alone() -> None:
    """A decode step of one request is the bytes of the weights, a prefill of 2,000 tokens is arithmetic."""
    fp16, int4 = (simulate(workload((0, 2000, 50)), weight_dtype=dtype).summary.served[0] for dtype in ("fp16", "int4"))
    assert int4.time_to_first_token_s == pytest.approx(fp16.time_to_first_token_s)
    assert fp16.time_per_output_token_s is not None
    assert int4.time_per_output_token_s is not None
    assert 3 < fp16.time_per_output_token_s / int4.time_per_output_token_s < 4


# Static batching


def test_a_static_batch_pads_prompts_and_keeps_the_rows_of_those_who_are_done() -> None:
    """Prompts 3 and 5, outputs 2 and 4.

    Prefill: two rows of 5 tokens, 2 of them padding. Then three steps of two rows; in the last two, the first request is
    done: 2 more for nobody. 10 + 6 tokens in all, 4 for nobody.
    """
    events, summary = simulate(workload((0, 3, 2), (0, 5, 4)), StaticBatching(2), block_size=1, num_blocks=100)
    assert (summary.tally.computed_tokens, summary.tally.padding_tokens) == (16, 4)
    assert summary.padding_share == 4 / 16
    steps = [prefill(5, 2), decode(6, 2), decode(7, 2), decode(8, 2)]
    assert summary.duration_s == pytest.approx(sum(steps))
    assert by_id(summary)[0].finish_s == pytest.approx(steps[0] + steps[1])
    # 9 slots are reserved for each, the longest, until both are done
    assert [event.free_blocks for event in events if event.kind == "finish"] == [82, 100]


def test_who_comes_while_a_static_batch_runs_waits_for_its_end() -> None:
    """Two places in the batch, and one is free; still the second, at 1 ms, waits for all four tokens of the first."""
    _, summary = simulate(workload((0, 100, 4), (0.001, 50, 2)), StaticBatching(2))
    batch = prefill(100) + decode(101) + decode(102) + decode(103)
    assert by_id(summary)[1].time_to_first_token_s == pytest.approx(batch - 0.001 + prefill(50))
    assert summary.tally.padding_tokens == 0


def test_a_static_batch_is_as_large_as_the_reservations_that_fit() -> None:
    """Four requests of up to 8 tokens, 2 blocks of 4 each, in 5 blocks: two at a time, and the steps of two batches."""
    events, summary = simulate(workload(*[(0, 5, 3)] * 4), StaticBatching(4), block_size=4, num_blocks=5)
    assert told(events)[4:6] == ["prefill 0", "prefill 1"]
    assert (summary.tally.most_sequences, summary.tally.most_blocks, summary.steps) == (2, 4, 2 * 3)


# Dynamic batching


@pytest.mark.parametrize(
    ("rows", "window_s", "start_s"),
    [
        (3, 0.5, 0.2),  # full with the third, long before the window is over
        (4, 0.5, 0.5),  # not full: it starts when the first has waited for the window, though the fourth comes later
        (2, 0.5, 0.1),
        (4, 9.0, 2.0),
        (4, math.inf, 2.0),
        (5, math.inf, 2.0),  # nobody more comes, so there is nothing to wait for
    ],
)
def test_a_dynamic_batch_starts_when_it_is_full_or_its_window_is_over(
    rows: int, window_s: float, start_s: float
) -> None:
    requests = workload((0, 10, 3), (0.1, 10, 3), (0.2, 10, 3), (2, 10, 3))
    events, _ = simulate(requests, DynamicBatching(rows, window_s))
    started = [event for event in events if event.kind == "prefill" and event.step == 1]
    assert {event.time_s for event in started} == {start_s}
    come = [request.id for request in requests if request.arrival_s <= start_s]
    assert [event.request for event in started] == come[:rows]


def test_who_is_alone_waits_for_the_whole_window_and_then_no_longer() -> None:
    (served,) = simulate(workload((1, 10, 3)), DynamicBatching(4, 0.25)).summary.served
    assert served.time_to_first_token_s == pytest.approx(0.25 + prefill(10))


def test_who_has_waited_for_a_batch_longer_than_the_window_starts_at_once() -> None:
    events, summary = simulate(workload((0, 10, 90), (0.1, 10, 3)), DynamicBatching(2, 0.05))
    ended = next(event.time_s for event in events if event.kind == "finish" and event.request == 0)
    begun = next(event.time_s for event in events if event.kind == "prefill" and event.request == 1)
    assert ended > 0.1 + 0.05
    assert begun == ended
    assert summary.tally.padding_tokens == 0


def test_once_it_runs_a_dynamic_batch_is_a_static_one() -> None:
    at_once = workload((0, 3, 2), (0, 5, 4), (0, 4, 3))
    assert simulate(at_once, DynamicBatching(3)) == simulate(at_once, StaticBatching(3))


def test_continuous_batching_takes_fewer_steps_than_static() -> None:
    """Outputs 2, 10, 2, 10 in pairs: 10 + 10 steps, against 10 + 10 - 2 when the next takes the place of who is done.

    0 and 1 start at step 1; 2 takes the place of 0 at step 3, and 3 that of 2 at step 5, which ends at 14.
    """
    requests = workload((0, 5, 2), (0, 5, 10), (0, 5, 2), (0, 5, 10))
    assert simulate(requests, StaticBatching(2)).summary.steps == 20
    assert simulate(requests, ContinuousBatching(2)).summary.steps == 14


# Scenarios of real engines, by their names in the collection


def test_g1_the_latest_arrival_gives_its_block_back() -> None:
    """Two blocks of 4, prompts of 4: both prefill, 8 tokens; then the first needs a block, and only it decodes."""
    watched = Watched(ContinuousBatching())
    simulate(workload((0, 4, 3), (0, 4, 3)), watched, block_size=4, num_blocks=2)
    first, second = watched.steps[:2]
    assert (first.prefills, first.tokens) == ({0: 4, 1: 4}, 8)
    assert (second.preempted, second.decodes, second.tokens) == ([1], [0], 1)


def test_g3_the_preempted_request_waits_in_front_with_an_empty_cache() -> None:
    """A third request waits already. The second is computed again, 5 tokens with the one that it was given."""
    watched = Watched(ContinuousBatching(max_num_seqs=2))
    requests = workload((0, 4, 3), (0, 4, 3), (0, 4, 3))
    events, summary = simulate(requests, watched, block_size=4, num_blocks=2)
    assert watched.steps[1].waiting == [1, 2]
    preempted = next(event for event in events if event.kind == "preempt")
    assert (preempted.request, preempted.tokens) == (1, 0)
    prefills = [(event.request, event.tokens) for event in events if event.kind == "prefill"]
    assert prefills == [(0, 4), (1, 4), (1, 5), (2, 4)]
    assert summary.tally.recomputed_tokens == 4
    assert [one.preemptions for one in summary.served] == [0, 1, 0]
    assert summary.preemptions == 1


def test_g4_a_single_sequence_is_computed_again_unless_swapping_is_asked_for() -> None:
    requests = workload((0, 4, 3), (0, 4, 3))
    again, swapped = (
        simulate(requests, policy, block_size=4, num_blocks=2)
        for policy in (ContinuousBatching(), ContinuousBatching(preemption="swap"))
    )
    assert (again.summary.tally.recomputed_tokens, again.summary.tally.swapped_tokens) == (4, 0)
    assert (swapped.summary.tally.recomputed_tokens, swapped.summary.tally.swapped_tokens) == (0, 8)  # out and in
    assert told(again.events, 1)[3:] == ["preempt 1", "prefill 1", "recomputed 1", "finish 1"]
    assert told(swapped.events, 1)[3:] == ["preempt 1", "resume 1", "finish 1"]


def test_g5_four_prompts_of_four_tokens_are_16_tokens_and_then_4() -> None:
    watched = Watched(ContinuousBatching())
    simulate(workload(*[(0, 4, 2)] * 4), watched)
    assert [step.tokens for step in watched.steps] == [16, 4]


@pytest.mark.parametrize("policy", [ContinuousBatching(2), ChunkedPrefill(2), StaticBatching(2)])
def test_g6_no_more_run_than_max_num_seqs(policy: Any) -> None:
    watched = Watched(policy)
    simulate(workload(*[(0, 4, 2)] * 4), watched)
    assert [sorted(step.prefills) for step in watched.steps] == [[0, 1], [], [2, 3], []]
    assert simulate(workload(*[(0, 4, 2)] * 4), policy).summary.tally.most_sequences == 2


def test_g8_decodes_come_first_and_prompts_get_the_rest_of_the_budget() -> None:
    """A budget of 6: prompt 0 takes 4 of it, prompt 1 the other 2; then 0 decodes, and 1 gets its next 5 of 9 tokens."""
    watched = Watched(ChunkedPrefill(max_num_seqs=4, token_budget=6))
    events, _ = simulate(workload((0, 4, 4), (0, 9, 2), (0, 3, 1)), watched)
    assert [(step.decodes, step.prefills) for step in watched.steps] == [
        ([], {0: 4, 1: 2}),
        ([0], {1: 5}),
        ([0], {1: 2, 2: 3}),
        ([0, 1], {}),
    ]
    assert max(step.tokens for step in watched.steps) == 6
    assert [event.tokens for event in events if (event.kind, event.request) == ("prefill", 1)] == [2, 7, 9]


def test_g11_the_oldest_is_never_sent_back_and_all_are_served_in_order() -> None:
    """Five requests of up to 8 tokens fight for 2 blocks of 4: two start, the later gives way, and then runs alone."""
    events, summary = simulate(workload(*[(0, 3, 6)] * 5), block_size=4, num_blocks=2)
    assert [one.request.id for one in summary.served] == [0, 1, 2, 3, 4]
    assert [one.preemptions for one in summary.served] == [0, 1, 0, 1, 0]
    assert [event.request for event in events if event.kind == "first token"] == [0, 1, 2, 3, 4]


def test_c9_a_watermark_of_a_quarter_keeps_one_block_of_four_from_new_requests() -> None:
    """Prompts 4, 7 and 4 in blocks of 4 take 1, 2 and 1: the third would take the last, which the first needs at once."""
    requests = workload((0, 4, 2), (0, 7, 2), (0, 4, 2))
    greedy = Watched(ContinuousBatching())
    simulate(requests, greedy, block_size=4, num_blocks=4)
    assert list(greedy.steps[0].prefills) == [0, 1, 2]
    assert greedy.steps[1].preempted == [2]
    careful = Watched(ContinuousBatching(watermark=0.25))
    simulate(requests, careful, block_size=4, num_blocks=4)
    assert list(careful.steps[0].prefills) == [0, 1]
    assert careful.steps[0].free_blocks == 1
    assert (careful.steps[1].decodes, careful.steps[1].free_blocks) == ([0, 1], 0)  # decode may use it
    assert not any(step.preempted for step in careful.steps)


def test_c9_a_request_that_would_run_alone_may_take_all_blocks() -> None:
    _, summary = simulate(workload((0, 16, 1)), ContinuousBatching(watermark=0.25), block_size=4, num_blocks=4)
    assert len(summary.served) == 1


# Preemption takes time


def test_swapping_moves_the_bytes_of_a_cache_out_and_in_again() -> None:
    """Two blocks of 4. Step 2 decodes for 0 and sends the 4 tokens of 1 out; 0 ends with step 3; 1 comes back in step 4."""
    settings = {"block_size": 4, "num_blocks": 2}
    policy = ContinuousBatching(preemption="swap")
    requests = workload((0, 4, 3), (0, 4, 3))
    move = 4 * kv_bytes_per_token(MODEL) / 25e9
    steps = [prefill(4, 2), decode(5) + move, decode(6), decode(5) + move, decode(6)]
    assert simulate(requests, policy, **settings).summary.duration_s == pytest.approx(sum(steps))
    slow = simulate(requests, policy, swap_bytes_per_s=1e9, **settings).summary
    assert slow.duration_s == pytest.approx(sum(steps) + 2 * (4 * kv_bytes_per_token(MODEL) / 1e9 - move))


def test_computing_again_takes_a_prefill_of_prompt_and_output() -> None:
    """As above, but 1 starts over with the 4 tokens of its prompt and the one it was given."""
    _, summary = simulate(workload((0, 4, 3), (0, 4, 3)), block_size=4, num_blocks=2)
    steps = [prefill(4, 2), decode(5), decode(6), prefill(5), decode(6)]
    assert summary.duration_s == pytest.approx(sum(steps))
    assert by_id(summary)[1].first_token_s == pytest.approx(steps[0])  # it was given, and stays given


# Chunked prefill


def test_chunks_keep_the_tail_short_while_a_long_prompt_comes_in() -> None:
    """Twenty answers of 20 to 58 tokens, and a prompt of 8,000 tokens when they are at about the tenth.

    Whole, it stops everybody for the 0.7 s of its step; in chunks of 256, no step has more tokens than that.
    """
    requests = workload(*((0, 50, 20 + 2 * i) for i in range(20)), (0.2, 8000, 10))
    whole, chunked = (
        simulate(requests, policy).summary for policy in (ContinuousBatching(), ChunkedPrefill(20, token_budget=256))
    )
    stopped = predict_prefill(MODEL, GPU, 8000).seconds
    assert stopped > 0.65
    waited = [one.finish_s - one.first_token_s for one in whole.served if one.request.id < 20]
    assert min(waited) > stopped
    assert whole.time_per_output_token is not None
    assert chunked.time_per_output_token is not None
    assert whole.time_per_output_token.p95 > 2 * chunked.time_per_output_token.p95
    assert by_id(whole)[20].first_token_s < by_id(chunked)[20].first_token_s  # what the long prompt pays for it


@pytest.mark.parametrize("token_budget", [8, 9, 64])
def test_no_step_exceeds_the_budget(token_budget: int) -> None:
    watched = Watched(ChunkedPrefill(8, token_budget=token_budget))
    simulate(workload(*((0.02 * i, 10 + 7 * i, 3 + i) for i in range(20))), watched, num_blocks=30)
    assert max(step.tokens for step in watched.steps) == token_budget
    assert any(len(step.prefills) > 1 for step in watched.steps)


# Memory


def test_what_can_never_fit_is_rejected_and_the_others_are_served() -> None:
    """Four blocks of 4: 16 tokens in the cache are the most, prompt 10 and output 7; the last token never enters it."""
    requests = workload((0, 10, 7), (0, 10, 8), (1, 17, 1), (2, 16, 1))
    events, summary = simulate(requests, block_size=4, num_blocks=4)
    assert [event.request for event in events if event.kind == "reject"] == [1, 2]
    assert [one.request.id for one in summary.served] == [0, 3]
    assert summary.rejected == 2
    assert told(events, 2) == ["reject 2"]
    assert next(event for event in events if event.request == 2).time_s == 1.0


def test_where_nobody_fits_nothing_happens() -> None:
    events, summary = simulate(workload((0, 100, 1), (1, 100, 1)), block_size=4, num_blocks=4)
    assert told(events) == ["reject 0", "reject 1"]
    assert (summary.steps, summary.duration_s, summary.throughput_tokens_per_s) == (0, 0, 0)
    assert summary.time_to_first_token is None
    assert "0 requests served, 2 rejected" in summary.explain()
    assert "time to first token: nobody was given one" in summary.explain()


def test_contiguous_memory_rejects_what_is_longer_than_its_reservations() -> None:
    requests = workload((0, 8, 1), (0, 8, 2), (0, 5, 4))
    _, summary = simulate(requests, memory="contiguous", max_len=8, block_size=4, num_blocks=100)
    assert [one.request.id for one in summary.served] == [0, 2]  # 8 and 8 tokens in the cache, the other has 9


def test_paging_runs_four_times_as_many_requests_in_the_same_memory() -> None:
    """Eight requests that end with 4 tokens in the cache; 8 blocks of 4.

    Paged, each holds one block, with 3 tokens after the prefill and 4 in the one decode step. Contiguous, each reserves
    16 slots for what it could become: two run at a time, and 3 or 4 slots of 16 are used.
    """
    requests = workload(*[(0, 3, 2)] * 8)
    paged = simulate(requests, block_size=4, num_blocks=8).summary
    reserved = simulate(requests, memory="contiguous", max_len=16, block_size=4, num_blocks=8).summary
    assert (paged.tally.most_sequences, reserved.tally.most_sequences) == (8, 2)
    assert (paged.steps, reserved.steps) == (2, 8)
    first, second = prefill(3, 8), decode(4, 8)
    assert paged.kv_used_share == pytest.approx((3 / 4 * first + 4 / 4 * second) / (first + second))
    first, second = prefill(3, 2), decode(4, 2)
    assert reserved.kv_used_share == pytest.approx((3 / 16 * first + 4 / 16 * second) / (first + second))
    assert reserved.kv_waste_share == 1 - reserved.kv_used_share
    assert [paged.kv_held_share, reserved.kv_held_share] == pytest.approx([1, 1])
    assert paged.duration_s < reserved.duration_s


def test_reservations_are_by_default_for_the_longest_request() -> None:
    _, summary = simulate(workload((0, 3, 2), (0, 20, 10)), memory="contiguous", block_size=4, num_blocks=100)
    assert summary.memory.max_len == 30
    assert summary.tally.most_blocks == 2 * 8  # ceil(30 / 4) each


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("llama-2-13b", {}),
        ("llama-2-13b", {"block_size": 32, "gpu_memory_utilization": 0.8}),
        ("gemma-2-27b", {}),  # as if all layers looked at everything: half as many blocks of tokens as of pages
        ("mixtral-8x7b", {"tensor_parallel": 2}),
        ("deepseek-v2-lite", {"kv_dtype": "fp8"}),
        ("llama-3.1-8b", {"weight_dtype": "int4"}),
    ],
)
def test_the_pool_is_by_default_what_the_planner_leaves(model: str, settings: dict[str, Any]) -> None:
    made = plan(model, GPU, context=1, requests=1, max_num_seqs=32, **settings)
    memory = simulate(workload((0, 5, 2)), ContinuousBatching(32), model=model, **settings).summary.memory
    assert made.kv_tokens is not None
    assert memory.num_blocks == made.kv_tokens // memory.block_size
    assert memory.num_blocks * memory.block_size == made.kv_tokens


# What it comes to


def test_a_spread_is_the_mean_and_three_quantiles() -> None:
    """Three prompts, one after the other, so that the second waits for the first and the third for both.

    Of three values a < b < c, p95 lies 0.9 of the way from b to c, and p99 0.98 of it.
    """
    _, summary = simulate(workload((0, 100, 2), (0, 200, 2), (0, 300, 2)), ContinuousBatching(1))
    a = prefill(100)
    b = a + decode(101) + prefill(200)
    c = b + decode(201) + prefill(300)
    expected = Spread((a + b + c) / 3, b, b + 0.9 * (c - b), b + 0.98 * (c - b))
    found = summary.time_to_first_token
    assert found is not None
    assert vars(found) == pytest.approx(vars(expected))
    assert str(Spread(1, 2, 3, 4)) == "mean 1 s, p50 2 s, p95 3 s, p99 4 s"


def test_goodput_counts_those_who_kept_both_promises() -> None:
    """As above: first tokens after about 0.01, 0.04 and 0.07 s, then 13 ms for the second token."""
    _, summary = simulate(workload((0, 100, 2), (0, 200, 2), (0, 300, 2)), ContinuousBatching(1))
    each = [decode(101), decode(201), decode(301)]
    second = prefill(100) + each[0] + prefill(200)
    for first_s, token_s, kept in (
        (1, 1, 3),
        (second * 1.0001, 1, 2),
        (second * 0.9999, 1, 1),
        (1, each[0] * 1.0001, 1),
        (second * 1.0001, each[1] * 1.0001, 2),
        (second * 0.9999, each[0] * 0.9999, 0),
    ):
        assert summary.goodput_requests_per_s(first_s, token_s) == pytest.approx(kept / summary.duration_s)


def test_the_explanation_says_all_of_it() -> None:
    lines = (
        simulate(workload((0, 4, 3), (0, 4, 3), (0, 99, 1)), block_size=4, num_blocks=2).summary.explain().split("\n")
    )
    assert lines[0].startswith("by hand: 2 requests served, 1 rejected, in ")
    assert lines[0].endswith(" and 5 steps")
    assert lines[-1].endswith(" of that used; preemptions: 1, with 4 tokens computed again and 0 swapped")


# Workloads


@pytest.mark.parametrize("policy", ["static", "dynamic", "continuous", "chunked"])
def test_an_empty_workload_takes_no_time(policy: str) -> None:
    events, summary = simulate([], policy)
    assert (events, summary.steps, summary.duration_s, summary.rejected) == ([], 0, 0.0, 0)
    assert (summary.mean_batch, summary.busy_share, summary.kv_held_share, summary.kv_used_share) == (0, 0, 0, 0)
    assert (summary.compute_utilisation, summary.bandwidth_utilisation, summary.padding_share) == (0, 0, 0)
    assert summary.throughput_requests_per_s == summary.goodput_requests_per_s(1, 1) == 0
    assert "0 requests served" in summary.explain()


def test_a_plain_list_of_requests_will_do() -> None:
    events, summary = simulate([Request(7, 0, 10, 2)])
    assert told(events)[-1] == "finish 7"
    assert summary.workload == "workload"


@pytest.mark.parametrize("policy", ["static", "dynamic", "continuous", "chunked"])
@pytest.mark.parametrize("ids", [[2, 0, 1], [9, 8, 7]])
def test_of_those_who_come_together_the_one_that_stands_first_is_served_first(policy: str, ids: list[int]) -> None:
    """The place in the workload counts, not the id."""
    events, _ = simulate([Request(id, 0.0, 4, 3) for id in ids], policy, block_size=4, num_blocks=6)
    begun = dict.fromkeys(event.request for event in events if event.kind == "prefill")
    assert list(begun) == ids


def test_all_at_once_is_one_batch() -> None:
    requests = Workload([Request(i, 1.5 * i, 10, 5) for i in range(8)], "spread out")
    _, summary = simulate(requests.at_once())
    assert (summary.steps, summary.tally.most_sequences) == (5, 8)
    assert summary.workload == "spread out, all at once"


@pytest.mark.parametrize("settings", [{}, {"step_by_step": True}, {"policy": "static"}])
def test_a_bar_is_shown_on_request_and_counts_all_who_are_done(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    bars: list[Bar] = []

    class Bar:
        def __init__(self, total: int, **_: Any) -> None:
            self.total, self.done = total, 0
            bars.append(self)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            assert self.done == self.total

        def update(self, more: int) -> None:
            self.done += more

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    requests = workload((0, 5, 3), (0, 500, 3), (1, 5, 1))  # the second is rejected
    simulate_it(requests, block_size=4, num_blocks=4, **settings)
    assert not bars
    simulate_it(requests, block_size=4, num_blocks=4, progress=True, **settings)
    assert [bar.total for bar in bars] == [3]


NARROW: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    ((0, 0.0, np.uint32(100), np.uint32(200)), (0, 0.0, 100, 200)),
    ((0, 0.0, np.int32(100), np.int32(200)), (0, 0.0, 100, 200)),
    ((0, np.float32(20000), 100, 200), (0, 20000.0, 100, 200)),
    ((0, np.float16(3600), 100, 200), (0, 3600.0, 100, 200)),
    ((np.int8(7), np.int64(1), np.int64(100), np.uint8(200)), (7, 1.0, 100, 200)),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("narrow", "plain"), NARROW)
@pytest.mark.parametrize("policy", ["static", "dynamic", "continuous", "chunked"])
def test_narrow_numbers_of_numpy_are_served_as_python_s_own(
    narrow: tuple[Any, ...], plain: tuple[Any, ...], policy: str
) -> None:
    """A clock of 32 bits would put the first token of a request at 20,000 s at 13.67 ms instead of 12.93."""
    given, expected = (simulate([Request(*one)], policy, num_blocks=1000) for one in (narrow, plain))
    assert given == expected
    assert len(given.summary.served) == 1
    assert type(given.summary.duration_s) is type(given.events[-1].time_s) is float
    assert type(given.events[0].request) is type(given.summary.output_tokens) is int


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint16])
def test_narrow_settings_of_numpy_mean_what_python_s_own_mean(kind: Any) -> None:
    requests = workload((0, 300, 40), (0, 300, 40), (0, 500, 2))
    narrow: Any = np.float16(0.1)
    for policy, plain in (
        (
            ContinuousBatching(kind(2), watermark=narrow),
            ContinuousBatching(2, watermark=float(narrow)),
        ),
        (ChunkedPrefill(kind(2), token_budget=kind(100)), ChunkedPrefill(2, token_budget=100)),
    ):
        for pool in (kind(50), kind(100)):
            given = simulate(requests, policy, block_size=kind(16), num_blocks=pool)
            assert given == simulate(requests, plain, block_size=16, num_blocks=int(pool))
    reserved = simulate(requests, StaticBatching(kind(3)), block_size=kind(16), num_blocks=kind(100))
    assert reserved == simulate(requests, StaticBatching(3), block_size=16, num_blocks=100)


# Refusals

ONE = workload((0, 5, 2))
REFUSALS: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: simulate(ONE, "continous"),
        "policy is 'static', 'dynamic', 'continuous' or 'chunked', or an object with a method schedule(engine), or a class "
        "or a function that makes one, but got 'continous'",
    ),
    (lambda: simulate(ONE, object()), "policy is 'static', .* but got <object object"),
    (lambda: simulate(ONE, None), "policy is 'static', .* but got None"),
    (lambda: simulate(ONE, Summary), "Summary() cannot be called as the engine calls it: "),
    (lambda: simulate(ONE, dict), "policy is 'static', .*, but got {} from dict"),
    (lambda: simulate(ONE, lambda: 7), "policy is 'static', .*, but got 7 from <lambda>"),
    (lambda: simulate(ONE, memory="virtual"), "memory is 'paged' or 'contiguous', but got 'virtual'"),
    (
        lambda: simulate(ONE, "static", memory="paged"),
        "memory is 'contiguous' for static batching, which knows nothing of blocks, but got 'paged'",
    ),
    (lambda: simulate(ONE, DynamicBatching(window_s=0)), "window_s is the seconds for which the first of a batch waits"),
    (lambda: simulate(ONE, DynamicBatching(window_s=math.nan)), "window_s is .* but got NaN"),
    (lambda: simulate(ONE, window_s=1), r"window_s is a setting of the policy: simulate\(workload, DynamicBatching"),
    (lambda: simulate(ONE, max_len=100), "max_len has no meaning where memory is 'paged', which reserves nothing"),
    (lambda: simulate(ONE, "static", max_len=0), "max_len is the most tokens that a request can have and must be at least"),
    (lambda: simulate(ONE, num_blocks=0), "num_blocks is the number of blocks of the KV cache and must be at least 1, but got 0"),
    (lambda: simulate(ONE, num_blocks=2.5), "num_blocks is the number of blocks of the KV cache, a whole number, but got 2.5"),
    (lambda: simulate(ONE, block_size=0), "block_size is the number of tokens .* must be at least 1, but got 0"),
    (lambda: simulate(ONE, block_size="16", num_blocks=9), "block_size is the number of tokens in a block, a whole number"),
    (lambda: simulate(ONE, gpu_memory_utilization=90), "gpu_memory_utilization is .*; 90 % is 0.9"),
    (lambda: simulate(ONE, model="llama-2-13"), "there is no model 'llama-2-13'"),
    (lambda: simulate(ONE, gpu="a100"), "there is no GPU 'a100'"),
    (lambda: simulate(ONE, model="llama-3.1-405b"), "no room is left for a KV cache\n"),
    (lambda: simulate(ONE, weight_dtype="int5"), "weight_dtype 'int5' is not known"),
    (lambda: simulate(ONE, kv_dtype="fp61"), "kv_dtype 'fp61' is not known"),
    (lambda: simulate(ONE, tensor_parallel=3), "tensor_parallel 3 does not divide the 40 query heads"),
    (lambda: simulate(ONE, swap_bytes_per_s=0), "swap_bytes_per_s is the bytes a second to and from .* must be above 0"),
    (lambda: simulate(ONE, link_bytes_per_s=-1), "link_bytes_per_s is the bytes a second .* must be above 0"),
    (lambda: simulate(ONE, blocks=7), "simulate has no setting 'blocks'; those of a step are weight_dtype, kv_dtype, "),
    (
        lambda: simulate(ONE, max_num_seqs=8),
        "max_num_seqs is a setting of the policy: simulate(workload, ContinuousBatching(max_num_seqs=...))",
    ),
    (lambda: simulate(ONE, token_budget=8), "simulate(workload, ChunkedPrefill(token_budget=...))"),
    (lambda: simulate(ONE, batch_size=8), "simulate(workload, StaticBatching(batch_size=...))"),
    (lambda: simulate(5), "requests are a list of Requests, but got 5"),
    (lambda: simulate([(0, 5, 2)]), "a workload is made of Requests, but one of them is (0, 5, 2)"),
    (lambda: simulate([Request(3, 0, 5, 2), Request(3, 1, 5, 2)]), "two requests of the workload have the id 3"),
    (lambda: simulate([Request(0, 1, 5, 2), Request(1, 0, 5, 2)]), "a workload is in the order of arrival, but request 1"),
    (lambda: StaticBatching(0), "batch_size is the requests in a batch and must be at least 1, but got 0"),
    (lambda: ContinuousBatching(0), "max_num_seqs is the requests that may run at once and must be at least 1, but got 0"),
    (lambda: ContinuousBatching(preemption="drop"), "preemption is 'recompute' or 'swap', but got 'drop'"),  # type: ignore[arg-type]
    (lambda: ContinuousBatching(watermark=25), "watermark is the share of all blocks .*; 25 % is 0.25"),
    (lambda: ContinuousBatching(watermark=-0.1), "watermark is the share of all blocks .* and must be at least 0, but got -0.1"),
    (lambda: ContinuousBatching(watermark=False), "watermark is the share of all blocks .*, a truth value"),
    (lambda: ContinuousBatching(watermark=None), "watermark is the share of all blocks .*, a number such as 2"),  # type: ignore[arg-type]
    (lambda: ChunkedPrefill(token_budget=0), "token_budget is the tokens of all requests in a step and must be at least 1"),
    (
        lambda: ChunkedPrefill(max_num_seqs=8, token_budget=7),
        "token_budget is 7, less than max_num_seqs, 8: in a full batch each request needs one token a step",
    ),
    (lambda: simulate(ONE).summary.goodput_requests_per_s(0, 1), "time_to_first_token_s is the longest wait .* above 0"),
    (lambda: simulate(ONE).summary.goodput_requests_per_s(1, "1"), "time_per_output_token_s is the longest mean time"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words[:40] for _, words in REFUSALS])
def test_what_makes_no_sense_is_refused_in_a_sentence(call: Callable[[], Any], words: str) -> None:
    pattern = words if ".*" in words or "\\" in words else re.escape(words)
    with pytest.raises((TypeError, ValueError, BrokenRuleError), match=pattern):
        call()
