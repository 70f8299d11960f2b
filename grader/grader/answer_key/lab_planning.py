"""Key of LAB4.1: the pool of a log in two forms, and the wrong pools that learners cut."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_planning
from llmserving.exercises.exercise import Probe

from grader.answer_key import lab_planning_written as made
from grader.answer_key.key import Key
from grader.answer_key.lab_keys import FunctionKey, Wrong

_POOL, _SPLIT = "From GiB to blocks", "Split over GPUs"


_WRONG = (
    Wrong("gb_for_gib", made.in_gb, "That takes a GiB for 10^9 bytes. Logs print GiB, of 2^30 bytes each.", _POOL),
    Wrong(
        "keys_or_values_only",
        made.keys_only,
        "Twice as many blocks as there are: a token leaves a key and a value in every layer, and a block keeps both.",
        _POOL,
    ),
    Wrong(
        "one_layer",
        made.of_one_layer,
        "That is a block of one layer. A block here holds its tokens in all layers.",
        _POOL,
    ),
    Wrong("bits_for_bytes", made.in_bits, "That counts the bits of a block against the bytes of the memory.", _POOL),
    Wrong(
        "always_fp16",
        made.always_fp16,
        "That takes two bytes an element whatever `bits` says. A cache of 8 bits has twice the blocks in the same memory.",
        _POOL,
    ),
    Wrong(
        "parts_of_blocks",
        made.parts_of_blocks,
        "That has a part of a block in it. A block is there as a whole or not at all, and tokens come by the block.",
        _POOL,
    ),
    Wrong(
        "rounded_up",
        made.rounded_up,
        "One block too many: what is left of the memory after the last whole block is too small for another.",
        _POOL,
    ),
    Wrong(
        "empty_block_left_out",
        made.one_kept_empty,
        "One block too few. An engine may keep a block that no request gets, but it cuts that one too, and prints it.",
        _POOL,
    ),
    Wrong(
        "tokens_without_blocks",
        made.tokens_without_blocks,
        "The tokens are as many as the memory would hold without blocks. An engine only has the tokens of whole blocks.",
        _POOL,
    ),
    Wrong(
        "tokens_first", made.tokens_first, "Both numbers are there, in the wrong order: the blocks come first.", _POOL
    ),
    Wrong(
        "heads_not_split",
        made.heads_not_split,
        "That keeps every KV head on every GPU. The heads are split, so a token takes less on each of them.",
        _SPLIT,
    ),
    Wrong(
        "added_up_over_gpus",
        made.added_up_over_gpus,
        "That adds up the memory of all GPUs, though each holds only a share of a token: more GPUs are counted twice.",
        _SPLIT,
    ),
    Wrong(
        "heads_cut",
        made.heads_cut,
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
                reference=made.blocks_and_tokens,
                otherwise=made.by_page,
                groups={"one GPU": 2, "other sizes": 1, "heads split": 1, "heads copied": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_POOL,
            )
        },
    ),
)
