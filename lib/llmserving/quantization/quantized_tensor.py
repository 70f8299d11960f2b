"""A quantized tensor: codes with their scales and zero-points, and what they cost in bits and in error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from llmserving.quantization.affine import dequantize, quantize
from llmserving.quantization.arrays import Array, real_array, refuse_non_finite
from llmserving.quantization.errors import ErrorReport, report_of
from llmserving.quantization.modes import code_range
from llmserving.quantization.scales import qparams


@dataclass(frozen=True, eq=False)
class QuantizedTensor:
    """Codes in the tensor's own shape, one a byte; scale and zero_point of as many axes, one entry a block.

    [rows, columns] has scales [1, 1], [rows, 1], [1, columns] or [rows, columns / group_size].
    """

    codes: Array
    scale: Array
    zero_point: Array
    bits: int
    mode: str = "asymmetric"
    group_size: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.codes.shape)

    @property
    def storage_bits(self) -> int:
        """Bits of the codes without gaps, of the scales as they are, and in mode "asymmetric" of a code a zero-point."""
        blocks = math.prod(self.scale.shape)
        zero_point_bits = self.bits if self.mode == "asymmetric" else 0
        scale_bits = 8 * int(self.scale.itemsize)
        return int(math.prod(self.shape) * self.bits + blocks * (scale_bits + zero_point_bits))

    @property
    def bits_a_weight(self) -> float:
        """Bits of an element with its part of what its block shares: 4.156 at 4 bits, groups of 128, float16 scales."""
        return float(self.storage_bits / math.prod(self.shape))

    def dequantize(self) -> Array:
        """The values that the codes stand for, float32."""
        return dequantize(self.codes, self.scale, self.zero_point)

    def error_report(self, x: Any) -> ErrorReport:
        """How far `x`, the tensor that was quantized, is from what these codes stand for: GPTQ's need not be the nearest.

        ValueError for a tensor of another shape.
        """
        values = real_array("x", x)
        refuse_non_finite("x", "a tensor of numbers", values)
        if tuple(values.shape) != self.shape:
            raise ValueError(
                f"x has shape {tuple(values.shape)}, but {self.shape} was quantized; give the tensor that it was made from"
            )
        return report_of(values, self.dequantize(), self.scale, self.zero_point, code_range(self.bits, self.mode))


def quantize_tensor(
    x: Any,
    bits: Any,
    mode: str = "asymmetric",
    *,
    axis: Any = None,
    group_size: Any = None,
    scale_dtype: str = "float32",
) -> QuantizedTensor:
    """`x` with the scales that hold its own values: per tensor, for each index of `axis`, or a group of columns.

    See `qparams` for the shapes and `scale_zero_point` for the formulas.
    """
    values = real_array("x", x)
    scale, zero_point = qparams(values, bits, mode, axis=axis, group_size=group_size, scale_dtype=scale_dtype)
    codes = quantize(values, scale, zero_point, bits, mode)
    size = None if group_size is None else int(group_size)
    return QuantizedTensor(codes, scale, zero_point, int(bits), mode, size)
