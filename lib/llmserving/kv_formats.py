"""How many bytes one token takes in one layer's cache, by the dtype of the cache and the kind of attention."""

from __future__ import annotations

import difflib
from fractions import Fraction
from typing import Any

from llmserving import arguments
from llmserving.model_spec import ModelSpec

BYTES_PER_ELEMENT = {
    "fp32": Fraction(4), "fp16": Fraction(2), "bf16": Fraction(2), "fp8": Fraction(1), "int8": Fraction(1),
    "int4": Fraction(1, 2),
    "int8_per_token_head": Fraction(1), "fp8_per_token_head": Fraction(1),
    "nvfp4": Fraction(1, 2) + Fraction(1, 16),  # 4 bits, and an FP8 scale for each 16 elements
}  # fmt: skip
SCALE_BYTES_PER_TOKEN_AND_HEAD = 4
PACKED_LATENT = "fp8_ds_mla"
"""DeepSeek's packed latent: FP8, an FP32 scale for each 128 of it, and the part with positions at 16 bits."""
SCALED_ELEMENTS = 128
KV_DTYPES = (*BYTES_PER_ELEMENT, PACKED_LATENT)
SPELLINGS = {
    "float32": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16",
    "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
}  # fmt: skip


def kv_dtype_named(kv_dtype: Any) -> str:
    """The name that KV_DTYPES has for it, also from an engine's spelling such as "bfloat16" or "fp8_e4m3"."""
    if not isinstance(kv_dtype, str):
        raise TypeError(
            f"kv_dtype is the name of the cache's dtype, such as 'fp16', but got {arguments.shown(kv_dtype)}"
        )
    name = kv_dtype.casefold().replace("-", "_")
    name = SPELLINGS.get(name, name)
    if name not in KV_DTYPES:
        near = difflib.get_close_matches(name, [*KV_DTYPES, *SPELLINGS], n=3, cutoff=0.5) or KV_DTYPES
        raise ValueError(f"kv_dtype {arguments.shown(kv_dtype)} is not known; did you mean {', '.join(near)}?")
    return name


def kv_heads_per_rank(model: ModelSpec, tensor_parallel: int) -> int:
    """Heads whose keys and values one rank caches: its share, or a copy of one head where there are fewer than ranks."""
    return max(1, model.kv_heads // tensor_parallel)


def token_bytes(
    model: ModelSpec, kv_dtype: str = "fp16", tensor_parallel: int = 1, padded_latent: int | None = None
) -> int:
    """Bytes that one token takes in one layer of one rank.

    Keys and values: 2 * KV heads of the rank * (head_dim * p + scales). A latent is one vector a token, which every
    rank keeps whole; `padded_latent` is its width where an engine pads it (vLLM V0: 576 elements to 640).
    """
    name = kv_dtype_named(kv_dtype)
    if model.is_latent:
        return _latent_bytes(model, name, padded_latent) + _indexer_bytes(model)
    if padded_latent is not None:
        raise ValueError(
            f"padded_latent is the stored width of a latent, and {model.name} caches keys and values instead"
        )
    if name == PACKED_LATENT:
        raise ValueError(f"kv_dtype {PACKED_LATENT!r} packs a latent, and {model.name} caches keys and values instead")
    if name == "nvfp4" and model.head_dim % 16:
        raise ValueError(f"kv_dtype 'nvfp4' scales 16 elements together; a head of {model.name} has {model.head_dim}")
    head = _whole(model.head_dim * BYTES_PER_ELEMENT[name], model, name)
    scale = SCALE_BYTES_PER_TOKEN_AND_HEAD if name.endswith("_per_token_head") else 0
    return 2 * kv_heads_per_rank(model, tensor_parallel) * (head + scale)


def _latent_bytes(model: ModelSpec, name: str, padded_latent: int | None) -> int:
    rank, rope = model.latent_rank or 0, model.latent_rope_dim or 0
    width = model.latent_dim
    if padded_latent is not None:
        width = arguments.count("padded_latent", "the number of elements that the padded latent has", padded_latent)
        if width < model.latent_dim:
            raise ValueError(
                f"padded_latent {width} is less than the {model.latent_dim} elements of {model.name}'s latent"
            )
    if name == PACKED_LATENT:
        if padded_latent is not None:
            raise ValueError(f"kv_dtype {PACKED_LATENT!r} has its own layout; leave padded_latent out")
        if rank % SCALED_ELEMENTS:
            raise ValueError(f"kv_dtype {name!r} scales {SCALED_ELEMENTS} elements together; the latent has {rank}")
        return rank + 4 * rank // SCALED_ELEMENTS + 2 * rope
    if name.endswith("_per_token_head") or name == "nvfp4":
        raise ValueError(f"kv_dtype {name!r} scales keys and values a head, and {model.name} caches a latent instead")
    return _whole(width * BYTES_PER_ELEMENT[name], model, name)


def _indexer_bytes(model: ModelSpec) -> int:
    """The sparse-attention indexer's key: FP8 and an FP32 scale for each 128, whatever the latent's dtype."""
    if model.indexer_dim is None:
        return 0
    return model.indexer_dim + 4 * -(-model.indexer_dim // SCALED_ELEMENTS)


def _whole(num_bytes: Fraction, model: ModelSpec, name: str) -> int:
    if num_bytes.denominator != 1:
        raise ValueError(f"kv_dtype {name!r} leaves a part of a byte for each token of {model.name}; take a wider one")
    return int(num_bytes)
