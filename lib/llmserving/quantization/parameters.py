"""Scales and zero-points that someone brings along: checked, and shaped so that they broadcast against the blocks."""

from __future__ import annotations

from typing import Any

from llmserving.quantization.arrays import Array, as_numpy, like, namespace, real_array, refuse_non_finite
from llmserving.quantization.blocks import Blocks, blocks_of
from llmserving.quantization.modes import CodeRange

ZERO_POINT = "the code of the value 0"


def checked_parameters(array: Array, scale: Any, zero_point: Any) -> tuple[Blocks, Array, Array]:
    """The blocks of `array`, and a scale and a zero-point for each, both float32 in the blocks' `scale_shape`.

    TypeError or ValueError for a scale that is not finite and above 0, a zero-point that is not whole, or a shape that
    does not fit.
    """
    meaning = "the step between two codes"
    given, given_zeros = real_array("scale", scale, meaning), real_array("zero_point", zero_point, ZERO_POINT)
    refuse_non_finite("scale", meaning, given)
    refuse_non_finite("zero_point", ZERO_POINT, given_zeros)
    steps, zeros = like(array, given), like(array, given_zeros)
    if bool((steps <= 0).any()):
        where = "" if bool((given <= 0).any()) else " in float32"
        raise ValueError(f"scale is {meaning} and must be above 0{where}; for a group of zeros any will do, such as 1")
    if bool((zeros != namespace(array).round(zeros)).any()):
        raise TypeError(
            "zero_point is the code of the value 0, a whole number; a float to add to values is another thing"
        )
    blocks = blocks_of(array.shape, steps.shape)
    if len(as_numpy(zeros).reshape(-1)) == 1:
        return blocks, steps.reshape(blocks.scale_shape), (zeros.reshape(-1)[0] + 0 * steps).reshape(blocks.scale_shape)
    if tuple(zeros.shape) != tuple(steps.shape):
        raise ValueError(
            f"zero_point has shape {tuple(zeros.shape)} and scale {tuple(steps.shape)}; give both the same"
        )
    return blocks, steps.reshape(blocks.scale_shape), zeros.reshape(blocks.scale_shape)


def refuse_zero_points_of_another_mode(zeros: Array, codes: CodeRange) -> None:
    """ValueError where a zero-point is none of the codes, or not 0 in a symmetric mode.

    Clipping it instead would leave a range without 0 with one code for all of its values.
    """
    allowed = (codes.low, codes.high) if codes.low == 0 else (0, 0)
    wrong = (zeros < allowed[0]) | (zeros > allowed[1])
    if bool(wrong.any()):
        found = as_numpy(zeros)[as_numpy(wrong, "bool")][0]
        if codes.low == 0:
            what, advice = (
                f"one of the codes, {codes.low} to {codes.high}",
                "extend the range to hold 0, and it will be",
            )
        else:
            what, advice = "0 in the symmetric modes", "write 0, or take mode 'asymmetric'"
        raise ValueError(f"zero_point is {what}, but got {found:g}; {advice}")
