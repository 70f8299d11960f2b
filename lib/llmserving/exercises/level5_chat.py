"""Level 5, mastery: a server that refuses short chats, and the lever for it, with the numbers that decide."""

from __future__ import annotations

import math
import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.level3_paging import reservation_numbers, tail_is_partial
from llmserving.exercises.level5_links import CHAT_LINKS, LEVERS
from llmserving.hardware import GPUS
from llmserving.kv_cache import kv_bytes
from llmserving.units import GB, KB
from llmserving.weights import weight_bytes

_GPUS = ("a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb", "l40s-48gb", "rtx-a6000")
# (billions of weights, layers, hidden size): multi-head models.
_SHAPES = ((7, 32, 4096), (13, 40, 5120), (30, 48, 7168))


def chat_numbers(gpu: str, shape: tuple[int, int, int], used: int, max_len: int, block_size: int) -> Numbers:
    """`running`: the chats whose reservations fit beside the weights, two buckets and nothing else."""
    billions, layers, d_model = shape
    memory, weights = GPUS[gpu].sold_bytes, weight_bytes(billions * 1e9, 16)
    slot = kv_bytes(1, 1, layers, d_model)
    return {
        **reservation_numbers(max_len, used, block_size),
        "gpu": gpu,
        "billions": billions,
        "memory_gb": memory / GB,
        "weights_gb": weights / GB,
        "slot_kb": slot / KB,
        "running": (memory - weights) // (max_len * slot),
    }


def _draw_chat(rng: random.Random) -> Numbers:
    return chat_numbers(
        rng.choice(_GPUS),
        rng.choice(_SHAPES),
        rng.randrange(36, 200),
        rng.choice([1024, 2048, 4096]),
        rng.choice([8, 16, 32]),
    )


def _full_of_nothing(n: Numbers) -> bool:
    """The reservation lies far above the use, the weights are not what fills the GPU, and the last block is partly full."""
    held = math.ceil(n["used"] / n["block_size"]) * n["block_size"]
    return (
        tail_is_partial(n)
        and n["used"] < 0.1 * n["max_len"]
        and n["weights_gb"] < 0.6 * n["memory_gb"]
        and n["running"] >= 8
        and n["running"] * held != n["max_len"]
    )


_SHARE_HINTS = ("Wasted is what is held and holds no token; its share is of all that is held.",)
_BUCKET_HINTS = ("One of the two sizes is there before the first chat comes. Which one grows with each chat?",)


def _value(name: str, asks: str, hints: tuple[str, ...], quantity: str, unit: str | None = None) -> Part:
    return Part(name, f"L5_1A_{name}", "value", asks, hints, quantity=quantity, unit=unit)  # type: ignore[arg-type]


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
                Option("internal", "internal fragmentation: slots held for a chat that never gets there"),
                Option("padding", "padding: rows of the batch that idle until its longest chat has ended"),
                Option("tokens", "the chats' own tokens: together they are more than the memory can hold"),
            ),
        ),
        _value("reserved_share", "reserved: the wasted share of the slots held, such as 0.5", _SHARE_HINTS, "fraction"),
        _value(
            "blocks",
            "in blocks: how many a chat holds at its end",
            ("A neighbour: 9 tokens in blocks of 4 take 3 blocks.",),
            "count",
            "blocks",
        ),
        _value(
            "empty",
            "how many of its slots are empty then",
            ("All the slots of its blocks, less the tokens.",),
            "count",
            "tokens",
        ),
        _value("blocks_share", "in blocks: the wasted share of the slots held", _SHARE_HINTS, "fraction"),
        _value(
            "times",
            "how many times as many chats the same KV memory then holds",
            (
                "Of the same memory, a chat takes so many slots now and so many then.",
                "A neighbour: 100 slots each now, 20 then: 5 times as many.",
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
                "Say what a chat is given, what becomes of it, and what would be otherwise; one link rules a bucket out.",
            ),
            points=3,
            options=CHAT_LINKS,
        ),
    ),
    draw=Draw(
        "L5.1A",
        chat_numbers("l40s-48gb", (13, 40, 5120), used=60, max_len=2048, block_size=16),
        _draw_chat,
        _full_of_nothing,
    ),
    difficulty=5,
    minutes=12,
    importance=5,
)

EXERCISES_HERE = (L5_1A,)
