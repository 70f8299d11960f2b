"""Key of L5.1A: what reservations and blocks come to, and the argument; its choices are in level5_chat_choices."""

from __future__ import annotations

import math
from dataclasses import replace

from llmserving.exercises import level5_chat
from llmserving.exercises.draws import Numbers

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import (
    THREE_FIGURES,
    Answers,
    ChainKey,
    Formula,
    Key,
    Misconception,
    ValueKey,
)
from grader.answer_key.level3_paging import BLOCK_COUNT, BLOCKS_SHARE, EMPTY, RESERVED_SHARE
from grader.answer_key.level5_chat_choices import BUCKET, CAUSE, HELD, LEVER
from grader.answer_key.reread import sending_to


def _here(key: ValueKey) -> ValueKey:
    """The key of a part of L3.1, sending back to this level's lesson."""
    return replace(key, misconceptions=sending_to(HELD, key.misconceptions))


def _times(n: Numbers, a: Answers) -> float:
    return n["max_len"] / (a["blocks"] * n["block_size"])  # type: ignore[no-any-return]


def _wrong(name: str, formula: Formula, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, HELD)


_TIMES = ValueKey(
    _times,
    THREE_FIGURES,
    (
        _wrong(
            "inverted",
            lambda n, a: 1 / _times(n, a),
            "Upside down: that is the share of its slots that a chat still takes.",
        ),
        _wrong(
            "tail_forgotten",
            lambda n, a: n["max_len"] / n["used"],
            "That divides by the tokens. A chat holds whole blocks, and the last one is not full.",
        ),
        _wrong(
            "more_for_as_many",
            lambda n, a: _times(n, a) - 1,
            "That is how many are added for each chat there is now. The question is how many there are with it.",
        ),
        _wrong(
            "one_block_each",
            lambda n, a: n["max_len"] / n["block_size"],
            "That gives each chat a single block. It needs as many as its tokens fill or begin.",
        ),
        _wrong(
            "slots_for_times",
            lambda n, a: n["max_len"] - a["blocks"] * n["block_size"],
            "Those are the slots that a chat no longer holds. The question is how many times as many chats there can be.",
        ),
        _wrong(
            "chats_for_times",
            lambda n, a: math.floor(n["running"] * _times(n, a)),
            "That is how many chats there can be. The question is how many times as many as now.",
        ),
    ),
)


_ARGUMENT = ChainKey(
    {
        "weights_stay": (),
        "at_once": (),
        "never_used": ("at_once",),
        "as_tokens_come": ("never_used", "weights_stay"),
    },
    named_traps(
        {
            "dot_products": (
                "layout_for_arithmetic",
                "Nothing is computed for an empty slot, wherever it lies: it costs room, not time.",
            ),
            "longest_waits": (
                "scheduling_for_allocation",
                "That is about who runs when. A chat that runs alone holds as many slots.",
            ),
            "smaller_cache": ("cache_shrinks_with_weights", "The cache holds keys and values, not weights."),
        },
        HELD,
    ),
    HELD,
)

KEYS_HERE = (
    Key(
        level5_chat.L5_1A,
        {
            "bucket": BUCKET,
            "cause": CAUSE,
            "reserved_share": _here(RESERVED_SHARE),
            "blocks": _here(BLOCK_COUNT),
            "empty": _here(EMPTY),
            "blocks_share": _here(BLOCKS_SHARE),
            "times": _TIMES,
            "lever": LEVER,
            "argument": _ARGUMENT,
        },
    ),
)
