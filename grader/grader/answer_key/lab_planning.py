"""Key of LAB4.1: the pool of a log in two forms, and the wrong pools that learners cut."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_planning
from llmserving.exercises.exercise import Probe

from grader.answer_key.key import Key
from grader.answer_key.lab_keys import FunctionKey, Wrong

_POOL, _SPLIT = "From GiB to blocks", "Split over GPUs"


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


_WRONG = (
    Wrong("gb_for_gib", in_gb, "That takes a GiB for 10^9 bytes. Logs print GiB, of 2^30 bytes each.", _POOL),
    Wrong(
        "keys_or_values_only",
        keys_only,
        "Twice as many blocks as there are: a token leaves a key and a value in every layer, and a block keeps both.",
        _POOL,
    ),
    Wrong(
        "one_layer",
        of_one_layer,
        "That is a block of one layer. A block here holds its tokens in all layers.",
        _POOL,
    ),
    Wrong("bits_for_bytes", in_bits, "That counts the bits of a block against the bytes of the memory.", _POOL),
    Wrong(
        "always_fp16",
        always_fp16,
        "That takes two bytes an element whatever `bits` says. A cache of 8 bits has twice the blocks in the same memory.",
        _POOL,
    ),
    Wrong(
        "rounded_up",
        rounded_up,
        "One block too many: what is left of the memory behind the last whole block is too small for another.",
        _POOL,
    ),
    Wrong(
        "empty_block_left_out",
        one_kept_empty,
        "One block too few. An engine may keep a block that no request gets, but it cuts that one too, and prints it.",
        _POOL,
    ),
    Wrong(
        "tokens_without_blocks",
        tokens_without_blocks,
        "The tokens are as many as the memory would hold without blocks. An engine only has the tokens of whole blocks.",
        _POOL,
    ),
    Wrong("tokens_first", tokens_first, "Both numbers are there, in the wrong order: the blocks come first.", _POOL),
    Wrong(
        "heads_not_split",
        heads_not_split,
        "That keeps every KV head on every GPU. The heads are split, so a token takes less on each of them.",
        _SPLIT,
    ),
    Wrong(
        "added_up_over_gpus",
        added_up_over_gpus,
        "That adds up the memory of all GPUs, though each holds only a share of a token: more GPUs are counted twice.",
        _SPLIT,
    ),
    Wrong(
        "heads_cut",
        heads_cut,
        "That cuts a KV head into pieces. A head stays whole: with more GPUs than heads, each GPU keeps a copy of one.",
        _SPLIT,
    ),
)


def _memory(rng: random.Random, block_bytes: int) -> float:
    """GiB to two decimals, with a part of a block left over that no rounding turns into a whole one or into none."""
    while True:
        gib = round(rng.uniform(4, 70), 2)
        if 0.1 < gib * 2**30 / block_bytes % 1 < 0.9:
            return gib


def _hidden(rng: random.Random) -> Iterator[Probe]:
    for group, bits, gpus, block_size in (
        ("one GPU", 16, 1, 16),
        ("other sizes", rng.choice([4, 8]), 1, rng.choice([8, 32, 64])),
        ("heads split", 16, rng.choice([2, 4]), 16),
        ("heads copied", 16, rng.choice([16, 32]), 16),
    ):
        layers, heads, width = (
            rng.randrange(20, 90),
            rng.choice([2, 4] if gpus > 8 else [4, 8]),
            rng.choice([64, 80, 96, 112, 128]),
        )
        block = block_size * 2 * layers * max(1, heads // gpus) * width * bits // 8
        yield Probe(group, lab_planning.start_up(_memory(rng, block), layers, heads, width, bits, gpus, block_size))


KEYS_HERE = (
    Key(
        lab_planning.LAB4_1,
        {
            "blocks_and_tokens": FunctionKey(
                reference=blocks_and_tokens,
                otherwise=by_page,
                groups={"one GPU": 2, "other sizes": 1, "heads split": 1, "heads copied": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_POOL,
            )
        },
    ),
)
