"""Level 3, analysis: what a reservation wastes, and what blocks waste."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Part


def reservation_numbers(max_len: int, used: int, block_size: int) -> Numbers:
    return {"max_len": max_len, "used": used, "block_size": block_size}


def _draw_reservation(rng: random.Random) -> Numbers:
    used = rng.randrange(50, 700)
    return reservation_numbers(rng.choice([1024, 2048, 4096, 8192]), used, rng.choice([8, 16, 32, 64]))


def tail_is_partial(n: Numbers) -> bool:
    """The last block is partly full, this case is not the worst, and every share that could be taken for another differs."""
    size, used = n["block_size"], n["used"]
    blocks = -(-used // size)
    empty = blocks * size - used
    share = empty / (blocks * size)
    others = (empty / used, empty / n["max_len"], empty / size, (size - 1) / (blocks * size))
    distinct = all(abs(share - other) > 0.005 for other in others)
    return 2 <= empty <= size - 2 and 2 * empty != size and blocks >= 3 and used < 0.45 * n["max_len"] and distinct


_SHARE_HINTS = (
    "A slot is wasted when it is held and has no token in it. Divide the wasted slots by all that are held.",
    "A similar case: 100 slots held, 30 of them used: 70 are wasted, which is 0.7 of them.",
)

L3_1 = Exercise(
    id="L3.1",
    title="What a reservation wastes, and what blocks waste",
    notebook="L3/paging",
    statement=(
        "A server can reserve {max_len} token slots in one piece for a request, the most it may ever need, or hand out "
        "blocks of {block_size} slots as the request grows. The request ends with {used} tokens in the cache."
    ),
    parts=(
        Part(
            "reserved_share",
            "L3_1_reserved_share",
            "value",
            "reserved in one piece: the wasted share of the slots held, such as 0.25",
            _SHARE_HINTS,
            quantity="fraction",
        ),
        Part(
            "blocks",
            "L3_1_blocks",
            "value",
            "in blocks: how many the request holds at the end",
            (
                "A block is taken as soon as a token needs it, however empty it stays.",
                "A similar case: 9 tokens in blocks of 4 take 3 blocks, the last with one token in it.",
            ),
            quantity="count",
            unit="blocks",
        ),
        Part(
            "empty",
            "L3_1_empty",
            "value",
            "how many of its token slots are empty then",
            (
                "Count the slots of all its blocks, and take away the tokens.",
                "A similar case: 3 blocks of 4 hold 12 slots; with 9 tokens 3 are empty.",
            ),
            quantity="count",
            unit="tokens",
        ),
        Part(
            "worst",
            "L3_1_worst",
            "value",
            "in blocks: how many slots can be empty at worst, whatever the length",
            (
                "How empty can the last block be, given that it was taken for a token?",
                "A similar case: with blocks of 4, write down what requests of 5, 6, 7, 8 and 9 tokens leave empty.",
            ),
            quantity="count",
            unit="tokens",
        ),
        Part(
            "blocks_share",
            "L3_1_blocks_share",
            "value",
            "in blocks: the wasted share of the slots held",
            _SHARE_HINTS,
            quantity="fraction",
        ),
    ),
    draw=Draw("L3.1", reservation_numbers(2048, 120, 16), _draw_reservation, tail_is_partial),
    difficulty=3,
    minutes=6,
    importance=5,
)

EXERCISES_HERE = (L3_1,)
