"""Pools of LAB4.1 as learners cut them: right in two forms, and wrong in one way each. None uses anything from around it."""

from __future__ import annotations


def blocks_and_tokens(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    block = block_size * 2 * layers * heads * head_dim * bits // 8
    blocks = int(kv_gib * 2**30 // block)
    return blocks, blocks * block_size


def by_page(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> list[int]:
    heads_here = 1 if gpus > kv_heads else kv_heads // gpus
    page = 0.0
    for _ in range(block_size):
        page += heads_here * head_dim * (bits / 8 + bits / 8)
    blocks = int(kv_gib * 1024 * 1024 * 1024 / (layers * page))
    return [blocks, block_size * blocks]


def in_gb(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 10**9 // (block_size * 2 * layers * heads * head_dim * bits // 8))
    return blocks, blocks * block_size


def keys_only(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * layers * heads * head_dim * bits // 8))
    return blocks, blocks * block_size


def of_one_layer(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * heads * head_dim * bits // 8))
    return blocks, blocks * block_size


def in_bits(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * heads * head_dim * bits))
    return blocks, blocks * block_size


def always_fp16(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * heads * head_dim * 2))
    return blocks, blocks * block_size


def parts_of_blocks(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[float, float]:
    heads = max(1, kv_heads // gpus)
    blocks = kv_gib * 2**30 / (block_size * 2 * layers * heads * head_dim * bits / 8)
    return blocks, blocks * block_size


def rounded_up(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * heads * head_dim * bits // 8)) + 1
    return blocks, blocks * block_size


def one_kept_empty(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * heads * head_dim * bits // 8)) - 1
    return blocks, blocks * block_size


def tokens_without_blocks(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    tokens = int(kv_gib * 2**30 // (2 * layers * heads * head_dim * bits // 8))
    return tokens // block_size, tokens


def tokens_first(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * heads * head_dim * bits // 8))
    return blocks * block_size, blocks


def heads_not_split(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * kv_heads * head_dim * bits // 8))
    return blocks, blocks * block_size


def added_up_over_gpus(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    heads = max(1, kv_heads // gpus)
    blocks = int(kv_gib * gpus * 2**30 // (block_size * 2 * layers * heads * head_dim * bits // 8))
    return blocks, blocks * block_size


def heads_cut(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int, gpus: int, block_size: int
) -> tuple[int, int]:
    blocks = int(kv_gib * 2**30 // (block_size * 2 * layers * kv_heads / gpus * head_dim * bits / 8))
    return blocks, blocks * block_size
