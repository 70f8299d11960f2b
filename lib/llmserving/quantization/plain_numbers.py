"""The same formulas for one number, in Python's double precision: what a calculation by hand gives, to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.quantization.arrays import is_number
from llmserving.quantization.modes import CodeRange
from llmserving.quantization.scales import SMALLEST_NORMAL


def are_plain(*values: Any) -> bool:
    """Whether all are Python's numbers, or numpy's of as many digits: none that was rounded to float32 or less."""
    return all(is_number(value) and not isinstance(value, (np.float16, np.float32)) for value in values)


def parameters_of_range(low: float, high: float, codes: CodeRange) -> tuple[float, int] | None:
    """The scale and the zero-point; None where no scale of ordinary size is right, such as for a range of 0 alone."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low if codes.low == 0 else max(high, -low)) / codes.steps
    if scale < SMALLEST_NORMAL:
        return None
    return scale, round(-low / scale) if codes.low == 0 else 0


def code_of(x: float, scale: float, zero_point: int, codes: CodeRange) -> int:
    """round(x / scale) + zero_point, within the codes that there are."""
    return min(max(round(x / scale) + zero_point, codes.low), codes.high)


def value_of(code: int, scale: float, zero_point: int) -> float:
    """scale * (code - zero_point)."""
    return scale * (code - zero_point)
