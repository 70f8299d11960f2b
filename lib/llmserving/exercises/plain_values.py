"""What a learner's function gave back, as plain JSON of a bounded size; whatever it is, no code of its own is run.

JSON has no NaN and no infinity, and its objects have text for names, so a float that is not finite is {"float": "nan"} and
a dict is {"dict": [[name, value], ...]}. Tuples, arrays and tensors are lists.
"""

from __future__ import annotations

import math
from typing import Any

from llmserving.exercises.faults import type_name

MOST_ITEMS, MOST_DEPTH, MOST_TEXT, MOST_BITS = 4096, 12, 2000, 400


class NotPlainError(TypeError):
    """A value that is no number, text, list or dict; the text names its type."""


class TooLargeError(ValueError):
    """More than a result of an exercise can be."""


def plain(value: Any) -> Any:
    """The value as JSON. NotPlainError or TooLargeError where it cannot be."""
    return _plain(value, MOST_DEPTH, [MOST_ITEMS])


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise TooLargeError
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, int):
        return _int(int.__index__(value))
    if issubclass(kind, float):
        return _float(float.__float__(value))
    if issubclass(kind, str):
        return _text(str.__str__(value))
    if issubclass(kind, list):
        return [_plain(one, depth - 1, left) for one in list.__iter__(value)]
    if issubclass(kind, tuple):
        return [_plain(one, depth - 1, left) for one in tuple.__iter__(value)]
    if issubclass(kind, dict):
        pairs = list(dict.items(value))
        return {"dict": [[_plain(name, depth - 1, left), _plain(one, depth - 1, left)] for name, one in pairs]}
    return _plain(_unwrapped(value, left[0]), depth - 1, left)


def _unwrapped(value: Any, most: int) -> Any:
    """The Python numbers in a NumPy or torch value."""
    library = str(type.__getattribute__(type(value), "__module__")).split(".")[0]
    if library not in ("numpy", "torch") or not hasattr(value, "tolist"):
        raise NotPlainError(type_name(value))
    count = value.numel() if library == "torch" else value.size
    if count > most:
        raise TooLargeError
    numbers = value.tolist()
    if type(numbers) is type(value):
        raise NotPlainError(type_name(value))
    return numbers


def _int(value: int) -> int:
    if value.bit_length() > MOST_BITS:
        raise TooLargeError
    return value


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"float": repr(value)}


def _text(value: str) -> str:
    if len(value) > MOST_TEXT:
        raise TooLargeError
    return value.encode(errors="replace").decode()


def is_plain(value: Any, depth: int = MOST_DEPTH) -> bool:
    """Whether this is what `plain` could have given: data that comes from elsewhere may be anything."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    if depth <= 0:
        return False
    if isinstance(value, list):
        return len(value) <= MOST_ITEMS and all(is_plain(one, depth - 1) for one in value)
    if not isinstance(value, dict) or len(value) != 1:
        return False
    if "float" in value:
        return value["float"] in ("nan", "inf", "-inf")
    pairs = value.get("dict")
    return isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and is_plain(pair, depth - 1) for pair in pairs
    )
