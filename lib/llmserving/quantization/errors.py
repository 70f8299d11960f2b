"""How much quantization changes a tensor, against the half step that rounding alone may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from llmserving.quantization.affine import dequantize, quantize
from llmserving.quantization.arrays import Array, as_numpy, real_array
from llmserving.quantization.blocks import expand
from llmserving.quantization.modes import CodeRange, code_range
from llmserving.units import format_number

# x * (1 / scale) is off by a few units in the last place of float32, which at 255 steps is this part of a step.
ROUNDING = 1e-4


@dataclass(frozen=True)
class ErrorReport:
    """Errors |x - what comes back for it| in the unit of x.

    `half_step` is scale / 2, the largest where there are several. `clipped_share` is the share of values that lie more
    than half a step beyond the last code; `worst_in_half_steps` is the largest error over its own scale / 2: at most 1
    where nothing is clipped.
    """

    max_error: float
    mean_error: float
    clipped_share: float
    half_step: float
    worst_in_half_steps: float

    @property
    def within_half_step(self) -> bool:
        """Whether rounding is all that was lost."""
        return self.worst_in_half_steps <= 1 + ROUNDING

    def __str__(self) -> str:
        bound = "within" if self.within_half_step else f"{format_number(self.worst_in_half_steps)} times"
        return (
            f"max error {format_number(self.max_error)}, {bound} the half step of {format_number(self.half_step)}; "
            f"mean error {format_number(self.mean_error)}; {100 * self.clipped_share:.3g} % clipped"
        )


def error_report(x: Any, scale: Any, zero_point: Any, bits: Any, mode: str = "asymmetric") -> ErrorReport:
    """What `quantize` and `dequantize` with these arguments do to `x`; in double precision, so the report adds no error."""
    values = real_array("x", x)
    back = dequantize(quantize(values, scale, zero_point, bits, mode), scale, zero_point)
    return report_of(values, back, scale, zero_point, code_range(bits, mode))


def report_of(x: Array, back: Array, scale: Any, zero_point: Any, codes: CodeRange) -> ErrorReport:
    """The same where `back` came back for `x`, by whatever method its codes were chosen."""
    exact, back = as_numpy(x), as_numpy(back)
    steps = _beside(scale, exact.shape)
    ideal = exact / steps + _beside(zero_point, exact.shape)
    beyond = np.maximum(codes.low - ideal, ideal - codes.high)
    errors = np.abs(exact - back)
    return ErrorReport(
        max_error=float(errors.max()),
        mean_error=float(errors.mean()),
        clipped_share=float((beyond > 0.5 + ROUNDING).mean()),
        half_step=float(steps.max() / 2),
        worst_in_half_steps=float((errors / (steps / 2)).max()),
    )


def _beside(value: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A copy of a scale or zero-point beside each element."""
    array = as_numpy(value)
    return np.asarray(expand(array.reshape((1,) * len(shape)) if array.size == 1 else array, shape))
