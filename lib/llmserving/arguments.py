"""Checks of arguments, each refusing with a sentence: which argument, what it got, what would be right."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

MOST = 10**40  # above anything that is counted here, and products of a few such numbers still fit into a float


def count(
    name: str, meaning: str, value: Any, *, whole_floats: bool = False, at_least: int = 1, most: int = MOST
) -> int:
    """`value` as a Python int from `at_least` to `most`, or a TypeError or ValueError that a learner can act on.

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
            f"{name} is {meaning}, a whole number such as 32, but got {shown(value)} of type {type(value).__name__}"
        ) from None
    if number < at_least:
        raise ValueError(f"{name} is {meaning} and must be at least {at_least}, but got {shown(number)}")
    if number > most:
        raise ValueError(f"{name} is {meaning}, but {shown(number)} is more than any can have")
    return number


def positive_real(name: str, meaning: str, value: Any) -> float | int:
    """`value` as an int or a float above 0, or a TypeError or ValueError that a learner can act on."""
    if _is_bool(value):
        raise TypeError(f"{name} is {meaning}, a number, but got {value!r}, a truth value; write 1, not True")
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {meaning}, a number such as 2, but got {shown(value)} of {type(value).__name__}")
    _refuse_non_finite(name, meaning, value)
    if value <= 0:
        raise ValueError(f"{name} is {meaning} and must be above 0, but got {shown(value)}")
    try:
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    except OverflowError:
        raise ValueError(_too_much(name, meaning, value)) from None


def amount(name: str, meaning: str, value: Any) -> float | int:
    """`value` as a positive real that is small enough to be calculated with as a float."""
    number = positive_real(name, meaning, value)
    if number > MOST:
        raise ValueError(_too_much(name, meaning, value))
    return number


def text(name: str, value: Any) -> str:
    """`value` if it is a text, or a TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, but got {shown(value)}")
    return value


def share(name: str, meaning: str, value: Any, *, or_none: bool = False) -> float:
    """`value` as a float above 0 and at most 1, or also 0 where `or_none`; one that looks like per cent is told what it is."""
    if or_none and not _is_bool(value) and isinstance(value, numbers.Real) and value <= 0:
        if value < 0:
            raise ValueError(f"{name} is {meaning} and must be at least 0, but got {shown(value)}")
        return 0.0
    number = float(amount(name, meaning, value))
    if number > 1:
        advice = f"; {number:g} % is {number / 100:g}" if 2 <= number <= 100 else ""
        raise ValueError(f"{name} is {meaning}, at most 1, but got {shown(value)}{advice}")
    return number


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
    raise TypeError(f"{name} is {meaning}, a whole number, but got {shown(value)}; {advice}")


def _too_much(name: str, meaning: str, value: Any) -> str:
    return f"{name} is {meaning}, but {shown(value)} is more than there can be"


def shown(value: Any) -> str:
    """The value as it is written in code, cut where that is long."""
    try:
        code = repr(value)
    except ValueError:  # Python writes out no int of more than some thousand digits
        return f"a {type(value).__name__} of thousands of digits"
    return code if len(code) <= 40 else code[:37] + "..."
