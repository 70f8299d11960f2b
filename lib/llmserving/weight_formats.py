"""The formats that weights are stored in: bits, and what a group of weights shares."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmserving import arguments

SCALE_BITS = 16


@dataclass(frozen=True)
class WeightFormat:
    """Bits a weight, and those that a group of weights shares; `quantized` leaves embeddings at 16 bits."""

    bits: int
    group_size: int | None = None
    group_bits: int = 0
    quantized: bool = False
    experts_only: bool = False

    @property
    def bits_a_weight(self) -> float:
        """Bits of a weight with its part of what the group shares: 4.156 for INT4 in groups of 128."""
        return self.bits + (self.group_bits / self.group_size if self.group_size else 0)

    def size(self, weights: int) -> int:
        """Bytes of `weights` weights with what their groups share."""
        groups = -(-weights // self.group_size) if self.group_size else 0
        return whole_bytes(weights * self.bits) + whole_bytes(groups * self.group_bits)


# FP8 and INT8 keep one scale a row of a matrix, too little to count. GPTQ and AWQ keep a 16-bit scale and a 4-bit
# zero-point for each group of 128, MXFP4 an 8-bit exponent for each 32.
WEIGHT_FORMATS: Mapping[str, WeightFormat] = {
    "fp32": WeightFormat(32),
    "fp16": WeightFormat(16),
    "bf16": WeightFormat(16),
    "fp8": WeightFormat(8, quantized=True),
    "int8": WeightFormat(8, quantized=True),
    "int4": WeightFormat(4, group_size=128, group_bits=SCALE_BITS + 4, quantized=True),
    "mxfp4": WeightFormat(4, group_size=32, group_bits=8, quantized=True, experts_only=True),
}
SPELLINGS = {
    "float32": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "fp8_e4m3": "fp8",
    "w8a8": "int8", "w4a16": "int4", "gptq": "int4", "awq": "int4",
}  # fmt: skip


def weight_dtype_named(weight_dtype: Any) -> str:
    """The name that WEIGHT_FORMATS has for it, also from another spelling such as "bfloat16" or "w4a16"."""
    if not isinstance(weight_dtype, str):
        raise TypeError(f"weight_dtype is the name of a format such as 'fp16', but got {arguments.shown(weight_dtype)}")
    name = weight_dtype.casefold()
    name = SPELLINGS.get(name, name)
    if name not in WEIGHT_FORMATS:
        near = difflib.get_close_matches(name, [*WEIGHT_FORMATS, *SPELLINGS], n=3, cutoff=0.5) or WEIGHT_FORMATS
        raise ValueError(f"weight_dtype {arguments.shown(weight_dtype)} is not known; did you mean {', '.join(near)}?")
    return name


def weight_format(weight_dtype: Any) -> WeightFormat:
    """The format of that name."""
    return WEIGHT_FORMATS[weight_dtype_named(weight_dtype)]


def whole_bytes(bits: int) -> int:
    """Bytes that hold `bits` bits."""
    return -(-bits // 8)
