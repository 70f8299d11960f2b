"""A refused argument gets one sentence: which argument, what it got, what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import arguments, kv_bytes, weight_bytes

NAN, INF = float("nan"), float("inf")

# For a count: what is passed, how the sentence shows it, what it says would be right.
BAD_COUNTS: list[tuple[Any, type[Exception], str, str]] = [
    (0, ValueError, "got 0", "at least 1"),
    (-1, ValueError, "got -1", "at least 1"),
    (2.0, TypeError, "got 2.0", "write 2 without the decimal point"),
    (2.5, TypeError, "got 2.5", "a whole number"),
    (True, TypeError, "got True, a truth value", "write 1, not True"),
    (np.True_, TypeError, "got np.True_, a truth value", "write 1, not True"),
    (NAN, ValueError, "got NaN", "look for the 0/0"),
    (INF, ValueError, "got inf", "must be finite"),
    (-INF, ValueError, "got -inf", "must be finite"),
    (None, TypeError, "got None of type NoneType", "a whole number such as 32"),
    ("2", TypeError, "got '2' of type str", "a whole number such as 32"),
    ([1], TypeError, "got [1] of type list", "a whole number such as 32"),
    (3 + 0j, TypeError, "got (3+0j) of type complex", "a whole number such as 32"),
]
# bytes an element may be a fraction of one, so 2.0 and 2.5 are no mistakes there.
BAD_REALS: list[tuple[Any, type[Exception], str, str]] = [
    (0, ValueError, "got 0", "must be above 0"),
    (-1, ValueError, "got -1", "must be above 0"),
    (True, TypeError, "got True, a truth value", "write 1, not True"),
    (np.True_, TypeError, "got np.True_, a truth value", "write 1, not True"),
    (NAN, ValueError, "got NaN", "look for the 0/0"),
    (INF, ValueError, "got inf", "must be finite"),
    (None, TypeError, "got None of NoneType", "a number such as 2"),
    ("2", TypeError, "got '2' of str", "a number such as 2"),
    ([1], TypeError, "got [1] of list", "a number such as 2"),
    (3 + 0j, TypeError, "got (3+0j) of complex", "a number such as 2"),
]


def _kv(**changed: Any) -> int:
    return kv_bytes(**{"B": 1, "S": 2048, "L": 32, "d_model": 4096, "p": 2, **changed})


def _weights(**changed: Any) -> int:
    return weight_bytes(**{"parameters": 10**9, "bits": 4, "group_size": 128, "zero_point_bits": 4, **changed})


COUNTS = [(_kv, name) for name in ("B", "S", "L", "d_model")] + [
    (_weights, name) for name in ("bits", "group_size", "zero_point_bits")
]


@pytest.mark.parametrize(("value", "error", "got", "right"), BAD_COUNTS, ids=[repr(bad[0]) for bad in BAD_COUNTS])
@pytest.mark.parametrize(("call", "name"), COUNTS, ids=[name for _, name in COUNTS])
def test_a_bad_count_is_refused_in_one_sentence(
    call: Callable[..., int], name: str, value: Any, error: type[Exception], got: str, right: str
) -> None:
    if value is None and name in ("group_size", "zero_point_bits"):
        return  # None means "no scales" and "no zero-point" there
    with pytest.raises(error) as refusal:
        call(**{name: value})
    sentence = str(refusal.value)
    assert sentence.startswith(f"{name} is ")
    assert got in sentence
    assert right in sentence


@pytest.mark.parametrize(("value", "error", "got", "right"), BAD_REALS, ids=[repr(bad[0]) for bad in BAD_REALS])
def test_a_bad_number_of_bytes_an_element_is_refused_in_one_sentence(
    value: Any, error: type[Exception], got: str, right: str
) -> None:
    with pytest.raises(error, match="^p is the number of bytes a cached element") as refusal:
        _kv(p=value)
    assert got in str(refusal.value)
    assert right in str(refusal.value)


@given(st.one_of(st.none(), st.text(), st.binary(), st.floats(), st.complex_numbers(), st.lists(st.integers())))
def test_whatever_is_no_count_gets_a_short_sentence_and_no_other_error(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="^B is the number of requests batched") as refusal:
        arguments.count("B", "the number of requests batched", value)
    assert len(str(refusal.value)) < 220


@given(st.integers(1, 10**40))
def test_every_positive_integer_is_a_count(number: int) -> None:
    assert arguments.count("B", "the number of requests batched", number) == number
    assert arguments.positive_real("p", "the number of bytes", number) == number


@pytest.mark.parametrize("number", [np.int64(7), np.uint8(7), np.array(7)])
def test_integers_of_numpy_become_python_integers(number: Any) -> None:
    assert type(arguments.count("B", "the number of requests", number)) is int


@pytest.mark.parametrize("number", [Fraction(10**400, 3), 10**400])
def test_a_rational_too_large_for_a_float_raises_nothing_but_the_sentence(number: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("B is the number of requests")):
        arguments.count("B", "the number of requests", Fraction(10**400, 3))
    assert arguments.positive_real("p", "the number of bytes", 10**400) == 10**400


def test_a_count_has_bounds() -> None:
    assert arguments.count("B", "the number of requests", 0, at_least=0) == 0
    assert arguments.count("B", "the number of requests", 5, most=5) == 5
    for value, words in ((-1, "must be at least 0, but got -1"), (6, "but 6 is more than any can have")):
        with pytest.raises(ValueError, match=f"^B is the number of requests.* {words}$"):
            arguments.count("B", "the number of requests", value, at_least=0, most=5)


@pytest.mark.parametrize("number", [10**400, 10**5000, -(10**5000)], ids=["1e400", "1e5000", "-1e5000"])
def test_a_number_too_long_to_write_out_is_still_refused_in_a_short_sentence(number: int) -> None:
    for check in (arguments.count, arguments.amount, arguments.share):
        with pytest.raises(ValueError, match="^B is the number of requests") as refusal:
            check("B", "the number of requests", number)
        assert len(str(refusal.value)) < 160


def test_a_fraction_too_large_for_a_float_is_more_than_there_can_be() -> None:
    with pytest.raises(ValueError, match="^p is the number of bytes, but .* is more than there can be$"):
        arguments.positive_real("p", "the number of bytes", Fraction(10**400, 3))


def test_a_share_is_at_most_1_whatever_number_it_is() -> None:
    assert arguments.share("u", "a share", Fraction(1, 2)) == 0.5
    with pytest.raises(ValueError, match=re.escape("u is a share, at most 1, but got Fraction(9, 2); 4.5 % is 0.045")):
        arguments.share("u", "a share", Fraction(9, 2))
    with pytest.raises(ValueError, match="but got 1.5$"):
        arguments.share("u", "a share", 1.5)


def test_a_share_may_be_none_where_that_makes_sense() -> None:
    for none in (0, 0.0, -0.0, Fraction(0), np.float16(0)):
        assert str(arguments.share("u", "a share", none, or_none=True)) == "0.0"
    for below in (-0.1, -1, float("-inf")):
        with pytest.raises(ValueError, match=f"^u is a share and must be at least 0, but got {below}$"):
            arguments.share("u", "a share", below, or_none=True)
    with pytest.raises(ValueError, match="u is a share and must be above 0, but got 0"):
        arguments.share("u", "a share", 0)
    with pytest.raises(TypeError, match="a truth value"):
        arguments.share("u", "a share", False, or_none=True)
    with pytest.raises(ValueError, match="NaN"):
        arguments.share("u", "a share", float("nan"), or_none=True)
