"""Numbers alone are worked on as by hand, in double precision; arrays in float32, as torchao does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llmserving.quantization import MODES, code_range, dequantize, quantize, scale_zero_point

from tests.lib.quantization_arrays import array, both

ENDS = st.floats(-1e30, 1e30).filter(lambda value: value == 0 or abs(value) > 1e-30)


@pytest.mark.parametrize(
    ("low", "high", "bits", "scale", "zero_point"),
    [
        (-1, 1, 8, 0.00784313725490196, 128),
        (-1, 1, 4, 0.13333333333333333, 8),
        (-0.6, 0.9, 8, 0.0058823529411764705, 102),
        (-0.6, 0.9, 4, 0.1, 6),
        (np.float64(-1), np.int64(1), 8, 0.00784313725490196, 128),
    ],
)
def test_the_textbook_s_numbers(low: Any, high: Any, bits: int, scale: float, zero_point: int) -> None:
    assert scale_zero_point(low, high, bits) == (scale, zero_point)
    assert [type(part) for part in scale_zero_point(low, high, bits)] == [float, int]


def test_a_quotient_just_below_a_tie_is_rounded_down() -> None:
    assert 0.15 / 0.1 < 1.5
    assert quantize(0.15, 0.1, 0, 4, "symmetric") == 1
    assert dequantize(3, 0.1, 0) == 0.1 * 3
    assert dequantize(np.int64(3), np.float64(0.1), 0) == 0.1 * 3
    assert dequantize(1, 1e-3, 4) == 1e-3 * -3


@settings(deadline=None)
@given(ENDS, ENDS, st.integers(2, 8), st.sampled_from(MODES))
@example(-1.0, 1.0, 4, "asymmetric")
def test_numbers_follow_the_formula_of_the_docstring(one: float, other: float, bits: int, mode: str) -> None:
    low, high = min(one, other, 0.0), max(one, other, 0.0)
    scale, zero_point = scale_zero_point(min(one, other), max(one, other), bits, mode)
    if low == high:
        return
    steps = {"asymmetric": 2**bits - 1, "symmetric": 2 ** (bits - 1) - 1, "symmetric-full": (2**bits - 1) / 2}[mode]
    exact = (high - low if mode == "asymmetric" else max(high, -low)) / steps
    assert scale == exact
    assert zero_point == (round(-low / exact) if mode == "asymmetric" else 0)
    codes = code_range(bits, mode)
    for value in (one, other, 0.0):
        code = quantize(value, scale, zero_point, bits, mode)
        assert codes.low <= code <= codes.high
        assert abs(Fraction(dequantize(code, scale, zero_point)) - Fraction(value)) <= Fraction(scale) * Fraction(
            0.5001
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("end", [0.0, 5e-324, 1e-45, 1e-39, 1e-37, 3.4e38])
def test_the_scale_is_one_that_float32_holds_however_small_or_large_the_range(end: float, mode: str) -> None:
    scale, zero_point = scale_zero_point(-end, end, 8, mode)
    assert np.float32(scale) > 0
    assert np.isfinite(np.float32(scale))
    for x in (end, np.array([end])):
        assert dequantize(quantize(x, scale, zero_point, 8, mode), scale, zero_point) == pytest.approx(end, abs=scale)


@both
def test_arrays_and_numbers_of_float32_stay_in_float32(library: str) -> None:
    scale, zero_point = scale_zero_point(array(library, [-1.0]), array(library, [1.0]), 4)
    assert (scale.item(), zero_point.item()) == (np.float32(2) / np.float32(15), 7)
    assert scale_zero_point(np.float32(-1), np.float32(1), 4) == (np.float32(2) / np.float32(15), 7)
    assert quantize(array(library, [0.15]), 0.1, 0, 4, "symmetric").tolist() == [2]
    assert dequantize(quantize(array(library, [0.3]), 0.1, 0, 4), 0.1, 0).tolist() == [np.float32(0.1) * np.float32(3)]
