"""Checks of a layer's weights and of the inputs that go with them."""

from __future__ import annotations

from typing import Any

from llmserving.quantization.arrays import Array, dtype_name, namespace, real_array, refuse_non_finite


def weight_matrix(name: str, weight: Any) -> Array:
    """`weight` if it is a finite matrix of floats [out, in]."""
    matrix = real_array(name, weight, "a matrix [out, in]")
    if len(matrix.shape) != 2:
        raise ValueError(f"{name} is a matrix [out, in], but got shape {tuple(matrix.shape)}")
    if dtype_name(matrix).startswith(("int", "uint")):
        raise TypeError(f"{name} is a matrix of floats [out, in], but got dtype {dtype_name(matrix)}")
    refuse_non_finite(name, "a matrix [out, in]", matrix)
    return matrix


def same_weights(one: Array, other: Array) -> None:
    """TypeError for weights of layers that share their inputs, but not the library."""
    if namespace(one) is not namespace(other):
        raise TypeError("weights are of numpy and of torch; give all of one library")


def layer_inputs(name: str, x: Any, columns: int) -> Array:
    """Inputs `x` [..., in] of a layer with that many, as [rows, in]."""
    inputs = real_array(name, x, "inputs [..., in]")
    if not inputs.shape or inputs.shape[-1] != columns:
        raise ValueError(f"{name} has shape {tuple(inputs.shape)}, but the weights take {columns} inputs")
    refuse_non_finite(name, "inputs [..., in]", inputs)
    return inputs.reshape(-1, columns)
