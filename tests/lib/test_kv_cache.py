"""The size of the KV cache is 2 * B * S * L * d_model * p bytes, exactly."""

from __future__ import annotations

import doctest
import importlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GB, GiB, kv_bytes

counts = st.integers(1, 10**6)
widths = st.sampled_from([4, 2, 1, 0.5])


def test_the_course_s_own_numbers_give_one_gib() -> None:
    size = kv_bytes(B=1, S=2048, L=32, d_model=4096, p=2)
    assert size == GiB == 1_073_741_824
    assert type(size) is int
    assert size / GB == 1.073741824


def test_four_bits_an_element_are_half_a_byte() -> None:
    assert kv_bytes(B=1, S=1, L=1, d_model=1, p=0.5) == 1


@given(counts, counts, counts, counts, widths)
def test_it_is_the_product_of_six_factors(B: int, S: int, L: int, d_model: int, p: float) -> None:
    size = kv_bytes(B, S, L, d_model, p)
    assert type(size) is int
    assert size == 2 * B * S * L * d_model * Fraction(p)


@given(counts, counts, counts, counts, widths, st.integers(1, 1000))
def test_it_grows_linearly_with_requests_tokens_and_layers(
    B: int, S: int, L: int, d_model: int, p: float, times: int
) -> None:
    size = kv_bytes(B, S, L, d_model, p)
    assert kv_bytes(times * B, S, L, d_model, p) == times * size
    assert kv_bytes(B, times * S, L, d_model, p) == times * size
    assert kv_bytes(B, S, times * L, d_model, p) == times * size


@given(counts, counts, counts, counts, widths)
def test_each_token_adds_the_bytes_of_a_cache_of_one_token(B: int, S: int, L: int, d_model: int, p: float) -> None:
    grown = kv_bytes(B, S + 1, L, d_model, p) - kv_bytes(B, S, L, d_model, p)
    assert grown == kv_bytes(B, 1, L, d_model, p)


def test_it_is_exact_where_a_product_of_floats_is_not() -> None:
    odd = 10**9 + 7
    assert kv_bytes(odd, odd, odd, odd, 2.0) == 4 * odd**4


def test_numbers_of_numpy_count_too_and_do_not_overflow() -> None:
    size = kv_bytes(np.int32(2**20), np.int32(2**20), np.int64(80), np.int64(8192), np.float32(2))
    assert size == 2 * 2**20 * 2**20 * 80 * 8192 * 2
    assert type(size) is int


def test_a_width_that_leaves_a_part_of_a_byte_is_refused_with_common_ones() -> None:
    with pytest.raises(ValueError, match=r"^p is .*0\.3 bytes for each of 2 elements.*0\.5 \(INT4\)"):
        kv_bytes(1, 1, 1, 1, 0.3)


def test_the_examples_in_the_docstrings_hold() -> None:
    for name in ("kv_cache", "kv_pool"):
        result = doctest.testmod(importlib.import_module(f"llmserving.{name}"))
        assert result.attempted
        assert not result.failed
