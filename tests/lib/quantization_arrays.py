"""Both libraries that a tensor may come from, for tests that hold for either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

both = pytest.mark.parametrize("library", ["numpy", "torch"])


def array(library: str, values: Any) -> Any:
    """`values` as a float32 array of that library."""
    data = np.asarray(values, dtype=np.float32)
    return data if library == "numpy" else torch.from_numpy(data.copy())


def numbers(values: Any) -> np.ndarray[Any, Any]:
    """An array of either library for numpy to look at, in double precision."""
    return np.asarray(values.numpy() if isinstance(values, torch.Tensor) else values, dtype=np.float64)


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
