"""What affine quantization is, element by element in plain Python: slow and obvious, for the tests and for reading.

Only `numpy.float32` is borrowed, for the precision that the fast version computes in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Float32 = np.float32


def scale_zero_point_slowly(values: Sequence[float], bits: int, mode: str) -> tuple[float, int]:
    """The scale and the zero-point of one group of ordinary values."""
    low = min(0.0, *(float(Float32(value)) for value in values))
    high = max(0.0, *(float(Float32(value)) for value in values))
    if mode == "asymmetric":
        scale = (Float32(high) - Float32(low)) / Float32(2**bits - 1)
        return float(scale), round(float(Float32(-low) / scale))
    steps = 2 ** (bits - 1) - 1 if mode == "symmetric" else (2**bits - 1) / 2
    return float(Float32(max(high, -low)) / Float32(steps)), 0


def quantize_slowly(values: Sequence[float], scale: float, zero_point: int, bits: int, mode: str) -> list[int]:
    """The codes of one group; Python's round() takes ties to the even integer, too."""
    low, high = {
        "asymmetric": (0, 2**bits - 1),
        "symmetric": (-(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1),
        "symmetric-full": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
    }[mode]
    codes = []
    for value in values:
        steps = Float32(value) * (Float32(1) / Float32(scale))
        code = round(float(steps)) + zero_point
        codes.append(min(max(code, low), high))
    return codes


def dequantize_slowly(codes: Sequence[int], scale: float, zero_point: int) -> list[float]:
    """The values of one group."""
    return [float(Float32(scale) * Float32(code - zero_point)) for code in codes]
