"""Floats of 8 and of 4 bits as grids of values: dense around 0 and sparse far out, where integers are evenly spaced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmserving.quantization.arrays import Array, cast, dtype_name, namespace, quiet, real_array, refuse_non_finite


@dataclass(frozen=True)
class FloatFormat:
    """One sign bit, then exponent and mantissa; values are mantissa * 2^(exponent - bias), the smallest ones denormal.

    `largest` is the largest finite value: what lies beyond is rounded to it, for a wrong number is better than the NaN
    or the infinity that a cast may give.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    largest: float

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def sign(self) -> int:
        """The code of the sign bit."""
        return 1 << (self.bits - 1)

    @property
    def largest_exponent(self) -> int:
        """The power of two of the largest value: 8 for E4M3, 2 for E2M1."""
        return math.frexp(self.largest)[1] - 1

    def value(self, code: int) -> float:
        """The value of one code; NaN for the codes beyond the largest, infinities among them."""
        magnitude = code & (self.sign - 1)
        field, mantissa = divmod(magnitude, 1 << self.mantissa_bits)
        if field:
            mantissa += 1 << self.mantissa_bits
        value = math.ldexp(mantissa, max(field, 1) - self.bias - self.mantissa_bits)
        return math.nan if value > self.largest else math.copysign(value, -1 if code & self.sign else 1)

    @property
    def values(self) -> list[float]:
        """Every finite value once, ascending."""
        return sorted({0.0, *(value for value in map(self.value, range(2 * self.sign)) if math.isfinite(value))})


E4M3 = FloatFormat("E4M3", exponent_bits=4, mantissa_bits=3, bias=7, largest=448)
E5M2 = FloatFormat("E5M2", exponent_bits=5, mantissa_bits=2, bias=15, largest=57344)
E2M1 = FloatFormat("E2M1", exponent_bits=2, mantissa_bits=1, bias=1, largest=6)
FLOAT_FORMATS = {float_format.name: float_format for float_format in (E4M3, E5M2, E2M1)}


def encode(x: Any, float_format: FloatFormat) -> Array:
    """The codes uint8 of the nearest values, one a byte in the shape of `x`; ties go to the even code, -0 stays -0."""
    values = real_array("x", x)
    xp = namespace(values)
    with quiet():
        values = cast(values, "float32")
    refuse_non_finite("x", "a tensor of numbers", values)
    magnitude = xp.clip(xp.abs(values), 0, float_format.largest)
    # From 2^e to 2^(e+1) values are 2^(e - mantissa bits) apart, and below the smallest normal one as far as above it.
    _, exponent = xp.frexp(xp.clip(magnitude, 2.0 ** (1 - float_format.bias), None))
    exponent = exponent - 1  # frexp's fractions start at 1/2
    steps = xp.round(xp.ldexp(magnitude, float_format.mantissa_bits - exponent))
    # A magnitude that is rounded up to 2^(e+1) carries into the exponent, as the codes are in order.
    code = (exponent + (float_format.bias - 1)) * (1 << float_format.mantissa_bits) + cast(steps, "int32")
    return cast(code + float_format.sign * cast(xp.signbit(values), "int32"), "uint8")


def decode(codes: Any, float_format: FloatFormat) -> Array:
    """The values of codes, float32 in their shape; TypeError or ValueError for what is no code of that format."""
    array = real_array("codes", codes, "a tensor of codes")
    if not dtype_name(array).startswith(("int", "uint")):
        raise TypeError(f"codes is a tensor of codes, which are integers, but got one of dtype {dtype_name(array)}")
    least, most = int(array.min()), int(array.max())
    if least < 0 or most >= 2 * float_format.sign:
        wrong = least if least < 0 else most
        raise ValueError(f"codes are 0 to {2 * float_format.sign - 1} in {float_format.name}, but got {wrong}")
    table = np.array([float_format.value(code) for code in range(2 * float_format.sign)], dtype=np.float32)
    xp = namespace(array)
    return xp.asarray(table, device=array.device)[cast(array, "int64")]


def nearest_slowly(value: float, float_format: FloatFormat) -> float:
    """The same for one number by looking at every value there is."""
    return min(
        (float_format.value(code) for code in range(float_format.sign) if math.isfinite(float_format.value(code))),
        key=lambda grid: (abs(grid - abs(value)), _code_of(grid, float_format) % 2),
    ) * math.copysign(1, value)


def _code_of(value: float, float_format: FloatFormat) -> int:
    return next(code for code in range(float_format.sign) if float_format.value(code) == value)
