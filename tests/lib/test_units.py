"""GB and GiB are never mixed, and one place writes units down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GB, GiB, units


def test_a_gb_is_ten_to_the_ninth_and_a_gib_two_to_the_thirtieth() -> None:
    assert (GB, GiB) == (1_000_000_000, 1_073_741_824)


@pytest.mark.parametrize(
    ("num_bytes", "unit", "text"),
    [
        (1_073_741_824, None, "1.07 GB"),
        (1_073_741_824, "GiB", "1 GiB"),
        (1_073_741_824, "bytes", "1,073,741,824 bytes"),
        (26e9, None, "26 GB"),
        (6.5e9, None, "6.5 GB"),
        (999, None, "999 bytes"),
        (0, None, "0 bytes"),
        (-3.35e12, None, "-3.35 TB"),
        (53_687_091_200, "GB", "53.7 GB"),
    ],
)
def test_bytes_keep_three_significant_figures(num_bytes: float, unit: str | None, text: str) -> None:
    assert units.format_bytes(num_bytes, unit) == text


def test_a_unit_that_is_not_known_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unit 'Gb' is not known; choose one of bytes, KB, MB, GB"):
        units.format_bytes(1, "Gb")


@pytest.mark.parametrize(
    ("seconds", "text"), [(2, "2 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 µs"), (7.89e-9, "7.89 ns"), (0, "0 ns")]
)
def test_seconds_take_the_unit_that_leaves_at_least_one(seconds: float, text: str) -> None:
    assert units.format_seconds(seconds) == text


def test_a_rate_is_in_decimal_units() -> None:
    assert units.format_rate(3.35e12) == "3.35 TB/s"


@given(st.integers(-(10**15), 10**15))
def test_an_integer_keeps_all_its_digits(number: int) -> None:
    assert int(units.format_number(number).replace(",", "")) == number


@given(st.floats(1e-40, 1e12) | st.floats(-1e12, -1e-40))
def test_a_written_number_reads_back_within_half_a_unit_of_the_third_figure(number: float) -> None:
    text = units.format_number(number)
    assert "e" not in text
    assert float(text.replace(",", "")) == pytest.approx(number, rel=0.0051)


@pytest.mark.parametrize(("number", "text"), [(float("inf"), "inf"), (float("nan"), "nan")])
def test_numbers_that_are_not_finite_are_written_and_not_rounded(number: float, text: str) -> None:
    assert units.format_number(number) == text
