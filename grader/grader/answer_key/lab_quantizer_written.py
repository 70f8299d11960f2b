"""The functions of an affine quantizer, right and wrong, as learners write them. Each stands for itself: no helper, no import."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# An array has no type that a cell knows without an import.

from __future__ import annotations


def step_and_zero(low: float, high: float, bits: int) -> tuple[float, int]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (2**bits - 1)
    return scale, round(-low / scale)


def from_the_top(low: float, high: float, bits: int) -> list[float]:
    last = (1 << bits) - 1
    if low > 0:
        low = 0.0
    elif high < 0:
        high = 0.0
    step = high / last - low / last
    return [step, last - round(high / step)]


def levels_for_gaps(low: float, high: float, bits: int) -> tuple[float, int]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / 2**bits
    return scale, round(-low / scale)


def sign_of_zero_point(low: float, high: float, bits: int) -> tuple[float, int]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (2**bits - 1)
    return scale, round(low / scale)


def zero_point_not_rounded(low: float, high: float, bits: int) -> tuple[float, float]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (2**bits - 1)
    return scale, -low / scale


def zero_point_cut(low: float, high: float, bits: int) -> tuple[float, int]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (2**bits - 1)
    return scale, int(-low / scale)


def range_as_it_is(low: float, high: float, bits: int) -> tuple[float, int]:
    scale = (high - low) / (2**bits - 1)
    return scale, round(-low / scale)


def symmetric(low: float, high: float, bits: int) -> tuple[float, int]:
    return max(abs(low), abs(high)) / (2 ** (bits - 1) - 1), 0


def upside_down(low: float, high: float, bits: int) -> tuple[float, int]:
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (2**bits - 1) / (high - low)
    return scale, round(-low * scale)


def to_codes(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).round() + zero_point).clip(0, 2**bits - 1)


def one_by_one(x, scale: float, zero_point: int, bits: int) -> list[int]:
    codes = []
    for value in x:
        code = round(float(value) / scale) + zero_point
        codes.append(max(0, min(code, 2**bits - 1)))
    return codes


def not_clipped(x, scale: float, zero_point: int, bits: int):
    return (x / scale).round() + zero_point


def wrapped(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).round() + zero_point) % 2**bits


def toward_zero(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).astype(int) + zero_point).clip(0, 2**bits - 1)


def rounded_down(x, scale: float, zero_point: int, bits: int):
    return (x // scale + zero_point).clip(0, 2**bits - 1)


def zero_point_taken_off(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).round() - zero_point).clip(0, 2**bits - 1)


def clipped_too_early(x, scale: float, zero_point: int, bits: int):
    return (x / scale).round().clip(0, 2**bits - 1) + zero_point


def signed_codes(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).round() + zero_point).clip(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def one_code_too_many(x, scale: float, zero_point: int, bits: int):
    return ((x / scale).round() + zero_point).clip(0, 2**bits)


def to_values(codes, scale: float, zero_point: int):
    return scale * (codes - zero_point)


def value_by_value(codes, scale: float, zero_point: int) -> list[float]:
    return [float(code) * scale - zero_point * scale for code in codes]


def zero_point_added(codes, scale: float, zero_point: int):
    return scale * (codes + zero_point)


def zero_point_forgotten(codes, scale: float, zero_point: int):
    return scale * codes


def scaled_too_early(codes, scale: float, zero_point: int):
    return scale * codes - zero_point


def divided(codes, scale: float, zero_point: int):
    return (codes - zero_point) / scale
