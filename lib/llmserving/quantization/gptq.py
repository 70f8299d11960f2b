"""GPTQ: rounds a weight matrix column by column, and lets the columns to come make up for what each rounding broke.

Rounding to the nearest asks how far a weight moves. GPTQ asks how far the outputs move on inputs that were seen, x @ w.T
for the calibration's x, which the Hessian H = 2 X^T X / N knows. When column j is rounded, moving the columns k that are
still free by -error_j / [H^-1]_jj * [H^-1]_jk costs least; H is of those columns alone. All the inverses that this needs are in
one triangular matrix, the Cholesky factor of H^-1 (E. Frantar et al., GPTQ, 2022, arXiv 2210.17323, algorithm 1), so that
`gptq_specification.py`, which works them out one by one, finds the same codes.

The arithmetic is numpy's, also where tensors are torch's: no library is needed, and an accelerator is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from llmserving.quantization.arrays import as_numpy, returned, view
from llmserving.quantization.hessian import DAMP, Hessian, inverse_root, refuse_unsymmetric, silenced
from llmserving.quantization.matrices import weight_matrix
from llmserving.quantization.modes import CodeRange, code_range
from llmserving.quantization.quantized_tensor import QuantizedTensor
from llmserving.quantization.scales import SMALLEST_NORMAL, qparams

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]

BLOCK_COLUMNS = 32  # columns whose effect on all later ones is worked out in one matmul


def quantize_gptq(
    weight: Any,
    hessian: Hessian | Any,
    bits: Any,
    mode: str = "asymmetric",
    *,
    group_size: Any = None,
    act_order: bool = False,
    damp: Any = DAMP,
    scale_dtype: str = "float32",
) -> QuantizedTensor:
    """Codes for `weight` [out, in] whose outputs, on the calibration's inputs, are near those of the weights.

    hessian: a `Hessian` over the same inputs, or such a matrix [in, in]. Without group_size, one scale a row. damp: what is
    added to the Hessian's diagonal, as a share of its mean; what keeps too little calibration from being believed.
    act_order: the columns with the largest inputs first, while there are many left to make up for them; scales then come
    from the weights as they were, and not from what is left when their group is reached, so that a group stays what it
    is without: neighbours in a row. Columns that were never fed, whose inputs were all 0, come back as 0.
    Nearer than by plain rounding is the rule and no promise: each column is rounded for good, without a look at how the
    next ones will be, and a weight that was moved beyond the last code of its fixed range is clipped. With a few columns
    that depend much on each other, plain rounding may do better.
    ValueError for what does not fit, and where H has no inverse for want of `damp`.
    """
    if scale_dtype == "bfloat16":
        raise ValueError("GPTQ's arithmetic is numpy's, which has no bfloat16; take scale_dtype 'float16' or 'float32'")
    matrix = weight_matrix("weight", weight)
    codes = code_range(bits, mode)
    columns = matrix.shape[1]
    values = np.array(view(matrix), dtype="float64" if str(matrix.dtype).endswith("float64") else "float32")
    known, rows = (hessian.matrix, hessian.rows) if isinstance(hessian, Hessian) else (as_numpy(hessian), None)
    if known.shape != (columns, columns):
        raise ValueError(
            f"hessian is over {known.shape[0] if known.ndim else 0} inputs, but weight {list(matrix.shape)} takes "
            f"{columns}; collect it from the inputs of this matrix"
        )
    refuse_unsymmetric(known)
    values[:, silenced(known)] = 0
    order = np.argsort(-np.diag(known), kind="stable") if act_order else np.arange(columns)
    factor = inverse_root(known[np.ix_(order, order)], damp, rows).astype(values.dtype)
    # The arguments of scales are checked here, once; a group's own are found when its first column is reached.
    scale, zero_point = _qparams(values, bits, mode, group_size, scale_dtype)
    size = columns if group_size is None else int(group_size)
    # Rows are contiguous memory, so columns are worked on as rows of the transpose.
    free = np.ascontiguousarray(values[:, order].T)
    rounding = _Rounding(free, codes, size, order, scale, zero_point)
    block = size * max(1, BLOCK_COLUMNS // size)  # whole groups, so that a group's scale sees all that was made up
    chosen = np.empty(free.shape, dtype=codes.dtype)
    for start in range(0, columns, block):
        stop = min(start + block, columns)
        errors = np.empty((stop - start, len(values)), dtype=values.dtype)
        for column in range(start, stop):
            if group_size is not None and not act_order and column % size == 0:
                group = free[column : column + size].T
                scale[:, [column // size]], zero_point[:, [column // size]] = _qparams(
                    group, bits, mode, None, scale_dtype
                )
            chosen[column], back = rounding.of(column)
            error = (free[column] - back) / factor[column, column]
            free[column + 1 : stop] -= np.outer(factor[column, column + 1 : stop], error)
            errors[column - start] = error
        free[stop:] -= factor[start:stop, stop:].T @ errors
    restored = np.empty_like(values, dtype=codes.dtype)
    restored[:, order] = chosen.T
    restored, scale, zero_point = (returned(part, matrix) for part in (restored, scale, zero_point))
    return QuantizedTensor(restored, scale, zero_point, int(bits), mode, None if group_size is None else size)


@dataclass(frozen=True)
class _Rounding:
    """Rounds one column, to the codes of the group that it belongs to in the matrix as it came."""

    free: Floats
    codes: CodeRange
    size: int
    order: Any
    scale: Floats
    zero_point: Any

    def of(self, column: int) -> tuple[Any, Floats]:
        """Codes [out] of that column, and the values that they stand for."""
        group = self.order[column] // self.size
        step, zero = self.scale[:, group].astype(np.float32), self.zero_point[:, group]
        # As affine.py has it, but for scales of denormals: where 1 / scale is beyond float32, the weights are 0 anyhow.
        values = self.free[column].astype(np.float32)
        code = np.round(values * (1 / np.maximum(step, np.float32(SMALLEST_NORMAL)))) + zero
        code = np.clip(code, self.codes.low, self.codes.high)
        return code.astype(self.codes.dtype), (step * (code - zero)).astype(self.free.dtype)


def _qparams(values: Floats, bits: Any, mode: str, group_size: Any, scale_dtype: str) -> tuple[Any, Any]:
    axis = 0 if group_size is None else None
    return qparams(values, bits, mode, axis=axis, group_size=group_size, scale_dtype=scale_dtype)
