"""How large the KV cache is: by the course's formula for multi-head attention, and for the attention that models have."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.kv_layout import DEFAULT_BATCHED_TOKENS, kv_layout
from llmserving.model_spec import ModelSpec


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


def kv_bytes_per_token(
    model: ModelSpec | str,
    kv_dtype: str = "fp16",
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    padded_latent: Any = None,
) -> int:
    """Bytes by which one more token lets a request's cache grow on the fullest rank, once every window is full.

    Layers without a window of the fullest stage * 2 * max(1, KV heads // tensor_parallel) * head_dim * p; a latent (MLA)
    counts once for keys and values, whole on every rank. Layers with a window no longer grow: kv_bytes_for_request
    counts them. The spare pages of an unevenly filled group count, since they are taken too.
    pipeline_parallel: stages, or a tuple of the layers of each.

    >>> kv_bytes_per_token("llama-3.1-8b")
    131072
    >>> kv_bytes_per_token("qwen3-235b-a22b", tensor_parallel=8)  # 4 KV heads: 8 ranks keep one each, copied
    48128
    """
    layout = kv_layout(model, kv_dtype, tensor_parallel, pipeline_parallel, 1, padded_latent)
    return layout.full_groups * layout.block_bytes


def kv_bytes_for_request(
    model: ModelSpec | str,
    tokens: Any,
    kv_dtype: str = "fp16",
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    block_size: Any = 16,
    max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS,
    padded_latent: Any = None,
) -> int:
    """Bytes that a request of `tokens` tokens takes at its fullest on the fullest rank: whole blocks, groups, windows.

    What an engine prints as "GiB KV cache is needed". Beyond its window a layer keeps only what the running step may
    still read, max_num_batched_tokens tokens at most.

    >>> kv_bytes_for_request("llama-3.1-8b", 131072) / 2**30
    16.0
    """
    layout = kv_layout(model, kv_dtype, tensor_parallel, pipeline_parallel, block_size, padded_latent)
    return layout.request_blocks(tokens, max_num_batched_tokens) * layout.block_bytes
