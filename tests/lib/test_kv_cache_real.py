"""Bytes of the attention that models really have: fewer KV heads, latents, windows, narrow dtypes, several GPUs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GB, GiB, kv_bytes
from llmserving.kv_cache import kv_bytes_for_request, kv_bytes_per_token
from llmserving.kv_formats import KV_DTYPES, token_bytes
from llmserving.kv_layout import kv_layout
from llmserving.kv_pool import KvPool, cpu_blocks, kv_pool
from llmserving.models import MODELS, ModelSpec

LLAMA, SCOUT, GEMMA3 = MODELS["llama-3.1-8b"], MODELS["llama-4-scout"], MODELS["gemma-3-27b"]
V2_LITE, V32 = MODELS["deepseek-v2-lite"], MODELS["deepseek-v3.2"]
FULL_ATTENTION = [model for model in MODELS.values() if not model.window and not model.is_latent]

models = st.sampled_from(list(MODELS.values()))
full_attention_models = st.sampled_from(FULL_ATTENTION)
lengths = st.integers(1, 200_000)
block_sizes = st.sampled_from([1, 8, 16, 32, 64, 256])


# The course's formula and this one


@pytest.mark.parametrize(
    "name",
    [
        "course-32-layer",
        "course-13b",
        "llama-2-7b",
        "codellama-7b",
        "phi-2",
        "qwen1.5-7b",
        "qwen1.5-moe-a2.7b",
        "opt-13b",
    ],
)
def test_for_multi_head_attention_it_is_the_course_s_formula(name: str) -> None:
    model = MODELS[name]
    assert model.kv_heads == model.attention_heads
    assert kv_bytes_per_token(model) == kv_bytes(1, 1, model.layers, model.hidden_size, 2)
    assert kv_bytes_for_request(model, 2048) == kv_bytes(1, 2048, model.layers, model.hidden_size, 2)


@pytest.mark.parametrize(
    ("name", "kv_dtype", "tensor_parallel", "percent"),
    [
        ("llama-3.1-8b", "fp16", 1, -75.0), ("qwen2.5-7b", "fp16", 1, -85.7), ("llama-3.3-70b", "fp16", 2, -87.5),
        ("gemma-7b", "fp16", 1, +33.3), ("deepseek-v2-lite", "fp16", 1, -85.9), ("deepseek-v2-lite", "fp16", 2, -71.9),
        ("kimi-vl-a3b", "fp16", 1, -85.9), ("deepseek-v3.2-without-indexer", "fp8_ds_mla", 1, -95.4),
        ("qwen3-235b-a22b", "fp16", 4, -87.5), ("gemma-3-27b", "fp16", 1, -57.0), ("gemma-2-27b", "fp16", 1, -55.6),
    ],
)  # fmt: skip
def test_elsewhere_the_course_s_formula_is_this_far_off(
    name: str, kv_dtype: str, tensor_parallel: int, percent: float
) -> None:
    model = MODELS[name]
    width = 1 if kv_dtype.startswith("fp8") else 2
    course = Fraction(kv_bytes(1, 1, model.layers, model.hidden_size, width), tensor_parallel)
    real = kv_layout(model, kv_dtype, tensor_parallel).printed_bytes_per_token
    assert 100 * (real / course - 1) == pytest.approx(percent, abs=0.05)


def test_gemma_3_spends_an_eighth_more_than_its_layers_on_spare_pages() -> None:
    layout = kv_layout(GEMMA3)
    assert (layout.full_groups, layout.window_groups, layout.groups) == (1, 6, 7)
    assert layout.block_bytes == 10 * layout.page_bytes
    assert layout.groups * 10 - GEMMA3.layers == 8
    by_layers = 62 * token_bytes(GEMMA3)
    assert layout.printed_bytes_per_token / by_layers == pytest.approx(1.129, abs=0.0005)


# Bytes per token


@pytest.mark.parametrize(
    ("name", "num_bytes"),
    [
        ("llama-3.1-8b", 131_072), ("llama-3-8b", 131_072), ("qwen2.5-7b", 57_344), ("llama-2-7b", 524_288),
        ("deepseek-r1-distill-qwen-1.5b", 28_672), ("qwen2.5-72b", 327_680), ("qwen1.5-72b", 2_621_440),
        ("opt-13b", 819_200), ("llama-3.3-70b", 327_680), ("deepseek-v2-lite", 31_104), ("gemma-2b", 18_432),
        ("gemma-7b", 458_752), ("qwen3-coder-30b-a3b", 98_304),
    ],
)  # fmt: skip
def test_bytes_per_token_on_one_gpu(name: str, num_bytes: int) -> None:
    assert kv_bytes_per_token(name) == kv_bytes_per_token(MODELS[name]) == num_bytes


@pytest.mark.parametrize(
    ("kv_dtype", "num_bytes"),
    [
        ("fp32", 4), ("fp16", 2), ("bf16", 2), ("bfloat16", 2), ("fp8", 1), ("fp8_e4m3", 1), ("FP8-E5M2", 1), ("int8", 1),
        ("int4", 0.5), ("nvfp4", 0.5625), ("int8_per_token_head", 1 + 4 / 128), ("fp8_per_token_head", 1 + 4 / 128),
    ],
)  # fmt: skip
def test_a_dtype_scales_the_cache(kv_dtype: str, num_bytes: float) -> None:
    assert kv_bytes_per_token(LLAMA, kv_dtype) == 2 * 32 * 8 * 128 * num_bytes


@pytest.mark.parametrize("block_size", [1, 16, 64])
def test_scales_a_token_and_head_add_their_bytes_to_each_page(block_size: int) -> None:
    plain = kv_layout(LLAMA, "int8", tensor_parallel=2, block_size=block_size).page_bytes
    scaled = kv_layout(LLAMA, "int8_per_token_head", tensor_parallel=2, block_size=block_size).page_bytes
    assert scaled - plain == 2 * block_size * 4 * 4  # 4 KV heads a rank, 4 bytes each


def test_the_packed_latent_has_656_bytes_and_an_indexer_132_more() -> None:
    assert token_bytes(V2_LITE, "fp8_ds_mla") == 512 + 4 * 4 + 2 * 64 == 656
    assert token_bytes(V32, "fp8_ds_mla") == 656 + 128 + 4 == 788
    assert token_bytes(V32, "bf16") == 2 * 576 + 132
    assert kv_bytes_per_token("deepseek-v3.2-without-indexer", "fp8_ds_mla") == 61 * 656 == 40_016
    assert 656 / token_bytes(V2_LITE, "fp8") == pytest.approx(1.139, abs=0.0005)


def test_a_latent_may_be_padded() -> None:
    assert kv_bytes_per_token("deepseek-r1", padded_latent=640) == 61 * 640 * 2
    assert kv_bytes_for_request("deepseek-r1", 64, block_size=64, padded_latent=640) == 64 * 61 * 640 * 2
    assert kv_bytes_per_token("deepseek-r1", padded_latent=576) == kv_bytes_per_token("deepseek-r1")


# Several GPUs


@given(full_attention_models, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from(["fp32", "fp16", "fp8"]))
def test_tensor_parallelism_never_goes_below_one_kv_head(model: ModelSpec, ranks: int, kv_dtype: str) -> None:
    try:
        split = kv_bytes_per_token(model, kv_dtype, tensor_parallel=ranks)
    except ValueError:
        assert model.attention_heads % ranks or model.kv_heads % ranks
        return
    whole = kv_bytes_per_token(model, kv_dtype)
    assert split == max(whole // ranks, whole // model.kv_heads)


@pytest.mark.parametrize("ranks", [4, 8, 16, 32, 64])
def test_beyond_its_kv_heads_a_model_gains_nothing(ranks: int) -> None:
    assert kv_bytes_per_token("qwen3-235b-a22b", tensor_parallel=ranks) == 2 * 94 * 128 * 2 == 48_128


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16])
def test_every_rank_keeps_the_whole_latent(ranks: int) -> None:
    assert kv_bytes_per_token(V2_LITE, tensor_parallel=ranks) == 27 * 576 * 2


def test_a_pipeline_s_fullest_stage_decides() -> None:
    assert kv_bytes_per_token(LLAMA, pipeline_parallel=2) == 65_536
    assert kv_bytes_per_token("qwen3-coder-30b-a3b", pipeline_parallel=(16, 32)) == 32 * 2 * 4 * 128 * 2
    assert kv_bytes_per_token(LLAMA, pipeline_parallel=3) == 11 * 4096
    assert kv_layout(LLAMA, pipeline_parallel=3).layers_per_stage == (11, 11, 10)
    assert kv_layout("deepseek-v3", pipeline_parallel=4).layers_per_stage == (15, 15, 16, 15)


@given(models, st.integers(1, 12))
def test_an_even_pipeline_loses_no_layer_and_no_stage(model: ModelSpec, stages: int) -> None:
    layers = kv_layout(model, pipeline_parallel=stages).layers_per_stage
    assert len(layers) == stages
    assert sum(layers) == model.layers
    assert max(layers) - min(layers) <= 1


@given(models, st.integers(1, 12), st.data())
def test_a_stage_never_needs_more_than_all_layers_and_all_stages_never_less(
    model: ModelSpec, stages: int, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, model.layers - 1), min_size=stages - 1, max_size=stages - 1)))
    split = tuple(b - a for a, b in zip([0, *cuts], [*cuts, model.layers], strict=True))
    whole, layout = kv_layout(model), kv_layout(model, pipeline_parallel=split)
    assert max(layout.block_bytes_per_stage) <= whole.block_bytes <= sum(layout.block_bytes_per_stage)
    assert (layout.full_groups, layout.window_groups) == (whole.full_groups, whole.window_groups)


# A request


@given(full_attention_models, lengths, st.integers(1, 50), block_sizes)
def test_full_attention_grows_linearly_in_whole_blocks(
    model: ModelSpec, blocks: int, times: int, block_size: int
) -> None:
    one = kv_bytes_for_request(model, block_size, block_size=block_size)
    assert one == block_size * kv_bytes_per_token(model)
    assert kv_bytes_for_request(model, blocks * times * block_size, block_size=block_size) == blocks * times * one


@given(models, lengths, st.integers(0, 10_000), block_sizes, st.integers(1, 20_000))
def test_a_longer_request_never_takes_less(
    model: ModelSpec, tokens: int, more: int, block_size: int, step: int
) -> None:
    def need(length: int) -> int:
        return kv_bytes_for_request(model, length, block_size=block_size, max_num_batched_tokens=step)

    assert need(tokens) <= need(tokens + more)
    assert need(tokens) > 0


@given(models, lengths, block_sizes)
def test_no_more_than_a_block_a_layer_is_rounded_up(model: ModelSpec, tokens: int, block_size: int) -> None:
    exact = kv_bytes_for_request(model, tokens, block_size=1)
    layout = kv_layout(model, block_size=block_size)
    assert (
        0
        <= kv_bytes_for_request(model, tokens, block_size=block_size) - exact
        <= 2 * layout.groups * layout.block_bytes
    )


@given(st.sampled_from([model for model in MODELS.values() if model.window]), st.integers(1, 1000))
def test_beyond_window_and_step_a_windowed_layer_no_longer_grows(model: ModelSpec, more: int) -> None:
    long = (model.window or 0) + 8192
    grown = kv_bytes_for_request(model, long + 16 * more) - kv_bytes_for_request(model, long)
    growth = kv_bytes_per_token(model) * 16
    assert grown in (growth * more, growth * (more + 1))


def test_a_model_of_windows_alone_stops_growing() -> None:
    assert kv_bytes_per_token("mistral-7b-v0.1") == 0
    assert kv_bytes_for_request("mistral-7b-v0.1", 10**6) == kv_bytes_for_request("mistral-7b-v0.1", 10**7)
    assert kv_pool("mistral-7b-v0.1", 10 * GiB).longest_request() is None


def test_a_sliding_window_needs_a_block_more_than_a_chunk() -> None:
    sliding = replace(SCOUT, window_kind="sliding")
    chunked, slid = kv_layout(SCOUT), kv_layout(sliding)
    assert (chunked.full_groups, chunked.window_groups) == (slid.full_groups, slid.window_groups) == (1, 3)
    assert chunked.request_blocks(10**6, 4096) == 62_500 + 3 * (8192 + 4096) // 16
    assert slid.request_blocks(10**6, 4096) == 62_500 + 3 * ((8191 + 4096 + 15) // 16 + 1)


@pytest.mark.parametrize(
    ("full", "windowed", "groups"),
    [
        (23, 23, (1, 1)),
        (10, 52, (1, 6)),
        (12, 36, (1, 3)),
        (4, 22, (1, 6)),
        (12, 13, (1, 1)),
        (10, 15, (1, 2)),
        (25, 10, (3, 1)),
    ],
)
def test_groups_are_as_large_as_the_rarer_kind_or_as_the_commoner_where_both_are_near(
    full: int, windowed: int, groups: tuple[int, int]
) -> None:
    positions = tuple(range(full, full + windowed))
    model = replace(SCOUT, layers=full + windowed, window_layers=windowed, window_positions=positions)
    layout = kv_layout(model)
    assert (layout.full_groups, layout.window_groups) == groups


def test_a_pipeline_deals_each_group_s_layers_to_its_stages() -> None:
    layout = kv_layout(GEMMA3, pipeline_parallel=2)
    assert layout.layers_per_stage == (31, 31)
    assert layout.block_bytes == 5 * layout.page_bytes


# The pool


def test_an_h100_s_printed_pool_of_llama_3_1_8b() -> None:
    pool = kv_pool(LLAMA, 58.11 * GiB)
    assert (pool.blocks, pool.tokens, pool.usable_blocks) == (29752, 476_032, 29751)
    assert round(pool.max_concurrency(8192), 2) == 58.11
    assert pool.max_requests(8192) == 58
    assert pool.longest_request() == pool.tokens


@given(models, st.integers(10**7, 10**12), block_sizes, st.integers(1, 200_000))
def test_a_pool_holds_what_it_says_and_not_a_block_more(
    model: ModelSpec, available: int, block_size: int, tokens: int
) -> None:
    pool = kv_pool(model, available, block_size=block_size)
    assert pool.blocks * pool.layout.block_bytes <= available < (pool.blocks + 1) * pool.layout.block_bytes
    requests = pool.max_requests(tokens)
    assert requests * kv_bytes_for_request(model, tokens, block_size=block_size) <= available
    assert (requests + 1) * pool.layout.request_blocks(tokens) > pool.usable_blocks
    assert requests <= pool.max_concurrency(tokens) < requests + 2
    assert pool.usable_tokens <= pool.tokens


@given(models, st.integers(10**8, 10**11), block_sizes)
def test_the_longest_request_fits_and_one_token_more_does_not(
    model: ModelSpec, available: int, block_size: int
) -> None:
    pool = kv_pool(model, available, block_size=block_size)
    longest = pool.longest_request()
    if longest is None:
        assert pool.layout.full_groups == 0
        return
    assert longest == 0 or pool.layout.request_blocks(longest) <= pool.blocks
    assert pool.layout.request_blocks(longest + 1) > pool.blocks


def test_the_poorest_stage_decides() -> None:
    both = kv_pool(LLAMA, (66.54 * GiB, 65.63 * GiB), pipeline_parallel=2)
    assert both == kv_pool(LLAMA, 65.63 * GiB, pipeline_parallel=2)
    assert both.tokens == 1_075_280  # printed: 1,075,312, of a memory rounded to 0.01 GiB
    uneven = kv_pool("qwen3-coder-30b-a3b", (3.18 * GiB, 100 * GiB), pipeline_parallel=(16, 32))
    assert uneven.tokens == pytest.approx(104_200, abs=16)


def test_an_engine_without_a_null_block_uses_them_all() -> None:
    with_null, without = kv_pool("qwen3-4b", 11.832 * GiB), kv_pool("qwen3-4b", 11.832 * GiB, reserved_blocks=0)
    assert with_null.blocks == without.blocks == without.usable_blocks == with_null.usable_blocks + 1
    assert KvPool(with_null.layout, 5385).usable_tokens == 86_144
    assert KvPool(with_null.layout, 0).usable_blocks == 0


# Numbers of public questions, where they were printed (facts: planner_questions.md, by number)


def test_question_1_bits_for_bytes_and_heads_for_kv_heads() -> None:
    assert 3072 * kv_bytes_per_token("qwen2.5-7b") / GB == pytest.approx(0.176, abs=0.0005)
    assert 28 * kv_bytes_per_token("qwen2.5-7b") == 2 * 3584 * 28 * 8


def test_question_4_29000_tokens_need_3_54_gib_where_1478_blocks_are_2_89() -> None:
    assert kv_bytes_for_request(LLAMA, 29_000) / GiB == pytest.approx(3.54, abs=0.005)
    pool = kv_pool(LLAMA, 1478 * 16 * 131_072)
    assert (pool.blocks, pool.tokens, pool.longest_request()) == (1478, 23_648, 23_648)
    assert 1478 * pool.layout.block_bytes / GiB == pytest.approx(2.89, abs=0.005)
    assert pool.max_requests(29_000) == 0


def test_question_6_24_gib_are_all_48_layers_and_8_and_16_the_stages() -> None:
    model = "qwen3-coder-30b-a3b"
    assert kv_bytes_for_request(model, 262_144) == 98_304 * 262_144 == 24 * GiB
    stages = kv_layout(model, pipeline_parallel=(16, 32))
    assert [each * stages.request_blocks(262_144) for each in stages.block_bytes_per_stage] == [8 * GiB, 16 * GiB]
    assert kv_bytes_for_request(model, 262_144, pipeline_parallel=(16, 32)) == 16 * GiB
    printed = kv_pool(model, 3.18 * GiB).longest_request()
    assert printed is not None
    assert abs(printed - 34_736) <= 16 * math.ceil(0.005 * GiB / (16 * 98_304))


def test_question_8_507_blocks_are_8112_tokens_and_1_98_gib() -> None:
    pool = KvPool(kv_layout("deepseek-coder-6.7b", tensor_parallel=2), 507)
    assert pool.tokens == 8112
    assert 507 * pool.layout.block_bytes / GiB == pytest.approx(1.98, abs=0.005)
    assert kv_bytes_for_request("deepseek-coder-6.7b", 16_384, tensor_parallel=2) == 4 * GiB


@pytest.mark.parametrize(("blocks", "tokens", "gib"), [(459, 7344, 3.59), (237, 3792, 1.85)])
def test_questions_10_and_11_multi_head_attention_at_524288_bytes_a_token(blocks: int, tokens: int, gib: float) -> None:
    pool = KvPool(kv_layout("qwen1.5-7b"), blocks)
    assert pool.tokens == tokens
    assert blocks * pool.layout.block_bytes / GiB == pytest.approx(gib, abs=0.005)
    assert kv_bytes_for_request("qwen1.5-7b", 32_768) == 16 * GiB


def test_question_12_the_pool_that_looks_like_a_leak() -> None:
    assert 7449 * kv_layout("llama-2-7b").block_bytes / GiB == pytest.approx(58.2, abs=0.05)


@pytest.mark.parametrize(("blocks", "gib"), [(31_615, 38.6), (20_865, 25.5)])
def test_question_13_an_upgrade_took_13_gib(blocks: int, gib: float) -> None:
    assert kv_bytes_per_token("llama-2-70b", tensor_parallel=4) == 81_920
    assert blocks * kv_layout("llama-2-70b", tensor_parallel=4).block_bytes / GiB == pytest.approx(gib, abs=0.05)


@pytest.mark.parametrize(("tokens", "gib"), [(178_880, 8.02), (367_404, 16.46)])
def test_question_17_the_same_formula_and_twice_the_pool(tokens: int, gib: float) -> None:
    per_token = kv_bytes_per_token("qwen3-235b-a22b", tensor_parallel=4)
    assert tokens * per_token / GiB == pytest.approx(gib, abs=0.01)


def test_question_21_heads_split_over_four_ranks_are_four_times_the_blocks() -> None:
    whole, split = kv_layout("qwen3-32b", block_size=256), kv_layout("qwen3-32b", tensor_parallel=4, block_size=256)
    assert whole.block_bytes == 4 * split.block_bytes
    assert 3258 // 4 == 814
    assert (KvPool(whole, 814).tokens, KvPool(split, 3258).tokens) == (208_384, 834_048)


def test_question_25_a_tpu_s_pages_of_256_tokens_round_further_down() -> None:
    assert kv_bytes_for_request(LLAMA, 131_072, block_size=256) == 16 * GiB
    assert kv_pool(LLAMA, 0.71 * GiB, block_size=1).tokens == 5_816
    assert kv_pool(LLAMA, 0.71 * GiB, block_size=16).tokens == 5_808
    assert kv_pool(LLAMA, 0.71 * GiB, block_size=256).tokens == 5_632


def test_question_27_the_generation_of_a_model_decides() -> None:
    assert kv_bytes_per_token("qwen2.5-72b", tensor_parallel=4) == 81_920
    assert kv_bytes_per_token("qwen1.5-72b", tensor_parallel=4) == 655_360


def test_other_questions_with_a_printed_number() -> None:
    assert 16_816 * kv_bytes_per_token("mistral-7b-v0.3") / GiB == pytest.approx(2.05, abs=0.005)
    assert kv_bytes_for_request("llama-3-8b", 32_768) == 4 * GiB
    assert kv_bytes_for_request("llama-3-8b", 32_768) / GB == pytest.approx(4.295, abs=0.0005)
    assert kv_bytes_for_request("opt-13b", 2048) / GB == pytest.approx(1.678, abs=0.0005)
    assert kv_bytes_per_token("llama-3-70b", "int8") == 163_840


# Refusals


@pytest.mark.parametrize("value", [0, -1, 2.5, 16.0, math.nan, math.inf, True, None, "16", [16]], ids=repr)
@pytest.mark.parametrize(
    "name", ["tokens", "tensor_parallel", "block_size", "max_num_batched_tokens", "pipeline_parallel"]
)
def test_a_count_that_is_none_is_refused_in_one_sentence(name: str, value: Any) -> None:
    if name == "pipeline_parallel" and value == [16]:
        value = [16, "16"]
    with pytest.raises((TypeError, ValueError), match=f"^{name} is the number of "):
        kv_bytes_for_request(SCOUT, **{"tokens": 100, name: value})


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, None, "58 GiB"], ids=repr)
def test_memory_that_is_none_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="^kv_bytes_available is the memory left for the KV cache"):
        kv_pool(LLAMA, value)
    with pytest.raises((TypeError, ValueError), match="^kv_bytes_available is the memory left for the KV cache"):
        kv_pool(LLAMA, [GiB, value], pipeline_parallel=2)
    with pytest.raises((TypeError, ValueError), match="^swap_bytes is the host memory"):
        cpu_blocks(value, LLAMA)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": "lama"}, "there is no model 'lama'; the nearest are"),
    ({"kv_dtype": "fp61"}, "kv_dtype 'fp61' is not known; did you mean fp16"),
    ({"kv_dtype": "fp8_ds_mla"}, "packs a latent, and llama-3.1-8b caches keys and values"),
    ({"padded_latent": 640}, "llama-3.1-8b caches keys and values instead"),
    ({"model": V2_LITE, "padded_latent": 512}, "padded_latent 512 is less than the 576 elements"),
    ({"model": V2_LITE, "padded_latent": 0}, "padded_latent is the number of elements"),
    ({"model": V2_LITE, "padded_latent": 640, "kv_dtype": "fp8_ds_mla"}, "has its own layout; leave padded_latent out"),
    ({"model": V2_LITE, "kv_dtype": "nvfp4"}, "scales keys and values a head, and deepseek-v2-lite caches a latent"),
    ({"model": V2_LITE, "kv_dtype": "int8_per_token_head"}, "caches a latent instead"),
    ({"model": replace(V2_LITE, latent_rank=500), "kv_dtype": "fp8_ds_mla"}, "scales 128 elements together; the latent has 500"),
    ({"model": replace(LLAMA, head_dim=40), "kv_dtype": "nvfp4"}, "scales 16 elements together; a head of"),
    ({"model": replace(LLAMA, head_dim=41), "kv_dtype": "int4"}, "leaves a part of a byte for each token"),
    ({"tensor_parallel": 3}, "tensor_parallel 3 does not divide the 32 query heads of llama-3.1-8b"),
    ({"tensor_parallel": 64}, "tensor_parallel 64 does not divide the 32 query heads"),
    ({"model": "phi-4", "tensor_parallel": 4}, "gives no whole KV heads a GPU"),
    ({"pipeline_parallel": 33}, "pipeline_parallel 33 is more than the 32 layers"),
    ({"pipeline_parallel": (16, 15)}, "pipeline_parallel (16, 15) gives the stages 31 layers, but llama-3.1-8b has 32"),
    ({"pipeline_parallel": ()}, "gives the stages 0 layers"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_cannot_be_is_refused_and_nothing_is_clamped(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        kv_bytes_for_request(**{"model": LLAMA, "tokens": 100, **changes})


@pytest.mark.parametrize("kv_dtype", [None, 2, 2.0, b"fp16"])
def test_a_dtype_is_named_by_text(kv_dtype: Any) -> None:
    with pytest.raises(TypeError, match="kv_dtype is the name of the cache's dtype, such as 'fp16'"):
        kv_bytes_per_token(LLAMA, kv_dtype)


@pytest.mark.parametrize("model", [None, 8, {"layers": 32}])
def test_a_model_is_a_name_or_a_spec(model: Any) -> None:
    with pytest.raises(TypeError, match="model is a name such as 'llama-3.1-8b' or a ModelSpec"):
        kv_bytes_per_token(model)


def test_stages_and_their_memory_must_agree() -> None:
    with pytest.raises(ValueError, match="kv_bytes_available names 3 stages and pipeline_parallel 2"):
        kv_pool(LLAMA, [GiB, GiB, GiB], pipeline_parallel=2)


@pytest.mark.parametrize("reserved", [-1, True, False, 1.5, None])
def test_reserved_blocks_are_none_or_a_count(reserved: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="^reserved_blocks is the number of blocks"):
        kv_pool(LLAMA, GiB, reserved_blocks=reserved)


def test_every_dtype_has_a_model_that_can_have_it() -> None:
    for kv_dtype in KV_DTYPES:
        assert kv_bytes_per_token(V2_LITE if kv_dtype == "fp8_ds_mla" else LLAMA, kv_dtype) > 0


@pytest.mark.parametrize("value", [-1, True, 2.5, None, "3"], ids=repr)
@pytest.mark.parametrize("field", ["blocks", "reserved_blocks"])
def test_a_pool_made_by_hand_checks_its_blocks(field: str, value: Any) -> None:
    pool = kv_pool(LLAMA, GiB)
    with pytest.raises((TypeError, ValueError), match=f"^{field} is the number of blocks"):
        replace(pool, **{field: value})
    with pytest.raises(TypeError, match="^layout is a KvLayout"):
        replace(pool, layout=value)


# Worked out by hand from the rules of docs and logs: a page is 2 * block_size * KV heads of the rank * head_dim * bytes.
BY_HAND: list[tuple[str, dict[str, Any], int, int, int, int]] = [
    # model, settings, full groups, groups with a window, bytes of a block, tokens of 20 GiB
    ("gemma-3-1b", {"tensor_parallel": 2}, 1, 6, 4 * 2 * 16 * 1 * 256 * 2, 20 * GiB // 65_536 // 7 * 16),
    ("gemma-3-4b", {"tensor_parallel": 2}, 1, 6, 5 * 2 * 16 * 2 * 256 * 2, 20 * GiB // 163_840 // 7 * 16),
    ("gemma-3-12b", {"tensor_parallel": 2}, 1, 5, 8 * 2 * 16 * 4 * 256 * 2, 20 * GiB // 524_288 // 6 * 16),
    ("gpt-oss-20b", {"tensor_parallel": 2}, 1, 1, 12 * 2 * 16 * 4 * 64 * 2, 20 * GiB // 196_608 // 2 * 16),
    ("llama-4-scout", {"pipeline_parallel": 4}, 1, 3, 3 * 2 * 16 * 8 * 128 * 2, 20 * GiB // 196_608 // 4 * 16),
    ("qwen3-235b-a22b", {"tensor_parallel": 8, "kv_dtype": "fp8"}, 1, 0, 94 * 2 * 16 * 128, 20 * GiB // 385_024 * 16),
    ("deepseek-v3", {"tensor_parallel": 8, "kv_dtype": "fp8_ds_mla", "block_size": 64}, 1, 0, 61 * 64 * 656,
     20 * GiB // 2_561_024 * 64),
    ("llama-3.1-8b", {"kv_dtype": "int8_per_token_head"}, 1, 0, 32 * 2 * 16 * 8 * (128 + 4), 20 * GiB // 1_081_344 * 16),
    ("llama-3.1-8b", {"kv_dtype": "nvfp4"}, 1, 0, 32 * 2 * 16 * 8 * (64 + 8), 20 * GiB // 589_824 * 16),
    ("llama-3.1-8b", {"block_size": 1}, 1, 0, 32 * 2 * 8 * 128 * 2, 20 * GiB // 131_072),
    ("llama-3.1-70b", {"pipeline_parallel": (30, 30, 20)}, 1, 0, 30 * 2 * 16 * 8 * 128 * 2, 20 * GiB // 1_966_080 * 16),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "full", "windows", "block", "tokens"), BY_HAND)
def test_layouts_worked_out_by_hand(
    name: str, settings: dict[str, Any], full: int, windows: int, block: int, tokens: int
) -> None:
    pool = kv_pool(name, 20 * GiB, **settings)
    assert (pool.layout.full_groups, pool.layout.window_groups, pool.layout.block_bytes) == (full, windows, block)
    assert pool.tokens == tokens


def test_concurrency_of_gemma_3_1b_worked_out_by_hand() -> None:
    pool = kv_pool("gemma-3-1b", 20 * GiB, tensor_parallel=2)
    for context, windowed in ((4096, 256 + 1), (32_768, 544 + 1)):  # ceil(min(511 + 8192, context) / 16) + 1
        assert pool.max_concurrency(context) == pool.blocks / (context // 16 + 6 * windowed)
