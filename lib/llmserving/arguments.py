"""Checks of arguments, each refusing with a sentence: which argument, what it got, what would be right."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any


def count(name: str, meaning: str, value: Any, *, whole_floats: bool = False) -> int:
    """`value` as a Python int of at least 1, or a TypeError or ValueError that a learner can act on.

    `whole_floats` lets 13e9 pass for 13_000_000_000; 2.5 is refused either way.
    """
    if _is_bool(value):
        raise TypeError(f"{name} is {meaning}, a whole number, but got {value!r}, a truth value; write 1, not True")
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        value = _whole(name, meaning, value, accepted=whole_floats)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} is {meaning}, a whole number such as 32, but got {_shown(value)} of type {type(value).__name__}"
        ) from None
    if number < 1:
        raise ValueError(f"{name} is {meaning} and must be at least 1, but got {number}")
    return number


def positive_real(name: str, meaning: str, value: Any) -> float | int:
    """`value` as an int or a float above 0, or a TypeError or ValueError that a learner can act on."""
    if _is_bool(value):
        raise TypeError(f"{name} is {meaning}, a number, but got {value!r}, a truth value; write 1, not True")
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {meaning}, a number such as 2, but got {_shown(value)} of {type(value).__name__}")
    _refuse_non_finite(name, meaning, value)
    if value <= 0:
        raise ValueError(f"{name} is {meaning} and must be above 0, but got {value!r}")
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or (type(value).__name__ in ("bool", "bool_") and hasattr(value, "dtype"))


def _refuse_non_finite(name: str, meaning: str, value: Any) -> None:
    if isinstance(value, numbers.Rational):  # always finite, and math.isnan would overflow on a large one
        return
    if math.isnan(value):
        raise ValueError(f"{name} is {meaning}, but got NaN (not a number); look for the 0/0 or inf - inf it came from")
    if math.isinf(value):
        raise ValueError(f"{name} is {meaning} and must be finite, but got {value!r}")


def _whole(name: str, meaning: str, value: Any, *, accepted: bool) -> int:
    """The int that a float such as 13e9 stands for, where those are accepted."""
    _refuse_non_finite(name, meaning, value)
    whole = int(value)
    if accepted and value == whole:
        return whole
    advice = "there is no part of one to count"
    if value == whole:
        advice = f"write {whole if abs(whole) < 10**15 else 'it'} without the decimal point"
    raise TypeError(f"{name} is {meaning}, a whole number, but got {_shown(value)}; {advice}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
