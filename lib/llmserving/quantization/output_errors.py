"""What a changed weight matrix does to its layer's outputs on the calibration's inputs: the error that counts.

The unit is the mean over tokens and outputs of (x @ weight.T - x @ changed.T)^2, unless it says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.quantization.arrays import as_numpy
from llmserving.quantization.hessian import Hessian, error_root, silenced
from llmserving.quantization.matrices import layer_inputs, weight_matrix

Vector = np.ndarray[Any, np.dtype[np.float64]]

JUST_ENOUGH = 1e-8  # of the mean of the Hessian's diagonal: an inverse exists then, and no error is changed visibly


def output_error(weight: Any, changed: Any, hessian: Hessian) -> float:
    """The error of all outputs [out] together, from the Hessian alone: the inputs need not be kept."""
    change = _change(weight, changed)
    return _whole(change, _fitting(hessian, change))


def error_left_alone(weight: Any, changed: Any, hessian: Hessian) -> Vector:
    """The error when columns 0 to j are changed and those after are as they were, for each j: [in]."""
    change = _change(weight, changed)
    pairs = _fitting(hessian, change) * (change.T @ change)
    return np.asarray(pairs.cumsum(0).cumsum(1).diagonal() / 2 / len(change))


def error_made_up(weight: Any, changed: Any, hessian: Hessian) -> Vector:
    """The least error that columns 0 to j, changed, leave when those after are moved to make up for them, for each j: [in].

    Of the same Hessian as the other errors, so that the last entry is `output_error`, and no entry is above it. The dampened
    one that GPTQ goes by would not do: where a few inputs are large, what is added for them drowns all the others.
    """
    change = _change(weight, changed)
    matrix = _fitting(hessian, change)
    change[:, silenced(matrix)] = 0  # costs nothing, whatever it is
    parts = change @ error_root(matrix, JUST_ENOUGH, hessian.rows)
    return np.asarray(np.minimum(np.square(parts).sum(axis=0).cumsum() / 2 / len(change), _whole(change, matrix)))


def error_by_channel(weight: Any, changed: Any, inputs: Any) -> Vector:
    """What each input channel's own weights add, as if they alone were changed: mean x_j^2 times mean change^2, [in]."""
    change = _change(weight, changed)
    x = as_numpy(layer_inputs("inputs", inputs, change.shape[1]))
    return np.asarray(np.square(x).mean(axis=0) * np.square(change).mean(axis=0))


def _change(weight: Any, changed: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    before, after = as_numpy(weight_matrix("weight", weight)), as_numpy(weight_matrix("changed", changed))
    if before.shape != after.shape:
        raise ValueError(f"weight is {list(before.shape)} and changed {list(after.shape)}; give the same matrix twice")
    return np.asarray(before - after)


def _whole(change: Any, matrix: Any) -> float:
    return float(((change @ matrix) * change).sum() / 2 / len(change))


def _fitting(hessian: Hessian, change: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    if hessian.columns != change.shape[1]:
        raise ValueError(f"hessian is over {hessian.columns} inputs, but weight takes {change.shape[1]}")
    return hessian.matrix
