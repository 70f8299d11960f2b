"""Level 5, mastery: a server that refuses short chats, and the lever for it, with the numbers that decide."""

from __future__ import annotations

from llmserving.exercises.exercise import Exercise, Option, Part, Quantity
from llmserving.exercises.level5_draws import CHAT_DRAW
from llmserving.exercises.level5_links import CHAT_LINKS, LEVERS

_SHARE_HINTS = ("Wasted is what is held and holds no token; its share is of all that is held.",)
_BUCKET_HINTS = ("One of the two sizes is there before the first chat comes. Which one grows with each chat?",)


def _value(name: str, asks: str, hints: tuple[str, ...], quantity: Quantity, unit: str | None = None) -> Part:
    return Part(name, f"L5_1A_{name}", "value", asks, hints, quantity=quantity, unit=unit)


L5_1A = Exercise(
    id="L5.1A",
    title="Thousands of short chats",
    notebook="L5/clinic",
    statement=(
        "Thousands of people chat with a model of {billions} billion weights in FP16, {weights_gb} GB of them, on one GPU "
        "({gpu}, {memory_gb} GB). A chat ends with {used} tokens in the cache; {max_len} slots are reserved for each, at "
        "{slot_kb} KB a slot. With {running} chats the memory is full, and the next one stops the server: out of memory "
        "(OOM). If slots came in blocks, a block would have {block_size}."
    ),
    parts=(
        Part(
            "bucket",
            "L5_1A_bucket",
            "choice",
            "which bucket of the bar is to blame",
            _BUCKET_HINTS,
            options=(
                Option("activations", "neither: the activations of the tokens in a step"),
                Option("kv_cache", "the teal one: the KV cache of the chats that run"),
                Option("weights", "the orange one: the weights, which every chat needs"),
            ),
        ),
        Part(
            "cause",
            "L5_1A_cause",
            "choice",
            "what fills it",
            ("Count the tokens that all running chats have together, and compare with the slots that they hold.",),
            options=(
                Option("external", "external fragmentation: free gaps, each too short for one more chat"),
                Option("internal", "internal fragmentation: slots held for tokens that a chat never has"),
                Option("padding", "padding: rows of the batch that idle until its longest chat has ended"),
                Option("tokens", "the chats' own tokens: together they are more than the memory can hold"),
            ),
        ),
        _value("reserved_share", "reserved: the wasted share of the slots held, such as 0.5", _SHARE_HINTS, "fraction"),
        _value(
            "blocks",
            "in blocks: how many a chat holds at its end",
            ("A similar case: 9 tokens in blocks of 4 take 3 blocks.",),
            "count",
            "blocks",
        ),
        _value(
            "empty",
            "how many of its slots are empty then",
            ("All the slots of its blocks, minus the tokens.",),
            "count",
            "tokens",
        ),
        _value("blocks_share", "in blocks: the wasted share of the slots held", _SHARE_HINTS, "fraction"),
        _value(
            "times",
            "how many times as many chats the same KV memory then holds",
            (
                "How many slots does a chat take now, and how many would it take in blocks?",
                "A similar case: 100 slots each now, 20 then: 5 times as many.",
            ),
            "ratio",
        ),
        Part(
            "lever",
            "L5_1A_lever",
            "choice",
            "the lever that you would take first",
            ("For each lever, ask what it would move of the bucket that you named.",),
            points=2,
            options=LEVERS,
        ),
        Part(
            "argument",
            "L5_1A_argument",
            "chain",
            "the letters of four links, in order, that carry the choice",
            (
                "Say what a chat is given, what becomes of that, and what would be different; one link rules out a bucket.",
            ),
            points=3,
            options=CHAT_LINKS,
        ),
    ),
    draw=CHAT_DRAW,
    difficulty=5,
    minutes=12,
    importance=5,
)

EXERCISES_HERE = (L5_1A,)
