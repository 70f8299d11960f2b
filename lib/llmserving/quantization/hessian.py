"""What a layer's inputs say of its weights: the Hessian 2 X^T X / N of the squared error of its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving import arguments
from llmserving.quantization.arrays import as_numpy, is_number, quiet, real_array, refuse_non_finite

Matrix = np.ndarray[Any, np.dtype[np.float64]]

DAMP = 0.01  # of the mean of the diagonal, as in the authors' code
SYMMETRIC = 1e-5  # of the largest entry: a Hessian that was summed in float32 is symmetric to about 1e-7


class Hessian:
    """The mean of 2 x^T x over the inputs x [in] of a layer, taken in batch by batch. All its outputs have the same one."""

    def __init__(self, columns: Any) -> None:
        self.columns = arguments.count("columns", "the number of inputs of the layer", columns)
        self.rows = 0
        self._sum: Matrix = np.zeros((self.columns, self.columns))

    def add(self, x: Any) -> None:
        """Take in inputs [..., in]. ValueError for another width and for what is not finite."""
        given = real_array("x", x, "inputs [..., in]")
        if not given.shape or given.shape[-1] != self.columns:
            raise ValueError(f"x has shape {tuple(given.shape)}, but this layer takes {self.columns} inputs")
        refuse_non_finite("x", "inputs [..., in]", given)
        batch = as_numpy(given).reshape(-1, self.columns)
        self._sum += batch.T @ batch
        self.rows += len(batch)

    @property
    def matrix(self) -> Matrix:
        """2 X^T X / N, float64 [in, in]."""
        if not self.rows:
            raise ValueError("this Hessian has seen no inputs; add() some of the calibration's")
        return 2 * self._sum / self.rows


def silenced(hessian: Matrix) -> Any:
    """Which inputs were 0 in all of the calibration, [in]: nothing is known of what their weights do."""
    return np.diag(hessian) == 0


def refuse_unsymmetric(hessian: Matrix) -> None:
    """ValueError where H is not its own transpose, but for rounding: only one of its halves would be looked at."""
    with quiet():
        apart = np.abs(hessian - hessian.T)
    if apart.max() > SYMMETRIC * np.abs(hessian).max():
        i, j = (int(place) for place in np.unravel_index(apart.argmax(), apart.shape))
        raise ValueError(
            f"hessian is 2 X^T X / N of the inputs and symmetric, but row {i}, column {j} is {hessian[i, j]:g} and "
            f"row {j}, column {i} is {hessian[j, i]:g}"
        )


def checked_damp(damp: Any) -> float:
    """`damp` if it is at least 0."""
    meaning = "a share of the mean of the Hessian's diagonal"
    if is_number(damp) and damp < 0:
        raise ValueError(f"damp is {meaning} and must be at least 0, but got {arguments.shown(damp)}")
    return 0.0 if is_number(damp) and damp == 0 else arguments.amount("damp", meaning, damp)


def error_root(hessian: Matrix, damp: Any = DAMP, rows: int | None = None) -> Matrix:
    """The upper triangular R with R R^T = H, dampened, float64 [in, in]: a change d of a row of weights costs |d R|^2 / 2.

    Element j of d R depends on the columns of d up to j alone, and those after j can make it 0: its square is what an error
    in column j costs once the columns after it have made up for what they can. Inputs that were never fed have a 1 on the
    diagonal, and nothing beside it. ValueError where H, with `damp` times the mean of its diagonal added to it, is not
    positive definite.
    """
    damp = checked_damp(damp)
    refuse_non_finite("hessian", "2 X^T X / N of the inputs", hessian)
    dead = silenced(hessian)
    dampened = np.array(hessian)
    if not dead.all():
        dampened[np.diag_indices_from(dampened)] += damp * np.diag(hessian)[~dead].mean()
    dampened[dead, :], dampened[:, dead] = 0, 0
    dampened[dead, dead] = 1
    try:
        # Cholesky's factor is lower; of the matrix turned about, and itself turned about, it is upper.
        root = np.asarray(np.linalg.cholesky(dampened[::-1, ::-1])[::-1, ::-1], dtype=np.float64)
        # Too little text leaves directions in which only the rounding of sums is above 0.
        if np.square(np.diag(root)).min() < len(root) * np.finfo(float).eps * np.diag(dampened).max():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        seen = "" if rows is None else f" ({rows:,} rows of calibration for {len(hessian):,} columns)"
        raise ValueError(
            f"the Hessian is not positive definite at damp {damp:g}{seen}; calibrate with more text, or raise damp: "
            "0.01 is usual"
        ) from None
    return root


def inverse_root(hessian: Matrix, damp: Any = DAMP, rows: int | None = None) -> Matrix:
    """The upper triangular U = R^-1 with H^-1 = U^T U: row j over its diagonal is how later columns make up for column j."""
    return np.ascontiguousarray(np.linalg.inv(error_root(hessian, damp, rows)))
