"""What has to fit into a GPU's memory beside the KV cache: the weights."""

from __future__ import annotations

from typing import Any

from llmserving import arguments

SCALE_BITS = 16


def weight_bytes(parameters: Any, bits: Any, group_size: Any = None, *, zero_point_bits: Any = None) -> int:
    """Bytes that `parameters` weights of `bits` bits take, packed, with their group scales if they have any.

    parameters: number of weights; a whole float such as 13e9 counts too. bits: bits a weight (FP16 16, INT8 8, INT4 4).
    group_size: weights that share one FP16 scale, or None for no scales. zero_point_bits: bits of a zero-point stored
    beside each scale, or None. Group quantization of b bits takes b + 16 / group_size bits a weight: 4.125 for INT4 in
    groups of 128 (Lin et al. 2023, arXiv 2306.00978, use that group size).

    TypeError for a wrong type, a bool, or a count that is not whole; ValueError for zero, negative, NaN or infinite
    values, and for zero_point_bits without a group_size.

    >>> weight_bytes(13e9, bits=4)
    6500000000
    """
    weights = arguments.count("parameters", "the number of weights", parameters, whole_floats=True)
    bits_per_weight = arguments.count("bits", "the number of bits a weight", bits)
    total = _whole_bytes(weights * bits_per_weight)
    if group_size is None:
        if zero_point_bits is not None:
            raise ValueError("zero_point_bits needs a group_size: a zero-point is stored once for each group")
        return total
    weights_per_group = arguments.count("group_size", "the number of weights that share a scale", group_size)
    groups = -(-weights // weights_per_group)
    bits_per_group = SCALE_BITS
    if zero_point_bits is not None:
        bits_per_group += arguments.count(
            "zero_point_bits", "the number of bits of a group's zero-point", zero_point_bits
        )
    return total + _whole_bytes(groups * bits_per_group)


def _whole_bytes(bits: int) -> int:
    return -(-bits // 8)
