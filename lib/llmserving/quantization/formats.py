"""FP8 and FP4 with scales for blocks of elements, and the rule that gives the scale.

fp8_e4m3, fp8_e5m2  absmax rule: scale = absmax / largest, a float32, so that the largest value meets the largest code
mxfp4               power-of-two rule: scale = 2^(floor(log2 absmax) - 2) in 8 bits for 32 elements (OCP Microscaling
                    v1.0); a block whose absmax is more than 6 / 4 of a power of two is clipped at 6 scales
nvfp4               absmax rule in two levels: for 16 elements absmax / 6, stored as E4M3 in units of a float32 for the
                    whole tensor
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.quantization.arrays import Array, cast, like, namespace, quiet, real_array, refuse_non_finite
from llmserving.quantization.blocks import blocks_of, scale_shape
from llmserving.quantization.float_formats import E2M1, E4M3, E5M2, FloatFormat, decode, encode
from llmserving.quantization.scales import extremes, stored_scale


@dataclass(frozen=True)
class BlockFormat:
    """Elements of a small float format under shared scales of `scale_bits` bits; `block_size` is None where it is free."""

    element: FloatFormat
    scale_rule: str
    scale_bits: int
    block_size: int | None = None


BLOCK_FORMATS = {
    "fp8_e4m3": BlockFormat(E4M3, "absmax", 32),
    "fp8_e5m2": BlockFormat(E5M2, "absmax", 32),
    "mxfp4": BlockFormat(E2M1, "power-of-two", 8, 32),
    "nvfp4": BlockFormat(E2M1, "absmax in two levels", 8, 16),
}
LEAST_E8M0, MOST_E8M0 = -127, 127


@dataclass(frozen=True, eq=False)
class FloatTensor:
    """Codes uint8, one a byte in the tensor's shape, and the scale of each block: value = scale * grid value."""

    codes: Array
    scale: Array
    format: str

    @property
    def bits_a_weight(self) -> float:
        """Bits of an element with its part of the scale: 4.25 for mxfp4, 4.5 for nvfp4."""
        kind = BLOCK_FORMATS[self.format]
        blocks, elements = math.prod(self.scale.shape), math.prod(self.codes.shape)
        return float(kind.element.bits + kind.scale_bits * blocks / elements)

    def dequantize(self) -> Array:
        """The values that the codes stand for, float32."""
        blocks = blocks_of(self.codes.shape, self.scale.shape)
        grid = decode(self.codes, BLOCK_FORMATS[self.format].element).reshape(blocks.shape)
        return (grid * self.scale.reshape(blocks.scale_shape)).reshape(self.codes.shape)


def quantize_float(x: Any, block_format: str, *, axis: Any = None, group_size: Any = None) -> FloatTensor:
    """`x` in one of BLOCK_FORMATS; FP8 has one scale a tensor, an index of `axis`, or a group of columns, as you choose.

    TypeError or ValueError for what is not finite, a format that is not known, or columns that no block divides.
    """
    if arguments.text("block_format", block_format) not in BLOCK_FORMATS:
        raise ValueError(
            f"block_format {arguments.shown(block_format)} is not known; choose one of {', '.join(BLOCK_FORMATS)}"
        )
    kind = BLOCK_FORMATS[block_format]
    if kind.block_size is not None and (axis is not None or group_size is not None):
        raise ValueError(
            f"{block_format} always scales {kind.block_size} elements together; leave axis and group_size out"
        )
    values = real_array("x", x)
    if kind.block_size is not None and (not values.shape or values.shape[-1] % kind.block_size):
        found = f"x has {values.shape[-1]} columns" if values.shape else "x is a number alone"
        raise ValueError(f"{block_format} scales {kind.block_size} elements of a row together, but {found}")
    shape = scale_shape(values.shape, axis, kind.block_size or group_size)
    low, high = extremes(values, shape)
    absmax = namespace(low).maximum(high, -low)
    if not bool(namespace(low).isfinite(absmax).all()):
        refuse_non_finite("x", "a tensor of numbers", values)
    with quiet():
        scale = _scale(absmax, kind)
        blocks = blocks_of(values.shape, shape)
        steps = cast(values, "float32").reshape(blocks.shape) / scale.reshape(blocks.scale_shape)
    return FloatTensor(encode(steps.reshape(values.shape), kind.element), scale, block_format)


def _scale(absmax: Array, kind: BlockFormat) -> Array:
    """float32 scales above 0 for blocks of that absmax, by the format's rule."""
    xp = namespace(absmax)
    if kind.scale_rule == "absmax":
        return stored_scale(absmax / kind.element.largest, absmax, kind.element.largest, "float32")
    if kind.scale_rule == "power-of-two":
        _, exponent = xp.frexp(absmax)
        exponent = xp.clip(exponent - 1 - kind.element.largest_exponent, LEAST_E8M0, MOST_E8M0)
        exponent = xp.where(absmax == 0, xp.zeros_like(exponent) + LEAST_E8M0, exponent)
        return xp.ldexp(xp.ones_like(absmax), exponent)
    whole = absmax.max() / (E4M3.largest * kind.element.largest)
    whole = stored_scale(like(absmax, whole), absmax.max(), E4M3.largest * kind.element.largest, "float32")
    # E4M3's smallest normal value, as torchao has it: a scale of 0 would lose a small block altogether.
    in_units = xp.clip(absmax / kind.element.largest / whole, 2.0**-6, E4M3.largest)
    return decode(encode(in_units, E4M3), E4M3) * whole
