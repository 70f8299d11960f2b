"""A weight matrix as a W4A16 checkpoint holds it: packed 4-bit codes, and for each group a 16-bit scale and a zero-point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from llmserving.quantization.affine import dequantize
from llmserving.quantization.arrays import Array, namespace, real_array
from llmserving.quantization.packing import PackedInt4, pack_int4
from llmserving.quantization.quantized_tensor import QuantizedTensor, quantize_tensor


@dataclass(frozen=True, eq=False)
class PackedWeight:
    """Weights [out, in] at 4 bits in groups of neighbours along `in`, the axis that a matmul sums over.

    codes: packed, unsigned. scale: float16 [out, groups]. zero_points: packed row by row, themselves codes and stored as
    they are: GPTQ's first checkpoints stored one less, and its 0 wrapped around to 15.
    """

    codes: PackedInt4
    scale: Array
    zero_points: PackedInt4

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.codes.shape
        return rows, columns

    @property
    def group_size(self) -> int:
        return self.shape[1] // int(self.scale.shape[1])

    @property
    def num_bytes(self) -> int:
        """Bytes of all three parts as they lie in memory."""
        parts = (self.codes.data, self.scale, self.zero_points.data)
        return sum(math.prod(part.shape) * int(part.itemsize) for part in parts)

    @property
    def bits_a_weight(self) -> float:
        """8 * bytes over weights: 4.156 in groups of 128."""
        return 8 * self.num_bytes / math.prod(self.shape)

    @property
    def zero_point(self) -> Array:
        """The zero-points, uint8 [out, groups]."""
        groups = math.prod(self.scale.shape)
        return self.zero_points.unpack()[:groups].reshape(self.scale.shape)

    def dequantize(self) -> Array:
        """The weights that the bytes stand for, float32 [out, in]."""
        return dequantize(self.codes.unpack(), self.scale, self.zero_point)


def pack_weight(weight: Any, group_size: Any = 128) -> PackedWeight:
    """Weights [out, in] rounded to the nearest of 16 values a group; ValueError where no whole groups fill `in`."""
    array = real_array("weight", weight, "a matrix [out, in]")
    if len(array.shape) != 2:
        raise ValueError(f"weight is a matrix [out, in], but got shape {tuple(array.shape)}")
    return pack_quantized(quantize_tensor(array, 4, group_size=group_size, scale_dtype="float16"))


def pack_quantized(quantized: QuantizedTensor) -> PackedWeight:
    """The same for codes that another method chose, with their float16 scales [out, groups]."""
    if quantized.bits != 4 or quantized.mode != "asymmetric":
        raise ValueError(f"4-bit asymmetric codes are packed here, but got {quantized.bits} bits, {quantized.mode}")
    if quantized.scale.itemsize != 2:
        raise ValueError(
            "packed weights keep 16-bit scales; quantize with scale_dtype='float16', so that they are exact"
        )
    xp = namespace(quantized.codes)
    zero_points = xp.asarray(quantized.zero_point, dtype=xp.uint8).reshape(-1)
    if len(zero_points) % 2:  # half a byte is left over at the end of the matrix
        zero_points = xp.concatenate([zero_points, xp.zeros_like(zero_points[:1])])
    return PackedWeight(pack_int4(quantized.codes), quantized.scale, pack_int4(zero_points))
