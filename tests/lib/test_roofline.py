"""A step waits for bytes or for arithmetic; the numbers are those that the scaling book prints."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GPUS, MODELS, critical_batch, kv_bytes_per_token, predict_decode, predict_prefill, ridge_point
from llmserving.step_prediction import Roof, StepPrediction
from llmserving.step_work import Work, decode_attention_work, matmul_work
from llmserving.weights import model_weight_bytes

NAN, INF = float("nan"), float("inf")
# jax-ml/scaling-book, inference chapter: Llama-2-13B in bf16 on 8 TPU v5e, 8192 tokens cached a request.
LLAMA_2_13B = MODELS["course-13b"]
WITH_FEWER_KV_HEADS = replace(LLAMA_2_13B, name="llama-2-13b-gqa", kv_heads=8)  # a fifth of the KV cache
BATCHES = (1, 8, 16, 32, 64, 240)
MILLISECONDS = [
    *zip([LLAMA_2_13B] * 6, BATCHES, (4.98, 12.13, 20.30, 36.65, 69.33, 249.09), strict=True),
    *zip([WITH_FEWER_KV_HEADS] * 6, BATCHES, (4.17, 5.60, 7.23, 10.50, 17.04, 52.99), strict=True),
]
# The book rounds the KV cache of a request from 6.711 to 6.7 GB, up to 0.16 % of a step.
BOOK_TOLERANCE = 0.002


def book(model: Any, batch: int, **changed: Any) -> StepPrediction:
    """The book counts no activations."""
    return predict_decode(model, "tpu-v5e", batch, 8192, **{"tensor_parallel": 8, "activations": False, **changed})


@pytest.mark.parametrize(("model", "batch", "milliseconds"), MILLISECONDS)
def test_the_twelve_step_times_of_the_scaling_book(model: Any, batch: int, milliseconds: float) -> None:
    step = book(model, batch)
    assert step.seconds == pytest.approx(milliseconds / 1e3, rel=BOOK_TOLERANCE)
    assert step.bound == "memory-bound"


@pytest.mark.parametrize(
    ("model", "batch", "tokens_per_s"),
    [
        (LLAMA_2_13B, 1, 200.6),
        (LLAMA_2_13B, 240, 963.5),
        (WITH_FEWER_KV_HEADS, 1, 239.9),
        (WITH_FEWER_KV_HEADS, 240, 4529),
    ],
)
def test_the_throughputs_of_the_scaling_book(model: Any, batch: int, tokens_per_s: float) -> None:
    assert book(model, batch).tokens_per_s == pytest.approx(tokens_per_s, rel=BOOK_TOLERANCE)


def test_activations_lengthen_these_steps_by_less_than_two_percent() -> None:
    for model, batch, _ in MILLISECONDS:
        assert 1 < book(model, batch, activations=True).seconds / book(model, batch).seconds < 1.02


@pytest.mark.parametrize(("weight_dtype", "batch"), [("bf16", 240), ("int8", 120)])
def test_the_critical_batches_of_the_scaling_book(weight_dtype: str, batch: int) -> None:
    assert critical_batch(LLAMA_2_13B, "tpu-v5e", weight_dtype) == pytest.approx(batch, rel=BOOK_TOLERANCE)


@pytest.mark.parametrize(
    ("gpu", "ridge"),
    [("a100-40gb", 200.6), ("a100-80gb", 153), ("h100-80gb", 295), ("h200-141gb", 206), ("tpu-v5e", 240)],
)
def test_ridge_points(gpu: str, ridge: float) -> None:
    # to the digits that the source gives; 989.5e12 and 3.35e12 make 295.4 for the H100
    assert ridge_point(gpu) == pytest.approx(ridge, abs=0.5)


@pytest.mark.parametrize(("batch", "milliseconds"), [(4, 2.5), (256, 21)])
def test_the_book_s_quiz_of_30_billion_int8_weights_on_16_chips(batch: int, milliseconds: float) -> None:
    step = StepPrediction(
        phase="decode",
        batch=batch,
        tokens_per_request=8192,
        tokens=batch,
        roof=Roof(16 * 1.97e14, 16 * 8.2e11),
        matmul=Work(2 * 30e9 * batch, 30e9),
        attention=Work(0, batch * 8192 * 100e3),
        communication_bytes=0,
        communication_seconds=0,
    )
    assert step.seconds == pytest.approx(milliseconds / 1e3, rel=0.02)  # printed with two figures


def test_the_book_s_prefill_at_40_percent_of_the_peak() -> None:
    step = predict_prefill("llama-3-70b", "tpu-v5e", 8192, tensor_parallel=16, compute_share=0.4)
    # 2 * 70e9 * 8192 / (16 * 1.97e14 * 0.4); the model has 70.55e9 weights, and the book leaves attention out
    assert step.matmul_seconds == pytest.approx(0.91, rel=0.01)
    assert 0 < step.attention_seconds < 0.1 * step.matmul_seconds


def test_70_billion_int8_weights_and_int8_kv_at_batch_32() -> None:
    step = predict_decode(
        "llama-3-70b", "tpu-v5e", 32, 8192, weight_dtype="int8", kv_dtype="int8", tensor_parallel=8, activations=False
    )
    assert kv_bytes_per_token("llama-3-70b", "int8") == 163_840
    # 17.2 ms from exact constants with 70e9 bytes; the model is 70.55e9 weights with 16-bit embeddings
    assert step.seconds == pytest.approx(0.0172, rel=0.03)


def test_a_decode_step_reads_all_weights_and_the_whole_cache() -> None:
    step = predict_decode("llama-3.1-8b", "h100-80gb", 16, 4096, activations=False)
    assert step.matmul.num_bytes == model_weight_bytes(MODELS["llama-3.1-8b"])
    assert step.attention.num_bytes == 16 * 4096 * kv_bytes_per_token("llama-3.1-8b")
    assert step.matmul.flops == 2 * MODELS["llama-3.1-8b"].parameters * 16


def test_prefill_is_compute_bound_and_decode_memory_bound() -> None:
    assert predict_prefill("llama-3.1-8b", "h100-80gb", 500).bound == "compute-bound"
    assert predict_decode("llama-3.1-8b", "h100-80gb", 1, 501).bound == "memory-bound"


@given(st.sampled_from(["llama-3.1-8b", "mixtral-8x7b", "gpt-oss-20b"]), st.integers(1, 500), st.integers(1, 20_000))
def test_no_prediction_passes_a_wall_and_larger_batches_never_take_less_time(
    name: str, batch: int, context: int
) -> None:
    step, larger = (predict_decode(name, "h100-80gb", b, context) for b in (batch, batch + 1))
    assert step.tokens_per_s <= min(step.memory_wall_tokens_per_s, step.compute_wall_tokens_per_s) * (1 + 1e-12)
    assert step.seconds <= larger.seconds
    assert step.intensity == pytest.approx(step.flops / step.num_bytes)
    assert (step.bound == "memory-bound") == (step.intensity < step.roof.ridge)


@given(st.integers(1, 4000), st.integers(1, 2000))
def test_the_whole_step_changes_its_bound_at_the_critical_batch(batch: int, context: int) -> None:
    critical = critical_batch("llama-3.1-8b", "h100-80gb", context=context)
    step = predict_decode("llama-3.1-8b", "h100-80gb", batch, context, activations=False)
    assert (step.bound == "memory-bound") == (batch < critical)


def test_with_much_cache_a_request_no_batch_is_large_enough() -> None:
    assert critical_batch("llama-3.1-8b", "h100-80gb", context=4096) == math.inf
    assert predict_decode("llama-3.1-8b", "h100-80gb", 10**6, 4096).bound == "memory-bound"


def test_tensor_parallelism_divides_the_step_and_leaves_it_memory_bound() -> None:
    one, four = (
        predict_decode("llama-3.1-8b", "h100-80gb", 16, 4096, tensor_parallel=n, activations=False) for n in (1, 4)
    )
    assert four.seconds == pytest.approx(one.seconds / 4, rel=1e-6)
    assert four.bound == one.bound == "memory-bound"
    assert one.communication_bytes == 0 < four.communication_bytes
    for weight_dtype in ("fp16", "int4"):
        assert critical_batch("llama-3.1-8b", "h100-80gb", weight_dtype) == critical_batch(
            "llama-3.1-8b", "h100-80gb", weight_dtype, tensor_parallel=4
        )


def test_more_gpus_than_kv_heads_read_copies_of_the_cache() -> None:
    four, eight = (decode_attention_work(MODELS["qwen3-235b-a22b"], 1, 4096, "fp16", n) for n in (4, 8))
    assert four.num_bytes == eight.num_bytes
    assert four.flops == 2 * eight.flops


def test_a_link_adds_the_time_of_the_all_reduces() -> None:
    free = predict_decode("llama-3.1-8b", "h100-80gb", 16, 4096, tensor_parallel=4)
    timed = predict_decode("llama-3.1-8b", "h100-80gb", 16, 4096, tensor_parallel=4, link_bytes_per_s=450e9)
    # 2 all-reduces in each of 32 layers, 16 tokens of 4096 elements of 2 bytes, a ring of 4 sends 1.5 times that
    assert free.communication_bytes == 2 * 32 * 16 * 4096 * 2 * 1.5
    assert timed.seconds == pytest.approx(free.seconds + free.communication_bytes / 450e9)


def test_few_tokens_wake_few_experts() -> None:
    model = MODELS["mixtral-8x7b"]
    one, many = (matmul_work(model, n, "fp16", 1, activations=False).num_bytes for n in (1, 1000))
    # one token passes its active parameters and no others
    assert one == pytest.approx(2 * model.active_parameters, rel=1e-6)  # type: ignore[operator]
    assert many == pytest.approx(2 * model.parameters, rel=1e-6)


def test_a_window_caps_what_decode_reads_and_prefill_attends_to() -> None:
    short, long = (predict_decode("mistral-7b-v0.1", "h100-80gb", 1, n) for n in (4096, 40960))
    assert long.attention.num_bytes == short.attention.num_bytes
    windowed, full = (predict_prefill(name, "h100-80gb", 16384) for name in ("mistral-7b-v0.1", "mistral-7b-v0.3"))
    assert windowed.attention.flops < full.attention.flops


@pytest.mark.parametrize(("tokens", "window", "kind"), [(10, 4, "sliding"), (10, 4, "chunked"), (3, 4, "sliding")])
def test_windowed_pairs_are_those_that_a_loop_counts(tokens: int, window: int, kind: str) -> None:
    model = replace(MODELS["llama-3.1-8b"], window=window, window_layers=32, window_kind=kind)
    start = [max(0, t - window + 1) if kind == "sliding" else t // window * window for t in range(tokens)]
    pairs = sum(t - first + 1 for t, first in enumerate(start))
    full = predict_prefill("llama-3.1-8b", "h100-80gb", tokens).attention.flops / (tokens * (tokens + 1) // 2)
    assert predict_prefill(model, "h100-80gb", tokens).attention.flops == pytest.approx(full * pairs)
    assert decode_attention_work(model, 1, tokens, "fp16", 1).num_bytes == pytest.approx(
        (tokens - start[-1]) * kv_bytes_per_token("llama-3.1-8b")
    )


def test_the_explanation_names_the_ridge_point_and_the_bound() -> None:
    told = predict_decode("llama-3.1-8b", "h100-80gb", 16, 4096, tensor_parallel=2).explain()
    assert "295 FLOP/byte: memory-bound" in told
    assert "no link given" in told


PREDICT: list[tuple[Callable[..., Any], str]] = [(predict_decode, "context"), (predict_prefill, "tokens")]


@pytest.mark.parametrize("value", [0, -1, 2.5, True, NAN, INF, None, "16"])
@pytest.mark.parametrize(("predict", "length"), PREDICT)
def test_counts_that_mean_nothing_are_refused_by_name(predict: Callable[..., Any], length: str, value: Any) -> None:
    for name in ("batch", length, "tensor_parallel"):
        with pytest.raises((TypeError, ValueError), match=f"^{name} is the number of"):
            predict("llama-3.1-8b", "h100-80gb", **{name: value})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tensor_parallel": 3}, "tensor_parallel 3 does not divide the 32 query heads"),
        ({"weight_dtype": "int5"}, "weight_dtype 'int5' is not known; did you mean"),
        ({"kv_dtype": "fp61"}, "kv_dtype 'fp61' is not known; did you mean"),
        ({"compute_dtype": "fp4"}, "h100-80gb has no peak for 'fp4'; it has"),
        (
            {"compute_share": 1.5},
            "compute_share is the share of the peak FLOP/s that is reached, at most 1, but got 1.5",
        ),
        ({"bandwidth_share": 0}, "bandwidth_share is the share of the bandwidth that is reached and must be above 0"),
        ({"bandwidth_share": NAN}, "bandwidth_share is the share of the bandwidth that is reached, but got NaN"),
        (
            {"link_bytes_per_s": -1},
            "link_bytes_per_s is the bytes a second that a GPU sends to others and must be above 0",
        ),
        ({"activations": 1}, "activations says whether to count them, True or False, but got 1"),
        (
            {"weight_dtype": "mxfp4"},
            "weight_dtype 'mxfp4' packs experts alone, and llama-3.1-8b has none that it states",
        ),
    ],
)
@pytest.mark.parametrize("predict", [predict_decode, predict_prefill])
def test_settings_that_make_no_sense_are_refused(
    predict: Callable[..., Any], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        predict("llama-3.1-8b", "h100-80gb", **arguments)


def test_unknown_names_get_the_nearest_ones() -> None:
    with pytest.raises(ValueError, match="there is no model 'llama-3.1-8'.*'llama-3.1-8b'"):
        predict_decode("llama-3.1-8", "h100-80gb")
    with pytest.raises(ValueError, match="there is no GPU 'h10'"):
        ridge_point("h10")
    with pytest.raises(TypeError, match="gpu is a name such as 'h100-80gb' or a Gpu, but got 5"):
        ridge_point(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model is a name such as 'llama-3.1-8b' or a ModelSpec, but got None"):
        predict_prefill(None, "h100-80gb")  # type: ignore[arg-type]


def test_a_card_without_16_bit_peaks_is_told_what_it_has() -> None:
    eight_bit = replace(GPUS["t4-16gb"], name="toy", peak_flops={"int8": 1e12})
    with pytest.raises(ValueError, match="toy has no peak for 'bf16' or 'fp16'; it has int8"):
        ridge_point(eight_bit)
    assert ridge_point(eight_bit, "int8") == 1e12 / 0.32e12


@pytest.mark.parametrize("kv_dtype", ["fp61", "fp8_ds_mla", None, 2])
def test_a_cache_dtype_is_checked_even_where_no_cache_is_read(kv_dtype: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="^kv_dtype "):
        critical_batch("llama-3.1-8b", "h100-80gb", kv_dtype=kv_dtype)


@pytest.mark.parametrize("name", ["batch", "context", "link_bytes_per_s"])
def test_a_number_beyond_every_float_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} is .* is more than "):
        predict_decode("llama-3.1-8b", "h100-80gb", **{name: 10**400})


def test_the_largest_counts_that_are_taken_are_predicted() -> None:
    for predict, length in ((predict_decode, "context"), (predict_prefill, "tokens")):
        assert predict("llama-3.1-8b", "h100-80gb", batch=10**40, **{length: 10**40}).explain()
