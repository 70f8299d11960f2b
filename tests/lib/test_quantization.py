"""Claims about affine quantization: what comes back is off by half a step at most, in numpy and in torch alike."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llmserving import kv_formats, weight_formats
from llmserving.quantization import (
    MODES,
    affine,
    code_range,
    dequantize,
    error_report,
    qparams,
    quantize,
    quantize_tensor,
    scale_zero_point,
    scales,
)
from llmserving.quantization.blocks import blocks_of
from llmserving.quantization.specification import dequantize_slowly, quantize_slowly, scale_zero_point_slowly

from tests.lib.quantization_arrays import array, both, normal, numbers

NAN, INF = float("nan"), float("inf")
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)

all_modes = pytest.mark.parametrize("mode", MODES)
all_bits = pytest.mark.parametrize("bits", range(2, 9))
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
ORDINARY = st.floats(-1000, 1000, width=32, allow_subnormal=False).map(
    lambda value: value if abs(value) > 1e-20 else 0.0
)
GROUPS = st.lists(FLOATS, min_size=1, max_size=12)
ORDINARY_GROUPS = st.lists(ORDINARY, min_size=1, max_size=12)
BITS, NAMES = st.integers(2, 8), st.sampled_from(MODES)
GRANULARITIES: list[dict[str, Any]] = [
    {},
    {"axis": 0},
    {"axis": 1},
    {"axis": -1},
    {"group_size": 8},
    {"group_size": 32},
]


def round_trip(x: Any, bits: int, mode: str) -> tuple[float, Any]:
    scale, zero_point = qparams(x, bits, mode)
    return scale.item(), dequantize(quantize(x, scale, zero_point, bits, mode), scale, zero_point)


# The conventions


def test_the_course_s_formulas_are_the_asymmetric_mode() -> None:
    scale, zero_point = scale_zero_point(-1.0, 2.0, 4)
    assert scale == 3 / 15
    assert zero_point == 5
    assert isinstance(scale, float)
    assert isinstance(zero_point, int)


def test_each_mode_has_its_own_codes_and_step() -> None:
    assert [(code_range(4, mode).low, code_range(4, mode).high) for mode in MODES] == [(0, 15), (-7, 7), (-8, 7)]
    assert [code_range(8, mode).dtype for mode in MODES] == ["uint8", "int8", "int8"]
    assert scale_zero_point(-1.0, 1.0, 4, "symmetric") == (1 / 7, 0)
    assert scale_zero_point(-1.0, 1.0, 4, "symmetric-full") == (1 / 7.5, 0)


def test_a_range_without_zero_is_extended_to_hold_it() -> None:
    assert scale_zero_point(3.0, 6.0, 4) == scale_zero_point(0.0, 6.0, 4)
    assert scale_zero_point(-6.0, -3.0, 4) == scale_zero_point(-6.0, 0.0, 4)
    assert scale_zero_point(-6.0, -3.0, 4)[1] == 15


@both
def test_ties_go_to_the_even_code(library: str) -> None:
    x = array(library, [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5])
    assert numbers(quantize(x, 1.0, 0, 8, "symmetric")).tolist() == [0, 2, 2, 4, 0, -2, -2]
    # x / scale is rounded first and the zero-point added to the integer, not the other way round.
    assert numbers(quantize(x, 1.0, 3, 8)).tolist() == [3, 5, 5, 7, 3, 1, 1]


@both
def test_values_beyond_the_codes_are_clipped_before_they_become_integers(library: str) -> None:
    x = array(library, [300.0, -300.0, 1e30, -1e30, LARGEST])
    assert numbers(quantize(x, 1.0, 0, 8, "symmetric")).tolist() == [127, -127, 127, -127, 127]
    assert numbers(quantize(x, 1.0, 0, 8, "symmetric-full")).tolist() == [127, -128, 127, -128, 127]
    assert numbers(quantize(x, 1e-30, 100, 8)).tolist() == [255, 0, 255, 0, 255]


def test_numbers_in_numbers_out() -> None:
    assert quantize(0.5, 0.25, 3, 4) == 5
    assert type(quantize(0.5, 0.25, 3, 4)) is int
    assert dequantize(5, 0.25, 3) == 0.5
    assert type(dequantize(5, 0.25, 3)) is float


# Properties


@settings(deadline=None)
@given(GROUPS, BITS, NAMES)
@example([LARGEST, -LARGEST], 8, "symmetric-full")
@example([LARGEST, -LARGEST], 2, "asymmetric")
@example([SMALLEST, -SMALLEST], 8, "symmetric")
@example([190 * SMALLEST, SMALLEST], 8, "symmetric")
@example([0.0], 4, "asymmetric")
def test_every_group_of_finite_values_comes_back_within_half_a_step(group: list[float], bits: int, mode: str) -> None:
    x = np.array(group, dtype=np.float32)
    scale, back = round_trip(x, bits, mode)
    assert 0 < scale < INF
    assert np.isfinite(back).all()
    assert np.abs(back.astype(np.float64) - x).max() <= scale / 2 * (1 + 1e-4)


@settings(deadline=None)
@given(GROUPS, BITS, NAMES)
def test_numpy_and_torch_agree_in_every_bit(group: list[float], bits: int, mode: str) -> None:
    x = np.array(group, dtype=np.float32)
    ours, theirs = (quantize_tensor(a, bits, mode) for a in (x, torch.from_numpy(x)))
    for name in ("codes", "scale", "zero_point"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name).numpy())
    assert np.array_equal(ours.dequantize(), theirs.dequantize().numpy())


@all_modes
@pytest.mark.parametrize("granularity", [{}, {"axis": 0}, {"axis": 1}, {"group_size": 8}])
def test_an_accelerator_s_tensors_take_the_same_steps(
    mode: str, granularity: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors in main memory are computed on as numpy arrays, all others by torch: here torch does both."""
    x = torch.from_numpy(normal(6, 64))
    x[0] = 1e-40
    viewed = quantize_tensor(x, 4, mode, **granularity)
    for module in (affine, scales):
        monkeypatch.setattr(module, "view", lambda tensor: tensor)
    stayed = quantize_tensor(x, 4, mode, **granularity)
    for name in ("codes", "scale", "zero_point"):
        assert torch.equal(getattr(viewed, name), getattr(stayed, name))
    assert torch.equal(viewed.dequantize(), stayed.dequantize())


@settings(deadline=None)
@given(ORDINARY_GROUPS, BITS, NAMES)
def test_the_fast_version_is_the_specification(group: list[float], bits: int, mode: str) -> None:
    quantized = quantize_tensor(np.array(group, dtype=np.float32), bits, mode)
    if not any(group):  # the specification divides by 0 here
        assert not quantized.dequantize().any()
        return
    scale, zero_point = scale_zero_point_slowly(group, bits, mode)
    codes = quantize_slowly(group, scale, zero_point, bits, mode)
    assert (float(quantized.scale[0]), int(quantized.zero_point[0])) == (scale, zero_point)
    assert quantized.codes.tolist() == codes
    assert quantized.dequantize().tolist() == dequantize_slowly(codes, scale, zero_point)


@settings(deadline=None)
@given(ORDINARY_GROUPS, BITS, NAMES)
def test_quantizing_what_came_back_changes_nothing(group: list[float], bits: int, mode: str) -> None:
    x = np.array(group, dtype=np.float32)
    scale, zero_point = qparams(x, bits, mode)
    codes = quantize(x, scale, zero_point, bits, mode)
    assert np.array_equal(quantize(dequantize(codes, scale, zero_point), scale, zero_point, bits, mode), codes)


@settings(deadline=None)
@given(ORDINARY_GROUPS, BITS, NAMES)
def test_a_larger_value_never_gets_a_smaller_code(group: list[float], bits: int, mode: str) -> None:
    quantized = quantize_tensor(np.sort(np.array(group, dtype=np.float32)), bits, mode)
    assert (np.diff(quantized.codes.astype(int)) >= 0).all()


@settings(deadline=None)
@given(ORDINARY_GROUPS, BITS, NAMES, st.integers(-20, 20))
def test_a_power_of_two_times_the_values_gives_the_same_codes(
    group: list[float], bits: int, mode: str, power: int
) -> None:
    x = np.array(group, dtype=np.float32)
    one, other = quantize_tensor(x, bits, mode), quantize_tensor(x * np.float32(2.0**power), bits, mode)
    assert np.array_equal(one.codes, other.codes)
    if x.any():
        assert np.array_equal(one.scale * np.float32(2.0**power), other.scale)


def test_the_half_step_can_be_exceeded_by_a_scale_that_is_too_small() -> None:
    x = normal(100)
    scale, zero_point = qparams(x, 4)
    assert not error_report(x, scale / 2, zero_point, 4).within_half_step


# Granularity


@both
@all_modes
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_each_block_is_quantized_as_if_it_were_alone(library: str, mode: str, granularity: dict[str, Any]) -> None:
    x = normal(6, 64)
    quantized = quantize_tensor(array(library, x), 4, mode, **granularity)
    rows, columns = quantized.scale.shape
    blocks = x.reshape(rows, 6 // rows, columns, 64 // columns).transpose(0, 2, 1, 3)
    codes = numbers(quantized.codes).reshape(rows, 6 // rows, columns, 64 // columns).transpose(0, 2, 1, 3)
    for row in range(rows):
        for column in range(columns):
            alone = quantize_tensor(blocks[row, column], 4, mode)
            assert np.array_equal(codes[row, column], alone.codes)
            assert float(quantized.scale[row, column]) == float(alone.scale[0, 0])
            assert int(quantized.zero_point[row, column]) == int(alone.zero_point[0, 0])


def test_the_shapes_of_scales_say_what_shares_one() -> None:
    x = normal(6, 64)
    shapes = [qparams(x, 4, **granularity)[0].shape for granularity in GRANULARITIES]
    assert shapes == [(1, 1), (6, 1), (1, 64), (1, 64), (6, 8), (6, 2)]
    assert qparams(normal(2, 3, 8), 4, axis=1)[0].shape == (1, 3, 1)
    assert qparams(normal(2, 3, 8), 4, group_size=8)[0].shape == (2, 3, 1)


@pytest.mark.parametrize("shape", [(5, 7), (3, 70_000), (70_000,), (2, 2, 40_000), (1, 65_537)])
@pytest.mark.parametrize("granularity", [{}, {"axis": 0}, {"axis": -1}])
def test_walking_in_pieces_leaves_nothing_out(shape: tuple[int, ...], granularity: dict[str, Any]) -> None:
    """Whatever the cut into pieces, it is the plain formula on the whole tensor at once."""
    x = normal(*shape)
    quantized = quantize_tensor(x, 8, **granularity)
    scale, zero_point = quantized.scale, quantized.zero_point
    plain = np.clip(np.round(x * (1 / scale)) + zero_point, 0, 255)
    assert np.array_equal(quantized.codes, plain)
    assert np.array_equal(quantized.dequantize(), (quantized.codes - zero_point.astype(np.float32)) * scale)


def test_pieces_are_no_larger_than_asked_and_cover_each_element_once() -> None:
    for shape, scale_shape in [((4, 1000), (4, 1)), ((3, 5, 50), (1, 5, 1)), ((3, 5, 50), (3, 1, 10)), ((7,), (1,))]:
        blocks = blocks_of(shape, scale_shape)
        seen = np.zeros(blocks.shape, dtype=int)
        for index, _ in blocks.pieces(room=64):
            seen[index] += 1
            assert seen[index].size <= 64
        assert (seen == 1).all()


@both
def test_other_orders_and_dtypes_of_the_same_numbers_give_the_same_codes(library: str) -> None:
    x = array(library, normal(8, 16))
    whole = quantize_tensor(x, 4, group_size=8)
    turned = quantize_tensor((x.T.copy() if library == "numpy" else x.T.contiguous()).T, 4, group_size=8)
    double = quantize_tensor(x.astype(np.float64) if library == "numpy" else x.double(), 4, group_size=8)
    for other in (turned, double):
        assert np.array_equal(numbers(whole.codes), numbers(other.codes))
        assert np.array_equal(numbers(whole.scale), numbers(other.scale))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_quantized_by_float32_arithmetic(dtype: str) -> None:
    x = torch.from_numpy(normal(8, 32)).to(getattr(torch, dtype))
    half, full = quantize_tensor(x, 4, group_size=16), quantize_tensor(x.float(), 4, group_size=16)
    assert torch.equal(half.codes, full.codes)
    assert torch.equal(half.scale, full.scale)
    assert half.dequantize().dtype == torch.float32


def test_a_tensor_with_a_gradient_is_quantized_as_its_values() -> None:
    x = torch.from_numpy(normal(4, 8)).requires_grad_()
    assert torch.equal(quantize_tensor(x, 4).codes, quantize_tensor(x.detach(), 4).codes)


# Groups that are out of the ordinary


@both
@all_modes
@all_bits
def test_odd_groups_have_finite_scales_and_come_back_as_near_as_codes_allow(library: str, mode: str, bits: int) -> None:
    for group in ([0.0, 0.0], [3.0, 3.0], [-3.0], [1.0, 2.5], [-22.0, -15.0], [1e-40, -2e-40], [LARGEST, 1.0]):
        scale, back = round_trip(array(library, group), bits, mode)
        assert np.isfinite(scale)
        assert np.abs(numbers(back) - np.array(group, dtype=np.float32)).max() <= scale / 2 * (1 + 1e-4)


@both
def test_zeros_come_back_as_zeros_and_constants_as_themselves(library: str) -> None:
    for mode in MODES:
        assert not numbers(round_trip(array(library, [0.0] * 4), 4, mode)[1]).any()
    for value in (3.0, -3.0, 0.1):
        for mode in ("asymmetric", "symmetric"):
            assert numbers(round_trip(array(library, [value] * 4), 4, mode)[1]) == pytest.approx([value] * 4, rel=1e-6)
    # absmax / 7.5 has no code for absmax itself: the price of symmetric-full.
    assert numbers(round_trip(array(library, [3.0]), 4, "symmetric-full")[1]) == pytest.approx([2.8], rel=1e-6)


@both
def test_a_group_of_zeros_or_of_denormals_changes_no_code_of_another_group(library: str) -> None:
    """absmax / 7.5 puts the largest value on a tie, where x / scale and x * (1 / scale) differ."""
    x = normal(64, 32)
    x[:, 0] = np.abs(x).max(axis=1)
    odd = np.stack([np.zeros(32, np.float32), np.full(32, 1e-40, np.float32)])
    alone, beside = (
        numbers(quantize_tensor(array(library, rows), 4, "symmetric-full", axis=0).codes)
        for rows in (x, np.concatenate([odd, x]))
    )
    assert np.array_equal(alone, beside[2:])


def test_zero_is_always_a_code() -> None:
    for low, high in [(-1.0, 3.0), (0.0, 1.0), (-0.3, 0.1), (5.0, 6.0), (-1e-3, 1e3)]:
        scale, zero_point = scale_zero_point(low, high, 4)
        assert dequantize(quantize(0.0, scale, zero_point, 4), scale, zero_point) == 0.0


# What a scale is stored in


def test_headline_bits_a_weight() -> None:
    x = normal(4, 128)
    assert quantize_tensor(x, 4, "symmetric", group_size=128, scale_dtype="float16").bits_a_weight == 4.125
    packed = quantize_tensor(x, 4, group_size=128, scale_dtype="float16")
    assert packed.bits_a_weight == weight_formats.WEIGHT_FORMATS["int4"].bits_a_weight == 4.15625
    assert round(16 / packed.bits_a_weight, 2) == 3.85
    assert Fraction(packed.storage_bits, 8) == weight_formats.WEIGHT_FORMATS["int4"].size(x.size)
    assert weight_formats.WEIGHT_FORMATS["mxfp4"].bits_a_weight == 4.25
    assert "int8_per_token_head" in kv_formats.KV_DTYPES


@both
@all_modes
def test_codes_are_those_of_the_stored_scale(library: str, mode: str) -> None:
    x = array(library, normal(4, 64))
    stored = quantize_tensor(x, 4, mode, group_size=32, scale_dtype="float16")
    assert stored.scale.itemsize == 2
    again = quantize(x, stored.scale, stored.zero_point, 4, mode)
    assert np.array_equal(numbers(stored.codes), numbers(again))
    # float16 rounds a scale by up to 1 part in 2048, and the ends of the range are up to 15 steps away.
    assert stored.error_report(x).worst_in_half_steps <= 1 + 2 * 15 / 2048


# The report


def test_the_report_counts_what_is_clipped_and_holds_errors_against_the_half_step() -> None:
    report = error_report([0.0, 0.26, 1.0, 9.0], 0.25, 0, 2)
    assert report.max_error == 9 - 0.75
    assert report.mean_error == pytest.approx((0 + 0.01 + 0.25 + 8.25) / 4)
    assert report.clipped_share == 0.5
    assert report.half_step == 0.125
    assert report.worst_in_half_steps == pytest.approx(66)
    assert not report.within_half_step
    assert str(report) == "max error 8.25, 66 times the half step of 0.125; mean error 2.13; 50 % clipped"


@all_modes
def test_a_tensor_s_own_scales_clip_nothing(mode: str) -> None:
    x = normal(16, 64)
    report = quantize_tensor(x, 4, mode, group_size=16).error_report(x)
    assert report.clipped_share == 0
    assert report.within_half_step
    assert 0 < report.mean_error < report.max_error <= report.half_step * (1 + 1e-4)
    assert "within the half step" in str(report)


# Refusals


BAD_VALUES: list[tuple[Any, type[Exception], str]] = [
    ([1.0, NAN], ValueError, r"x is a tensor of numbers and must be finite, but element \[1\] is NaN"),
    ([[1.0, 2.0], [INF, 0.0]], ValueError, r"element \[1, 0\] is inf"),
    ([1e300, 1.0], ValueError, r"element \[0\] is 1e\+300, which float32 cannot hold"),
    ([], ValueError, "an empty one of shape"),
    (np.zeros((3, 0)), ValueError, r"an empty one of shape \(3, 0\)"),
    ([True, False], TypeError, "one of dtype bool"),
    ([1j], TypeError, "one of dtype complex"),
    ("weights", TypeError, "x is a tensor of numbers, but got 'weights'"),
    (None, TypeError, "x is a tensor of numbers, but got None"),
    ([[1.0], [1.0, 2.0]], ValueError, "its rows differ in length"),
    (torch.tensor([True]), TypeError, "one of dtype bool"),
    (torch.tensor([NAN]), ValueError, r"element \[0\] is NaN"),
]


@pytest.mark.parametrize(("x", "error", "words"), BAD_VALUES)
def test_values_that_are_none_are_refused_by_name(x: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        quantize(x, 0.1, 0, 8)
    with pytest.raises(error, match=words):
        qparams(x, 8)


@pytest.mark.parametrize(
    ("bits", "error", "words"),
    [
        (1, ValueError, "at least 2"),
        (9, ValueError, "at most 8"),
        (4.0, TypeError, "whole number"),
        (True, TypeError, "bits"),
    ],
)
def test_bits_out_of_range_are_refused_by_name(bits: Any, error: type[Exception], words: str) -> None:
    for refused in (
        lambda: quantize([1.0], 0.1, 0, bits),
        lambda: qparams([1.0], bits),
        lambda: scale_zero_point(0.0, 1.0, bits),
    ):
        with pytest.raises(error, match=f"bits is .*{words}|{words}"):
            refused()


@pytest.mark.parametrize(
    ("settings_", "error", "words"),
    [
        ({"group_size": 128}, ValueError, "group_size 128 does not divide the 192 columns of shape"),
        ({"group_size": 0}, ValueError, "group_size is .* at least 1"),
        ({"group_size": 32.5}, TypeError, "group_size is"),
        ({"axis": 2}, ValueError, "axis 2 is not one of the 2 axes"),
        ({"axis": -3}, ValueError, "axis is .* at least -2"),
        ({"axis": 0.5}, TypeError, "axis is"),
        ({"axis": 0, "group_size": 32}, ValueError, "choose one"),
        ({"mode": "symetric"}, ValueError, "mode 'symetric' is not known; choose one of asymmetric, symmetric"),
        ({"mode": 3}, TypeError, "mode is a text"),
        ({"scale_dtype": "int8"}, ValueError, "scale_dtype 'int8' is not known"),
        ({"scale_dtype": "bfloat16"}, ValueError, "numpy has no dtype 'bfloat16'"),
    ],
)
def test_a_granularity_that_does_not_fit_is_refused_by_name(
    settings_: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        qparams(normal(4, 192), 4, **settings_)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"scale": 0.0}, ValueError, "scale is the step between two codes and must be above 0"),
        ({"scale": -0.1}, ValueError, "must be above 0"),
        ({"scale": NAN}, ValueError, "scale is .* but got NaN"),
        ({"scale": np.ones(4)}, ValueError, r"scale has shape \(4,\), which does not fit a tensor of shape \(4, 8\)"),
        ({"scale": np.ones((3, 1))}, ValueError, "a length that divides"),
        ({"zero_point": 0.5}, TypeError, "zero_point is the code of the value 0, a whole number"),
        ({"zero_point": -1}, ValueError, "zero_point is one of the codes, 0 to 15, but got -1"),
        ({"zero_point": 16}, ValueError, "0 to 15, but got 16"),
        ({"zero_point": 8, "mode": "symmetric"}, ValueError, "zero_point is 0 in the symmetric modes, but got 8"),
        ({"zero_point": np.zeros((4, 2)), "scale": np.ones((4, 1))}, ValueError, "give both the same"),
    ],
)
def test_scales_and_zero_points_that_are_none_are_refused(
    changed: dict[str, Any], error: type[Exception], words: str
) -> None:
    arguments = {"x": normal(4, 8), "scale": 0.1, "zero_point": 0, "bits": 4, **changed}
    with pytest.raises(error, match=words):
        quantize(**arguments)


@pytest.mark.parametrize(
    ("ends", "error", "words"),
    [
        ((1.0, -1.0), ValueError, "r_min 1.0 is above r_max -1.0"),
        ((NAN, 1.0), ValueError, "r_min is .* but got NaN"),
        ((0.0, INF), ValueError, "r_max is .* but got inf"),
        ((None, 1.0), TypeError, "r_min is an end of the range"),
        ((np.zeros(2), np.ones(3)), ValueError, "give both the same"),
    ],
)
def test_a_range_that_is_none_is_refused(ends: tuple[Any, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        scale_zero_point(*ends, 8)


def test_codes_are_integers() -> None:
    with pytest.raises(TypeError, match="q is a tensor of codes, which are integers, but got one of dtype float64"):
        dequantize(np.array([1.5]), 0.1, 0)


def test_a_refused_call_changes_nothing() -> None:
    x = normal(4, 8)
    x[2, 3] = NAN
    before = x.copy()
    with pytest.raises(ValueError, match="finite"):
        quantize_tensor(x, 4)
    assert np.array_equal(x, before, equal_nan=True)


def test_quantizing_changes_no_argument() -> None:
    x, scale, zero_point = normal(4, 8), np.full((4, 1), 0.1, np.float32), np.full((4, 1), 7, np.int32)
    before = [a.copy() for a in (x, scale, zero_point)]
    dequantize(quantize(x, scale, zero_point, 4), scale, zero_point)
    for a, b in zip((x, scale, zero_point), before, strict=True):
        assert np.array_equal(a, b)


def test_no_warning_is_given_where_numbers_are_extreme() -> None:
    with np.errstate(all="raise"):
        for group in ([LARGEST, -LARGEST], [1e-44], [0.0]):
            for mode in MODES:
                round_trip(np.array(group, dtype=np.float32), 8, mode)


def test_quantizing_numpy_arrays_never_loads_torch() -> None:
    program = (
        "import sys, numpy as np; from llmserving.quantization import quantize_tensor, pack_weight, linear_w4a16, "
        "quantize_kv, quantize_float; x = np.ones((4, 64), np.float32); quantize_tensor(x, 4).dequantize(); "
        "linear_w4a16(x, pack_weight(x, 32)); quantize_kv(x).dequantize(); quantize_float(x, 'mxfp4').dequantize(); "
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
