"""How large the KV cache is, by the course's formula for multi-head attention."""

from __future__ import annotations

from typing import Any

from llmserving import arguments


def kv_bytes(B: Any, S: Any, L: Any, d_model: Any, p: Any = 2) -> int:
    """Bytes of KV cache for a batch: 2 * B * S * L * d_model * p, exactly.

    B: requests batched. S: cached tokens a request. L: layers. d_model: hidden size, n_head * d_head, all heads
    stacked. p: bytes a cached element (FP16 2, INT8 1, INT4 0.5). The 2 counts a key and a value for every token.

    TypeError for a wrong type, a float or a bool where a count belongs; ValueError for zero, negative, NaN or infinite
    values and for a p that leaves a part of a byte. Source: Kwon et al. 2023 (arXiv 2309.06180), section 3: a key and a
    value vector of the hidden size for every token and layer.

    >>> kv_bytes(B=1, S=2048, L=32, d_model=4096, p=2)
    1073741824
    """
    elements = (
        2
        * arguments.count("B", "the number of requests batched", B)
        * arguments.count("S", "the number of cached tokens a request", S)
        * arguments.count("L", "the number of layers", L)
        * arguments.count("d_model", "the hidden size, n_head * d_head", d_model)
    )
    bytes_per_element = arguments.positive_real("p", "the number of bytes a cached element", p)
    # A ratio of integers keeps the product exact where a float product would round above 2**53.
    numerator, denominator = bytes_per_element.as_integer_ratio()
    total, part_of_a_byte = divmod(elements * numerator, denominator)
    if part_of_a_byte:
        raise ValueError(
            f"p is the number of bytes a cached element, and {p!r} bytes for each of {elements:,} elements leave a part "
            "of a byte; common values are 4 (FP32), 2 (FP16), 1 (INT8) and 0.5 (INT4)"
        )
    return total
