"""Affine quantization: value = scale * (code - zero_point), with the scale and the zero-point from a range of values.

A code is round(x / scale) + zero_point, ties to the even integer, clipped to the codes there are before it becomes an
integer. Within the range, what comes back is off by at most scale / 2.
Arrays are worked on in float32, and x / scale is computed as x * (1 / scale), as torchao and torch's fake quantizers do: bit
for bit theirs. Where all arguments are numbers, Python's double precision gives what the formulas give by hand. The two may
differ where a quotient is next to a tie: of -1 to 1 at 4 bits, 1 / scale is 7.5 by hand, and the zero-point 8; in float32
it comes out below, and the zero-point is 7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving import arguments
from llmserving.quantization.arrays import (
    dtype_name,
    is_number,
    is_tensor,
    like,
    namespace,
    plain,
    quiet,
    real_array,
    refuse_non_finite,
    returned,
    view,
)
from llmserving.quantization.blocks import PIECE_ELEMENTS
from llmserving.quantization.modes import code_range
from llmserving.quantization.parameters import checked_parameters, refuse_zero_points_of_another_mode
from llmserving.quantization.plain_numbers import are_plain, code_of, parameters_of_range, value_of
from llmserving.quantization.scales import LARGEST, SMALLEST_NORMAL, scale_and_zero_point


def scale_zero_point(r_min: Any, r_max: Any, bits: Any, mode: str = "asymmetric") -> tuple[Any, Any]:
    """The scale and the zero-point for values from `r_min` to `r_max`, numbers or arrays of one shape.

    asymmetric: scale = (r_max - r_min) / (2^b - 1), zero-point = round(-r_min / scale), the range extended to hold 0
    first. symmetric: scale = absmax / (2^(b-1) - 1). symmetric-full: scale = absmax / ((2^b - 1) / 2). The last two have
    zero-point 0. The scale is never 0. Of two numbers, all in double precision and as by hand; of arrays in float32.
    TypeError or ValueError for a range that is none.
    """
    codes = code_range(bits, mode)
    scalar = is_number(r_min) and is_number(r_max)
    meaning = "an end of the range of values"
    first = real_array("r_min", r_min, meaning)
    second = real_array("r_max", r_max, meaning)
    model = second if is_tensor(second) else first
    refuse_non_finite("r_min", meaning, first)
    refuse_non_finite("r_max", meaning, second)
    low, high = like(model, first), like(model, second)
    if tuple(low.shape) != tuple(high.shape):
        raise ValueError(f"r_min has shape {tuple(low.shape)} and r_max {tuple(high.shape)}; give both the same")
    if bool((low > high).any()):
        raise ValueError(f"r_min {arguments.shown(r_min)} is above r_max {arguments.shown(r_max)}; swap the two")
    if are_plain(r_min, r_max) and (exact := parameters_of_range(float(r_min), float(r_max), codes)):
        return exact
    scale, zero_point = scale_and_zero_point(low, high, codes)
    return plain(scale, float, scalar=scalar), plain(zero_point, int, scalar=scalar)


def quantize(x: Any, scale: Any, zero_point: Any, bits: Any, mode: str = "asymmetric") -> Any:
    """The codes of `x`: uint8 in mode "asymmetric", int8 in the symmetric ones, one a byte, in the shape of `x`.

    scale, zero_point: one number for all of `x`, or arrays of as many axes as `x` whose lengths divide its own ([rows, 1]
    one a row, [rows, columns / group_size] one a group). TypeError or ValueError for what is not finite, does not fit,
    or is no scale or zero-point of that mode. Three numbers are divided in double precision, as by hand.
    """
    codes = code_range(bits, mode)
    given = real_array("x", x)
    values = view(given)
    blocks, steps, zeros = checked_parameters(values, scale, zero_point)
    refuse_zero_points_of_another_mode(zeros, codes)
    if are_plain(x, scale, zero_point):
        refuse_non_finite("x", "a number", given)
        return code_of(float(x), float(scale), int(zero_point), codes)
    xp = namespace(values)
    # The reciprocal of a denormal scale is beyond float32; in such a block, values and scale are magnified alike first.
    tiny = steps < SMALLEST_NORMAL
    magnify = xp.where(tiny, 2.0**64 + 0 * steps, 1 + 0 * steps) if bool(tiny.any()) else None
    factor = 1 / (steps if magnify is None else steps * magnify)
    shift = bool((zeros != 0).any())
    out = xp.empty(blocks.shape, dtype=getattr(xp, codes.dtype), device=values.device)
    values = values.reshape(blocks.shape)
    with quiet():
        for index, scale_index in blocks.pieces(_room(values)):
            piece = _float32(values[index])
            _refuse_non_finite(piece, x)
            work = xp.empty_like(piece)
            if magnify is not None:
                piece = piece * magnify[scale_index]
            xp.multiply(piece, factor[scale_index], out=work)
            xp.round(work, out=work)
            if shift:
                work += zeros[scale_index]
            xp.clip(work, codes.low, codes.high, out=work)
            out[index] = work
    return plain(returned(out.reshape(tuple(given.shape)), given), int, scalar=is_number(x))


def dequantize(q: Any, scale: Any, zero_point: Any) -> Any:
    """The values that the codes `q` stand for, scale * (q - zero_point): float32 in the shape of `q`, or of numbers a float."""
    given = real_array("q", q, "a tensor of codes")
    codes = view(given)
    if not dtype_name(codes).startswith(("int", "uint")):
        raise TypeError(f"q is a tensor of codes, which are integers, but got one of dtype {dtype_name(codes)}")
    blocks, steps, zeros = checked_parameters(codes, scale, zero_point)
    if are_plain(q, scale, zero_point):
        return value_of(int(q), float(scale), int(zero_point))
    xp = namespace(codes)
    shift = bool((zeros != 0).any())
    # Next to the largest float32, a code may stand for a value beyond it: then the largest comes back.
    saturate = bool((steps > LARGEST / 512).any())
    out = xp.empty(blocks.shape, dtype=xp.float32, device=codes.device)
    codes = codes.reshape(blocks.shape)
    with quiet():
        for index, scale_index in blocks.pieces(_room(codes)):
            work = out[index]
            work[...] = codes[index]
            if shift:
                work -= zeros[scale_index]
            work *= steps[scale_index]
            if saturate:
                xp.clip(work, -LARGEST, LARGEST, out=work)
    return plain(returned(out.reshape(tuple(given.shape)), given), float, scalar=is_number(q))


def _room(array: Any) -> int:
    """Elements of a piece; an accelerator would rather have everything at once."""
    return PIECE_ELEMENTS if str(array.device) == "cpu" else 2**40


def _float32(piece: Any) -> Any:
    xp = namespace(piece)
    return xp.asarray(piece, dtype=xp.float32)


def _refuse_non_finite(piece: Any, x: Any) -> None:
    # A sum is one quick pass and is finite only where every element is; where it is not, a look at each decides.
    total = piece.sum()
    if not np.isfinite(float(total)):
        refuse_non_finite("x", "a tensor of numbers", real_array("x", x))
