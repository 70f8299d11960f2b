"""SmoothQuant: moves what is hard to quantize out of the activations and into the weights, where it is easier.

A few input channels of a large model are a hundred times as large as the others. One 8-bit scale for all of an activation
tensor is then set by them, and the others fall on a few codes. Dividing channel j by s_j and multiplying the weights' column
j by it leaves every product as it was:

    s_j = max|x_j| ^ alpha / max|w_j| ^ (1 - alpha)

over the calibration's tokens and all weights that see that channel (G. Xiao et al., SmoothQuant, 2022, arXiv 2211.10438,
equation 4). alpha 0.5 shares the trouble equally, 1 gives all of it to the weights. The division costs nothing: the norm
before it has a gain for each channel, and gain / s is worked out once. It must happen there and nowhere else: what
divides the input once more, or multiplies weights without dividing, is another model. Only then is anything quantized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmserving.quantization.arrays import Array, is_number, like, namespace, real_array, refuse_non_finite
from llmserving.quantization.matrices import same_weights, weight_matrix

ALPHA = 0.5
SMALLEST_MAXIMUM = 1e-5  # a channel or a column of zeros needs no smoothing, and must not divide by 0


def smoothing_scale(activation_absmax: Any, weights: Sequence[Any], alpha: Any = ALPHA) -> Array:
    """s [in] for activations whose channels reach `activation_absmax` [in], and all weights [out, in] that see them.

    TypeError or ValueError for an alpha outside 0 to 1, a maximum below 0, or shapes that do not fit.
    """
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise ValueError(f"alpha is the share of the trouble that the weights take, from 0 to 1, but got {alpha!r}")
    if not isinstance(weights, Sequence) or not weights:
        raise TypeError("weights is a list of the matrices [out, in] that share these inputs, at least one")
    matrices = [weight_matrix("weights", weight) for weight in weights]
    for matrix in matrices:
        same_weights(matrices[0], matrix)
    meaning = "max |x| of each input channel, [in]"
    given = real_array("activation_absmax", activation_absmax, meaning)
    refuse_non_finite("activation_absmax", meaning, given)
    largest = like(matrices[0], given)
    for matrix in matrices:
        if tuple(largest.shape) != (matrix.shape[1],):
            raise ValueError(
                f"activation_absmax has shape {tuple(largest.shape)}, but weights {list(matrix.shape)} take "
                f"{matrix.shape[1]} inputs: one for each"
            )
    if bool((largest < 0).any()):
        raise ValueError("activation_absmax is max |x| and cannot be below 0; take the absolute value first")
    xp = namespace(largest)
    columns = column_absmax(matrices)
    scale = xp.clip(largest, SMALLEST_MAXIMUM, None) ** alpha / xp.clip(columns, SMALLEST_MAXIMUM, None) ** (1 - alpha)
    return xp.where((largest == 0) | (columns == 0), xp.ones_like(scale), scale)


def column_absmax(weights: Sequence[Array]) -> Array:
    """max |w| of each input channel over all weights [out, in], as [in]."""
    xp = namespace(weights[0])
    maxima = [xp.amax(xp.abs(weight), axis=0) for weight in weights]
    return xp.amax(xp.stack(maxima), axis=0)


def smooth_weight(weight: Any, scale: Any) -> Array:
    """The weights [out, in] that meet inputs divided by `scale` [in]."""
    matrix = weight_matrix("weight", weight)
    return matrix * _fitting(matrix, scale, matrix.shape[1], "inputs")


def smooth_producer(weight: Any, scale: Any) -> Array:
    """What makes those inputs, so that it makes them divided: a norm's gain [in], or a linear layer's rows [in, …]."""
    array = real_array("weight", weight, "a norm's gain [in] or a layer's weights [in, ...]")
    factor = _fitting(array, scale, array.shape[0] if array.shape else 0, "channels")
    return array / factor.reshape(-1, *[1] * (len(array.shape) - 1))


def _fitting(array: Array, scale: Any, wanted: int, what: str) -> Array:
    factor = like(array, scale)
    if tuple(factor.shape) != (wanted,):
        raise ValueError(f"scale has shape {tuple(factor.shape)}, but weight has {wanted} {what}: one for each")
    refuse_non_finite("scale", "what each channel is divided by", factor)
    if not bool((factor > 0).all()):
        raise ValueError("scale has an entry that is not above 0; nothing can be divided by it")
    return factor
