"""Weights take bits / 8 bytes each, and their group scales come on top."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GB, planner, weight_bytes


@pytest.mark.parametrize(("bits", "gigabytes"), [(16, 26), (8, 13), (4, 6.5)])
def test_the_course_s_13_billion_weights(bits: int, gigabytes: float) -> None:
    size = weight_bytes(13e9, bits)
    assert size == gigabytes * GB
    assert type(size) is int


@pytest.mark.parametrize("parameters", [13e9, 13_000_000_000, np.float64(13e9), np.int64(13_000_000_000)])
def test_whole_floats_are_counts_too(parameters: Any) -> None:
    assert weight_bytes(parameters, 16) == 26 * GB


def test_two_and_a_half_weights_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^parameters is the number of weights, a whole number, but got 2\.5"):
        weight_bytes(2.5, 16)


def test_whole_floats_stay_refused_for_bits() -> None:
    with pytest.raises(TypeError, match=r"^bits is .* got 4\.0; write 4 without the decimal point"):
        weight_bytes(13e9, 4.0)


@pytest.mark.parametrize(
    ("zero_point_bits", "bits_per_weight"), [(None, 4.125), (16, 4.25), (4, 4.15625)], ids=["scale", "16-bit", "4-bit"]
)
def test_int4_in_groups_of_128_takes_more_than_four_bits(zero_point_bits: int | None, bits_per_weight: float) -> None:
    size = weight_bytes(128 * 10**6, 4, group_size=128, zero_point_bits=zero_point_bits)
    assert size * 8 / (128 * 10**6) == bits_per_weight


def test_a_zero_point_without_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="^zero_point_bits needs a group_size"):
        weight_bytes(13e9, 4, zero_point_bits=16)


@given(st.integers(1, 10**13), st.sampled_from([2, 3, 4, 8, 16, 32]))
def test_the_last_byte_is_whole(parameters: int, bits: int) -> None:
    size = weight_bytes(parameters, bits)
    assert 0 <= 8 * size - parameters * bits < 8


@given(st.integers(1, 10**12), st.sampled_from([32, 64, 128, 256]))
def test_smaller_groups_never_take_less(parameters: int, group_size: int) -> None:
    plain = weight_bytes(parameters, 4)
    grouped = weight_bytes(parameters, 4, group_size=group_size)
    assert plain < grouped <= weight_bytes(parameters, 4, group_size=group_size // 2)


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(planner).failed == 0
