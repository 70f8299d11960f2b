"""LAB2.1 as learners write it: right in two forms, and wrong in one way each. None uses anything from around it."""

from __future__ import annotations


def kv_bytes_per_token(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> int:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits // 8


def by_layer(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    total = 0.0
    for _ in range(layers):
        if latent_dim is not None:
            total += latent_dim * bits / 8
            continue
        for _ in range(kv_heads):
            key_bytes = value_bytes = head_dim * bits / 8
            total += key_bytes + value_bytes
    return total


def keys_only(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits / 8


def with_query_heads(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = 2 * query_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits / 8


def with_heads_a_group(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = 2 * (query_heads // kv_heads) * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits / 8


def of_one_head(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = 2 * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits / 8


def of_one_layer(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return elements * bits / 8


def in_bits(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> int:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * bits


def always_fp16(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> int:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * 2


def whole_bytes(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> int:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * max(1, bits // 8)


def bits_rounded_down(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> int:
    elements = 2 * kv_heads * head_dim if latent_dim is None else latent_dim
    return layers * elements * (bits // 8)


def latent_twice(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = kv_heads * head_dim if latent_dim is None else latent_dim
    return 2 * layers * elements * bits / 8


def latent_ignored(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    return layers * 2 * kv_heads * head_dim * bits / 8


def latent_a_head(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: int | None = None
) -> float:
    elements = 2 * kv_heads * head_dim if latent_dim is None else kv_heads * latent_dim
    return layers * elements * bits / 8
