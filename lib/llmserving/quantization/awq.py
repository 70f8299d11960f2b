"""AWQ: scales up the weights of the inputs that are large, so that rounding hits them less, and the inputs down to match.

Of a weight w that meets an input x, what matters is the error of x * w. Multiplying the column by s and the input by 1 / s
changes nothing in exact arithmetic, and divides the column's rounding error by s, as long as the step of its group stays
about the same. Which columns: those with large inputs, by the mean |x| of the calibration and not by the weights. How much:
s = mean|x| ^ alpha, divided by sqrt(max s * min s), for the alpha of a grid from 0 (plain rounding to the nearest) to just
below 1 whose quantized layers give outputs nearest to the float ones. That is all that is searched: one number for all
layers that share their inputs, no Hessian and no gradient. The authors also search how far to clip weights (J. Lin et al.,
AWQ, 2023, arXiv 2306.00978, section 3.2 and its code); that is not done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmserving import arguments
from llmserving.quantization.arrays import Array, like, quiet, real_array, refuse_non_finite, returned, view
from llmserving.quantization.matrices import layer_inputs, same_weights, weight_matrix
from llmserving.quantization.quantized_tensor import QuantizedTensor, quantize_tensor

Floats = np.ndarray[Any, np.dtype[np.float32]]

GRID = 20  # values of alpha: 0, 1/20 … 19/20
SMALLEST_SCALE = 1e-4  # a channel that is never fed would be scaled by 0, and its weights lost
SEARCH_ROWS = 512  # of the calibration's inputs, on which the outputs are compared


@dataclass(frozen=True)
class AwqSearch:
    """What the search found. `scale` float32 [in]; `errors` maps each alpha to the mean squared error of the outputs."""

    scale: Array
    alpha: float
    errors: dict[float, float]


@dataclass(frozen=True, eq=False)
class AwqWeight:
    """`quantized` holds the codes of weight * scale. Whoever feeds it divides the input by `scale`, once.

    That division is folded into the operation before, where there is one that can take it: the gain of a norm, the rows
    of a linear layer. Where there is none, it is carried beside the weights.
    """

    quantized: QuantizedTensor
    scale: Array

    def dequantize(self) -> Array:
        """The weights [out, in] as they act on inputs that nobody has divided: the scale carried along."""
        return self.quantized.dequantize() / self.scale


def search_scale(
    weights: Sequence[Any],
    inputs: Any,
    bits: Any,
    mode: str = "asymmetric",
    *,
    group_size: Any = None,
    grid: Any = GRID,
) -> AwqSearch:
    """The scale of the inputs [..., in] that layers with these weights [out, in] share.

    One weight scale a row without group_size. ValueError for weights or inputs that do not fit each other.
    """
    grid = arguments.count("grid", "the number of values of alpha to try", grid)
    if not isinstance(weights, Sequence) or not weights:
        raise TypeError("weights is a list of the matrices [out, in] that share these inputs, at least one")
    matrices = [weight_matrix("weights", weight) for weight in weights]
    columns = matrices[0].shape[1]
    if any(matrix.shape[1] != columns for matrix in matrices):
        shapes = ", ".join(str(list(matrix.shape)) for matrix in matrices)
        raise ValueError(f"weights share their inputs, so all are [out, in] with the same in, but got {shapes}")
    for matrix in matrices:
        same_weights(matrices[0], matrix)
    x = np.asarray(view(layer_inputs("inputs", inputs, columns)), dtype=np.float32)
    stacked = np.concatenate([np.asarray(view(matrix), dtype=np.float32) for matrix in matrices])
    magnitude = channel_magnitude(x)
    some = x[:: max(1, len(x) // SEARCH_ROWS)][:SEARCH_ROWS]
    errors, scales = {}, {}
    for step in range(grid):
        alpha = step / grid
        with quiet():
            scales[alpha] = scale_for(magnitude, alpha)
            weight = AwqWeight(_rounded(stacked * scales[alpha], bits, mode, group_size), scales[alpha])
            # The change of the outputs is the inputs times the change of the weights: one matmul instead of two.
            errors[alpha] = float(np.square(some @ (weight.dequantize() - stacked).T).mean())
        if not np.isfinite(errors[alpha]):
            raise ValueError(
                f"inputs reach {np.abs(x).max():.3g}, and the outputs' square errors go beyond float32; divide inputs "
                "by a number: the scale that is found does not depend on it"
            )
    best = min(errors, key=lambda alpha: errors[alpha])
    return AwqSearch(returned(scales[best], matrices[0]), best, errors)


def channel_magnitude(inputs: Any) -> Array:
    """mean |x| of each input channel, float32 [in] of [rows, in]."""
    given = real_array("inputs", inputs, "inputs [rows, in]")
    if len(given.shape) != 2:
        raise ValueError(f"inputs is a matrix [rows, in], but got shape {tuple(given.shape)}")
    refuse_non_finite("inputs", "inputs [rows, in]", given)
    means: Floats = np.abs(np.asarray(view(given))).mean(axis=0, dtype=np.float64).astype(np.float32)
    return returned(means, given)


def scale_for(magnitude: Floats, alpha: float) -> Floats:
    """The scale of each input channel at one alpha, [in]: 1 for all of them at alpha 0, else centred about 1."""
    raised: Floats = np.maximum(magnitude, np.float32(SMALLEST_SCALE)) ** np.float32(alpha)
    raised /= np.sqrt(raised.max() * raised.min())
    return raised


def quantize_scaled(
    weight: Any,
    scale: Any,
    bits: Any,
    mode: str = "asymmetric",
    *,
    group_size: Any = None,
    scale_dtype: str = "float32",
) -> AwqWeight:
    """Codes for weight * scale, weights [out, in] and the scale [in] of its inputs, as `search_scale` gives it."""
    matrix = weight_matrix("weight", weight)
    factor = like(matrix, scale)
    if tuple(factor.shape) != (matrix.shape[1],):
        raise ValueError(
            f"scale has shape {tuple(factor.shape)}, but weight takes {matrix.shape[1]} inputs: one for each"
        )
    refuse_non_finite("scale", "what each input is divided by", factor)
    if not bool((factor > 0).all()):
        raise ValueError("scale has an entry that is not above 0; an input cannot be divided by it")
    return AwqWeight(_rounded(matrix * factor, bits, mode, group_size, scale_dtype), factor)


def _rounded(matrix: Array, bits: Any, mode: str, group_size: Any, scale_dtype: str = "float32") -> QuantizedTensor:
    axis = 0 if group_size is None else None
    return quantize_tensor(matrix, bits, mode, axis=axis, group_size=group_size, scale_dtype=scale_dtype)
