"""Claims about packed codes, small floats and the quantized KV cache."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from llmserving import MODELS, kv_formats, weight_formats
from llmserving.quantization import (
    E2M1,
    E4M3,
    E5M2,
    FLOAT_FORMATS,
    FloatFormat,
    QuantizedKv,
    QuantizedKvCache,
    decode,
    encode,
    pack_int4,
    quantize_float,
    quantize_kv,
    unpack_int4,
)
from llmserving.quantization.float_formats import nearest_slowly

from tests.lib.quantization_arrays import array, both, normal, numbers

SIGNED, UNSIGNED = range(-8, 8), range(16)
FLOATS = st.floats(-1e5, 1e5, width=32)
formats = pytest.mark.parametrize("float_format", FLOAT_FORMATS.values(), ids=FLOAT_FORMATS)


def integers(library: str, values: Any, dtype: str = "uint8") -> Any:
    data = np.array(values, dtype=dtype)
    return data if library == "numpy" else torch.from_numpy(data)


# Packing


@both
def test_the_golden_bytes(library: str) -> None:
    """The first code of a pair in the low nibble; AWQ's order of eight."""
    assert numbers(pack_int4(integers(library, [1, 2])).data).tolist() == [0x21]
    assert numbers(pack_int4(integers(library, [-1, 7, -8, 0], "int8")).data).tolist() == [0x7F, 0x08]
    eight = integers(library, [0, 1, 2, 3, 4, 5, 6, 7])
    assert numbers(pack_int4(eight).data).tolist() == [0x10, 0x32, 0x54, 0x76]
    assert numbers(pack_int4(eight, "awq").data).tolist() == [0x20, 0x64, 0x31, 0x75]


@both
@pytest.mark.parametrize("order", ["linear", "awq"])
@pytest.mark.parametrize(("codes", "dtype"), [(UNSIGNED, "uint8"), (SIGNED, "int8")])
def test_every_code_survives_the_packed_path_at_every_place(library: str, order: str, codes: range, dtype: str) -> None:
    whole = np.stack([np.roll(list(codes), shift) for shift in range(16)]).reshape(2, 8, 16)
    packed = pack_int4(integers(library, whole, dtype), order)
    assert tuple(packed.data.shape) == (2, 8, 8)
    assert packed.shape == (2, 8, 16)
    back = packed.unpack()
    assert str(back.dtype).removeprefix("torch.") == dtype
    assert np.array_equal(numbers(back), whole)


def test_another_order_reads_garbage_so_the_order_travels_with_the_bytes() -> None:
    codes = integers("numpy", range(16))
    packed = pack_int4(codes, "awq")
    assert packed.order == "awq"
    assert np.array_equal(packed.unpack(), codes)
    assert not np.array_equal(unpack_int4(packed.data, "linear", signed=False), codes)


@pytest.mark.parametrize(
    ("codes", "order", "error", "words"),
    [
        (np.zeros(3, np.uint8), "linear", ValueError, r"packs 2 columns together, but codes has shape \(3,\)"),
        (np.zeros((2, 4), np.uint8), "awq", ValueError, "packs 8 columns together"),
        (
            np.array([16, 0], np.uint8),
            "linear",
            ValueError,
            "a 4-bit code of dtype uint8 is 0 to 15, but codes has 0 to 16",
        ),
        (np.array([-9, 0], np.int8), "linear", ValueError, "is -8 to 7, but codes has -9 to 0"),
        (np.zeros(2), "linear", TypeError, "which are integers, but got one of dtype float64"),
        (np.zeros(2, np.uint8), "gptq", ValueError, "order 'gptq' is not known; choose one of linear, awq"),
    ],
)
def test_what_does_not_fit_four_bits_is_refused(codes: Any, order: str, error: type[Exception], words: str) -> None:
    before = codes.copy()
    with pytest.raises(error, match=words):
        pack_int4(codes, order)
    assert np.array_equal(codes, before)


def test_bytes_are_bytes() -> None:
    with pytest.raises(TypeError, match="data is a tensor of bytes, uint8"):
        unpack_int4(np.zeros(2, np.int32), "linear", signed=False)
    with pytest.raises(ValueError, match="packs 8 columns together, but data"):
        unpack_int4(np.zeros(2, np.uint8), "awq", signed=False)


# Small floats


def test_the_grids() -> None:
    assert E2M1.values == [-6, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert (max(E4M3.values), len(E4M3.values)) == (448, 253)
    assert (max(E5M2.values), len(E5M2.values)) == (57344, 247)
    assert min(value for value in E4M3.values if value > 0) == 2.0**-9


@formats
def test_the_grid_is_dense_around_zero_and_sparse_far_out(float_format: FloatFormat) -> None:
    gaps = np.diff([value for value in float_format.values if value >= 0])
    assert (np.diff(gaps) >= 0).all()
    assert gaps[-1] > gaps[0]


@formats
@both
def test_every_value_of_the_grid_is_its_own_nearest(float_format: FloatFormat, library: str) -> None:
    values = array(library, float_format.values)
    assert numbers(decode(encode(values, float_format), float_format)).tolist() == float_format.values


@settings(deadline=None)
@given(FLOATS, st.sampled_from(sorted(FLOAT_FORMATS)))
def test_encoding_is_the_search_for_the_nearest_value(value: float, name: str) -> None:
    found = float(decode(encode([value], FLOAT_FORMATS[name]), FLOAT_FORMATS[name])[0])
    assert found == nearest_slowly(value, FLOAT_FORMATS[name])


@formats
def test_ties_go_to_the_even_code(float_format: FloatFormat) -> None:
    values = [value for value in float_format.values if value >= 0]
    halves = [(low + high) / 2 for low, high in pairwise(values)]
    for index, code in enumerate(encode(halves, float_format).tolist()):
        assert code == index + index % 2


def test_minus_zero_stays_minus_zero() -> None:
    assert math.copysign(1, float(decode(encode([-0.0], E4M3), E4M3)[0])) == -1


def test_infinities_and_nan_are_refused_and_their_codes_decode_to_nan() -> None:
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            encode([wrong], E4M3)
    assert math.isnan(float(decode(np.array([0x7F], np.uint8), E4M3)[0]))
    assert math.isnan(float(decode(np.array([0x7C], np.uint8), E5M2)[0]))


# Scales of blocks


@both
def test_the_scale_rules_by_hand(library: str) -> None:
    block = array(library, [[7.0] + [1.0] * 31])
    # floor(log2 7) - 2 = 0: a scale of 1, and 7 is clipped to 6.
    mxfp4 = quantize_float(block, "mxfp4")
    assert mxfp4.scale.item() == 1
    assert numbers(mxfp4.dequantize())[0, :2].tolist() == [6, 1]
    assert quantize_float(0 * block, "mxfp4").scale.item() == 2.0**-127  # the least that 8 bits of exponent can say
    assert quantize_float(block / 7 * 2.0**-140, "mxfp4").scale.item() == 2.0**-127
    fp8 = quantize_float(block, "fp8_e4m3")
    assert fp8.scale.item() == np.float32(7 / 448)
    assert numbers(fp8.dequantize())[0, 0] == 7


def test_bits_a_weight_of_the_formats() -> None:
    x = normal(4, 128)
    assert quantize_float(x, "mxfp4").bits_a_weight == weight_formats.WEIGHT_FORMATS["mxfp4"].bits_a_weight == 4.25
    assert quantize_float(x, "nvfp4").bits_a_weight == 4.5
    assert quantize_float(x, "fp8_e4m3", axis=0).bits_a_weight == 8.25


@both
@pytest.mark.parametrize("name", ["fp8_e4m3", "fp8_e5m2", "mxfp4", "nvfp4"])
def test_odd_blocks_have_finite_scales_and_zeros_stay_zeros(library: str, name: str) -> None:
    for value in (0.0, 1e-40, 3.0, -3.0, 3e38):
        x = array(library, [[value] * 32, [1.0] * 32])
        quantized = quantize_float(x, name, **({"axis": 0} if name.startswith("fp8") else {}))
        scale, back = numbers(quantized.scale), numbers(quantized.dequantize())
        assert (scale > 0).all()
        assert np.isfinite(scale).all()
        assert np.isfinite(back).all()
        if value == 0:
            assert not back[0].any()


@both
def test_errors_are_those_of_the_grid(library: str) -> None:
    """E4M3 has 3 bits after the leading one: a value in its normal range is off by 1 part in 16 at most."""
    x = normal(16, 64)
    back = numbers(quantize_float(array(library, x), "fp8_e4m3", axis=0).dequantize())
    ordinary = np.abs(x) > np.abs(x).max(axis=1, keepdims=True) * 2.0**-13
    assert (np.abs(back - x)[ordinary] <= np.abs(x)[ordinary] / 16 * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("name", "granularity", "words"),
    [
        ("fp6", {}, "block_format 'fp6' is not known; choose one of fp8_e4m3"),
        ("mxfp4", {"group_size": 16}, "mxfp4 always scales 32 elements together"),
        ("mxfp4", {}, "mxfp4 scales 32 elements of a row together, but x has 24 columns"),
        ("fp8_e4m3", {"axis": 5}, "axis 5 is not one"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(name: str, granularity: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        quantize_float(normal(2, 24), name, **granularity)


def test_non_finite_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"element \[0, 1\] is NaN"):
        quantize_float([[1.0, math.nan]], "fp8_e4m3")


# The KV cache


@both
@pytest.mark.parametrize(("kv_dtype", "most"), [("int8", 1 / 254), ("fp8", 1 / 16), ("int4", 1 / 14)])
def test_each_token_and_head_is_off_by_its_own_half_step(library: str, kv_dtype: str, most: float) -> None:
    x = normal(5, 4, 64) * np.float32(10.0) ** np.arange(-2, 3, dtype=np.float32)[:, None, None]
    stored = quantize_kv(array(library, x), kv_dtype)
    assert tuple(stored.scale.shape) == (5, 4, 1)
    errors, largest = np.abs(numbers(stored.dequantize()) - x), np.abs(x).max(axis=-1, keepdims=True)
    assert (errors <= largest * most * (1 + 1e-4)).all()


def test_an_outlier_costs_no_other_token_and_no_other_head() -> None:
    x = normal(3, 2, 16)
    wild = x.copy()
    wild[1, 1, 0] = 1000
    same = np.ones((3, 2), dtype=bool)
    same[1, 1] = False
    for kv_dtype in ("int8", "fp8", "int4"):
        one, other = quantize_kv(x, kv_dtype).dequantize(), quantize_kv(wild, kv_dtype).dequantize()
        assert np.array_equal(one[same], other[same])


@both
@pytest.mark.parametrize("kv_dtype", ["int8", "fp8", "int4"])
def test_the_cache_gives_back_what_was_appended(library: str, kv_dtype: str) -> None:
    cache = QuantizedKvCache(capacity=10, kv_heads=2, head_dim=16, kv_dtype=kv_dtype)
    keys, values = normal(7, 2, 16), normal(7, 2, 16, seed=1)
    for start, end in ((0, 5), (5, 6), (6, 7)):
        cache.append(array(library, keys[start:end]), array(library, values[start:end]))
    assert cache.length == 7
    assert np.array_equal(numbers(cache.keys), numbers(quantize_kv(keys, kv_dtype).dequantize()))
    assert np.array_equal(numbers(cache.values), numbers(quantize_kv(values, kv_dtype).dequantize()))


def test_bytes_of_a_token_are_those_of_the_planner() -> None:
    model = MODELS["llama-3.1-8b"]
    for kv_dtype in ("int8", "fp8"):
        cache = QuantizedKvCache(1, model.kv_heads, model.head_dim, kv_dtype)
        assert cache.bytes_per_token == kv_formats.token_bytes(model, f"{kv_dtype}_per_token_head")
    assert QuantizedKvCache(1, 8, 128, "int4").bytes_per_token == 2 * 8 * (64 + 4)


def test_what_the_cache_holds_takes_those_bytes() -> None:
    for kv_dtype in ("int8", "fp8", "int4"):
        cache = QuantizedKvCache(1, 2, 16, kv_dtype)
        parts = [quantize_kv(normal(1, 2, 16), kv_dtype) for _ in range(2)]
        assert cache.bytes_per_token == sum(part.data.nbytes + part.scale.nbytes for part in parts)


def test_a_refused_append_changes_nothing() -> None:
    cache = QuantizedKvCache(capacity=4, kv_heads=2, head_dim=8)
    cache.append(normal(3, 2, 8), normal(3, 2, 8))
    before = cache.keys.copy()
    good = normal(1, 2, 8)
    for keys, values, words in [
        (normal(2, 2, 8), normal(2, 2, 8), "holds 4 tokens and has 3: no room for 2 more"),
        (good, normal(2, 2, 8), r"values has shape \[2, 2, 8\], but this cache takes \[1 tokens, 2 heads, 8\]"),
        (normal(1, 3, 8), good, r"keys has shape \[1, 3, 8\]"),
        (good, np.full((1, 2, 8), np.nan), "finite"),
    ]:
        with pytest.raises(ValueError, match=words):
            cache.append(keys, values)
        assert cache.length == 3
        assert np.array_equal(cache.keys, before)
    cache.append(good, good)
    assert cache.length == 4


def test_what_is_no_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="kv_dtype 'int2' is not known; choose one of int8, fp8, int4"):
        quantize_kv(normal(1, 8), "int2")
    with pytest.raises(ValueError, match="head_dim is 7"):
        quantize_kv(normal(1, 7), "int4")
    with pytest.raises(ValueError, match="the cache is empty"):
        _ = QuantizedKvCache(4, 2, 8).keys
    with pytest.raises(ValueError, match="scale is missing"):
        QuantizedKv(np.zeros((1, 8), np.int8), None, "int8").dequantize()
