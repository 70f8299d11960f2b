"""Questions that people asked in public, where the answer needs a whole plan: what the planner says, and what was printed.

Those that need only the KV cache are in test_kv_cache_real.py and test_engine_logs.py. GiB as in the logs, rounded there
to two decimals.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from llmserving import GB, GPUS, GiB, kv_bytes_per_token, plan

ROUNDING = 0.005  # of a GiB printed with two decimals


def test_vllm_10517_why_20000_tokens_start_on_a_3090_and_29000_do_not() -> None:
    starts = plan("llama-3.1-8b", "rtx-3090", context=20_000, requests=1, kv_bytes_available=3.81 * GiB)
    assert starts.fits
    assert starts.kv_blocks == pytest.approx(1952, abs=2)  # the printed GiB leaves 2.6 blocks open

    refused = plan("llama-3.1-8b", "rtx-3090", context=29_000, requests=1, kv_bytes_available=(2.89 - ROUNDING) * GiB)
    assert (refused.fits, refused.limit) == (False, "context")
    assert refused.kv_bytes_per_request / GiB == pytest.approx(3.54, abs=ROUNDING)
    assert refused.kv_tokens == pytest.approx(23_648, abs=2 * 16)
    assert plan("llama-3.1-8b", "rtx-3090", context=29_000, kv_bytes_available=1478 * 2 * 1024**2).kv_tokens == 23_648


def test_vllm_10517_chunked_prefill_gives_one_answer_for_both() -> None:
    short, long = (plan("llama-3.1-8b", "rtx-3090", context=n, requests=1) for n in (20_000, 29_000))
    assert short.kv_bytes_available == long.kv_bytes_available
    assert short.fits


def test_vllm_34076_two_stages_of_16_and_32_layers_need_8_and_16_gib_and_not_24() -> None:
    model, context = "qwen3-coder-30b-a3b", 262_144
    one = plan(model, "h100-80gb", "fp8", context=context, requests=1)
    assert one.kv_bytes_per_request == 24 * GiB
    two = plan(model, "h100-80gb", "fp8", context=context, requests=1, pipeline_parallel=(16, 32))
    assert two.kv_bytes_per_request == 16 * GiB


def test_vllm_5248_two_t4_hold_8112_tokens_of_deepseek_coder() -> None:
    made = plan(
        "deepseek-coder-6.7b", "t4-16gb", context=16_384, requests=1, tensor_parallel=2, kv_bytes_available=1.985 * GiB
    )
    assert (made.kv_blocks, made.kv_tokens) == (508, 8128)
    assert made.kv_bytes_per_request == 4 * GiB
    exactly = plan("deepseek-coder-6.7b", "t4-16gb", tensor_parallel=2, kv_bytes_available=507 * 16 * 262_144)
    assert exactly.kv_tokens == 8112
    assert 507 * 16 * 262_144 / GiB == pytest.approx(1.98, abs=ROUNDING)


@pytest.mark.parametrize(
    ("question", "gib", "tokens", "blocks"), [("QwenLM/Qwen3#295", 3.59, 7344, 459), ("QAnything#302", 1.85, 3792, 237)]
)
def test_qwen_7b_caches_every_head(question: str, gib: float, tokens: int, blocks: int) -> None:
    made = plan("qwen1.5-7b", "rtx-3090", context=32_768, requests=1, kv_bytes_available=(gib + ROUNDING) * GiB)
    least = plan("qwen1.5-7b", "rtx-3090", context=32_768, requests=1, kv_bytes_available=(gib - ROUNDING) * GiB)
    assert made.kv_blocks is not None
    assert least.kv_blocks is not None
    assert least.kv_blocks <= blocks <= made.kv_blocks
    assert least.kv_tokens <= tokens <= made.kv_tokens
    assert made.kv_bytes_per_request == 16 * GiB
    assert made.limit == "context"


def test_vllm_2031_it_is_no_leak_the_pool_is_all_that_the_budget_leaves() -> None:
    """7449 blocks for Llama-2-7B on an A100-80 at 0.9, of an engine before the fit: 0.9 % more than it says."""
    made = plan("llama-2-7b", "a100-80gb")
    assert made.kv_blocks == pytest.approx(7449, rel=0.01)
    assert plan("llama-2-7b", "a100-80gb", kv_bytes_available=58.2 * GiB).kv_blocks == 7449
    assert made.memory_bytes * 0.1 == pytest.approx(made.memory_bytes - made.budget_bytes, abs=1)


def test_vllm_27508_a_utilization_of_10_percent_leaves_less_than_nothing() -> None:
    made = plan("qwen3-30b-a3b", "h100-80gb", gpu_memory_utilization=0.1)
    assert (made.fits, made.limit) == (False, "weights")
    assert made.kv_bytes_available / GiB < -23.55  # what the report prints, of a card that is not named
    assert "more than the budget of 7.919 GiB" in made.verdict


def test_vllm_7039_pipeline_stages_hold_more_tokens_in_all() -> None:
    one, two = (plan("llama-3.1-8b", "h100-80gb", gpu_memory_utilization=0.95, pipeline_parallel=n) for n in (1, 2))
    assert two.kv_tokens == pytest.approx(1_075_312, rel=0.003)  # LLMD-25
    assert two.kv_tokens > 2 * one.kv_tokens


def test_vllm_27017_more_short_requests_run_than_the_printed_concurrency_of_long_ones() -> None:
    pool = 4.61 * 8192 * kv_bytes_per_token("llama-3.1-8b")
    long = plan("llama-3.1-8b", "rtx-3090", context=8192, kv_bytes_available=pool)
    short = plan("llama-3.1-8b", "rtx-3090", context=800, kv_bytes_available=pool)
    assert long.max_concurrency == pytest.approx(4.61, abs=0.005)
    assert short.max_requests == 47  # 37,760 tokens; the answer collected with the question says 46


def test_llm_algo_leetcode_133_a_70b_model_in_fp16_is_larger_than_one_80_gb_card() -> None:
    made = plan("llama-3-70b", "h100-80gb", context=32_768, requests=1, view="textbook")
    assert made.weight_bytes / GB == pytest.approx(141.2, rel=0.001)
    assert (made.fits, made.limit) == (False, "weights")
    engine = plan("llama-3-8b", "h100-80gb", context=32_768, requests=1)
    assert engine.kv_bytes_per_request == 4 * GiB
    assert round(engine.kv_bytes_per_request / GB, 3) == 4.295


def test_the_card_decides_by_what_it_reports_not_by_what_it_is_sold_with() -> None:
    reported = plan("llama-3.1-8b", "h100-80gb")
    sold = plan("llama-3.1-8b", replace(GPUS["h100-80gb"], memory_bytes=80 * GB))
    assert reported.kv_tokens > sold.kv_tokens  # 79.19 GiB are 85 GB
