"""What GPTQ is, column by column with every inverse worked out anew: slow and obvious, for the tests and for reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.quantization.affine import dequantize, quantize
from llmserving.quantization.scales import qparams

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def gptq_slowly(
    weight: Matrix, hessian: Matrix, bits: int, mode: str = "asymmetric", *, group_size: int | None = None,
    act_order: bool = False, damp: float = 0.01,
) -> Any:  # fmt: skip
    """The codes [out, in] of quantize_gptq(), for weights and a Hessian in float64."""
    weight = np.array(weight)
    live = np.diag(hessian) > 0
    weight[:, ~live] = 0
    hessian = np.array(hessian)
    hessian += damp * np.diag(hessian)[live].mean() * np.eye(len(hessian))
    size = group_size or len(hessian)
    original = weight.copy()
    scales: dict[int, Any] = {}
    codes = np.zeros(weight.shape, dtype=int)
    todo = list(range(len(hessian)))
    if act_order:
        todo.sort(key=lambda column: -hessian[column, column])
    while todo:
        column, *rest = todo
        group = column // size
        if group not in scales:
            whole = original if act_order or group_size is None else weight
            scales[group] = qparams(whole[:, group * size : (group + 1) * size], bits, mode, axis=0)
        here = weight[:, [column]]
        scale, zero_point = scales[group]
        codes[:, [column]] = quantize(here, scale, zero_point, bits, mode)
        error = here - dequantize(codes[:, [column]], scale, zero_point)
        # The columns that are still free, this one first, have a Hessian of their own.
        inverse = np.linalg.inv(hessian[np.ix_(todo, todo)])
        weight[:, rest] -= error @ inverse[[0], 1:] / inverse[0, 0]
        todo = rest
    return codes
