"""A scheme made of a function of one's own, so that a model can be tried under a quantizer written in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class RoundTrip:
    """function(weight, bits, group_size) gets a NumPy matrix [out, in] and returns what comes back for it.

    Kept by the function itself: one that is defined anew is asked anew.
    """

    function: Callable[..., Any]
    bits: int
    group_size: int | None = None

    def __call__(self, weight: Tensor) -> Tensor:
        back = self.function(weight.cpu().numpy().copy(), self.bits, self.group_size)
        return torch.tensor(np.asarray(back, dtype=np.float32), device=weight.device)
