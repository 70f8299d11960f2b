"""Scales and zero-points: from the two ends of a range, and from a tensor's own values, one for each block of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.quantization.arrays import (
    Array,
    as_numpy,
    cast,
    dtype_name,
    like,
    namespace,
    quiet,
    real_array,
    refuse_non_finite,
    returned,
    view,
)
from llmserving.quantization.blocks import PIECE_ELEMENTS, blocks_of, scale_shape
from llmserving.quantization.modes import CodeRange, code_range

LARGEST = 3.4028234663852886e38  # of float32
SMALLEST_NORMAL = 2.0**-126
SHORT_GROUP = 256
SCALE_DTYPES = ("float32", "float16", "bfloat16")


def qparams(
    x: Any,
    bits: Any,
    mode: str = "asymmetric",
    *,
    axis: Any = None,
    group_size: Any = None,
    scale_dtype: str = "float32",
) -> tuple[Array, Array]:
    """The scales and zero-points that hold all values of `x`, as arrays of as many axes as `x`.

    Without axis and group_size one for the whole tensor, [1, 1]; with axis=0 one for each row, [rows, 1]; with
    group_size one for each group of neighbours in a row, [rows, columns / group_size].
    scale_dtype: what the scale is stored in; the zero-point is that of the stored scale. Half precision rounds a scale
    by up to 1 part in 2048 (bfloat16: 256), by which the ends of the range may lie further than half a step off.
    """
    codes = code_range(bits, mode)
    given = real_array("x", x)
    values = given if scale_dtype == "bfloat16" else view(given)  # numpy has no bfloat16 to store in
    shape = scale_shape(values.shape, axis, group_size)
    low, high = extremes(values, shape)
    for end in (low, high):
        if not bool(namespace(end).isfinite(end).all()):
            refuse_non_finite("x", "a tensor of numbers", values)
    scale, zero_point = scale_and_zero_point(low, high, codes, scale_dtype)
    return returned(scale, given), returned(zero_point, given)


def scale_and_zero_point(
    low: Array, high: Array, codes: CodeRange, scale_dtype: str = "float32"
) -> tuple[Array, Array]:
    """Scales in `scale_dtype` and int32 zero-points for ranges from `low` to `high`, float32 arrays of one shape.

    A range without 0 is extended to hold it: 0 must be a code, for padding and for what is pruned.
    """
    xp = namespace(low)
    low, high = xp.clip(low, None, 0), xp.clip(high, 0, None)
    with quiet():
        # absmax for the symmetric modes. high - low may be beyond float32 where the two are not.
        span = high - low if codes.low == 0 else xp.maximum(high, -low)
        scale = span / codes.steps
        if codes.low == 0:
            scale = xp.where(xp.isfinite(span), scale, high / codes.steps - low / codes.steps)
        scale = stored_scale(scale, span, codes.steps, scale_dtype)
        step = cast(scale, "float32")
        zero_point = xp.zeros_like(step)
        if codes.low == 0:
            zero_point = xp.clip(xp.round(-low / step), codes.low, codes.high)
    return scale, cast(zero_point, "int32")


def stored_scale(scale: Array, span: Array, steps: float, scale_dtype: str) -> Array:
    """The scale as it is stored: never 0, and never so much too small that codes run out.

    The floor is the smallest number there is and no epsilon: one that binds on ordinary scales costs accuracy.
    """
    if scale_dtype not in SCALE_DTYPES:
        raise ValueError(f"scale_dtype {scale_dtype!r} is not known; choose one of {', '.join(SCALE_DTYPES)}")
    xp = namespace(scale)
    stored = cast(scale, scale_dtype)
    if not bool(xp.isfinite(stored).all()):
        raise ValueError(f"scale_dtype {scale_dtype} cannot hold a scale of {as_numpy(scale).max():g}; take float32")
    finfo = xp.finfo(stored.dtype)
    smallest, normal = float(finfo.tiny) * float(finfo.eps), float(finfo.tiny)
    # Denormals are as far apart as the smallest is large: one that was rounded down would leave large values clipped.
    short = (stored < normal) & (cast(stored, "float32") * steps < span)
    stored = xp.where(short, stored + cast(like(stored, smallest), dtype_name(stored)), stored)
    # Zeros come back from any scale; this one is torchao's, and its reciprocal is still finite.
    return xp.where(span == 0, cast(like(stored, normal), dtype_name(stored)), xp.clip(stored, smallest, None))


def extremes(values: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The least and the greatest value of each block, float32 of `shape`."""
    xp = namespace(values)
    blocks = blocks_of(values.shape, shape)
    view = values.reshape(blocks.shape)
    with quiet():
        if xp is np and blocks.shared_axes == (1,) and view.shape[1] <= SHORT_GROUP:
            low, high = _extremes_of_short_groups(view)
        else:
            low = xp.amin(view, axis=blocks.shared_axes, keepdims=True)
            high = xp.amax(view, axis=blocks.shared_axes, keepdims=True)
        return cast(low, "float32").reshape(shape), cast(high, "float32").reshape(shape)


def _extremes_of_short_groups(view: Array) -> tuple[Array, Array]:
    """The same for groups [groups, group_size]: numpy is four times as fast down columns of 32 as along rows of 32."""
    low, high = np.empty(len(view), view.dtype), np.empty(len(view), view.dtype)
    rows = PIECE_ELEMENTS // view.shape[1]
    for start in range(0, len(view), rows):
        here = slice(start, start + rows)
        columns = np.ascontiguousarray(view[here].T)
        np.min(columns, axis=0, out=low[here])
        np.max(columns, axis=0, out=high[here])
    return low, high
