"""Level 2, application: sizes of the KV cache and of the weights, and how many requests fit."""

from __future__ import annotations

import math
import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Part
from llmserving.units import GB

# (layers, heads): multi-head models with heads of 128; no draw has as many heads as layers, so that a forgotten layer
# count and a head's width in place of the hidden size stay two different mistakes.
_SHAPES = ((24, 16), (28, 24), (32, 24), (36, 32), (40, 32), (48, 40), (60, 52), (64, 48), (80, 64))
_HEAD_DIM = 128


def shape_numbers(layers: int, heads: int) -> Numbers:
    return {"L": layers, "n_head": heads, "d_head": _HEAD_DIM, "d_model": heads * _HEAD_DIM, "p": 2}


def draw_shape(rng: random.Random) -> Numbers:
    return shape_numbers(*rng.choice(_SHAPES))


def _kv_numbers(shape: Numbers, B: int, S: int, budget_gb: int) -> Numbers:
    return {**shape, "B": B, "S": S, "budget_gb": budget_gb}


def _draw_kv(rng: random.Random) -> Numbers:
    return _kv_numbers(
        draw_shape(rng),
        B=rng.choice([2, 3, 4, 6, 8]),
        S=rng.choice([512, 768, 1024, 1536, 2048, 3072, 4096]),
        budget_gb=rng.choice([16, 20, 24, 30, 40, 48, 60]),
    )


def _floor_is_settled(n: Numbers) -> bool:
    """Floor, ceiling and rounding part, and the floor survives sizes rounded by 0.5 %; a handful of requests fit."""
    requests: float = n["budget_gb"] * GB / (2 * n["S"] * n["L"] * n["d_model"] * n["p"])
    settled = math.floor(requests * 0.994) == math.floor(requests * 1.006)
    return 4 <= requests <= 60 and settled and 0.1 < requests % 1 < 0.9 and abs(requests % 1 - 0.5) > 0.05


KV_DRAW = Draw("L2.1-L2.2", _kv_numbers(shape_numbers(32, 32), B=1, S=2048, budget_gb=40), _draw_kv, _floor_is_settled)

L2_1 = Exercise(
    id="L2.1",
    title="The KV cache in gigabytes",
    notebook="L2/kv_size",
    statement=(
        "A model has {L} layers and a hidden size of {d_model} ({n_head} heads of {d_head}). It serves a "
        "batch of B = {B}, every request with S = {S} cached tokens, in FP16 (p = {p} bytes). How large is the KV cache?"
    ),
    parts=(
        Part(
            "kv_gb",
            "L2_1_kv_gb",
            "value",
            "the size in GB, to three significant figures",
            (
                "Take the six factors one after the other and ask of each whether your product holds it.",
                "Start small: one token in one layer stores a key and a value of {d_model} numbers, {p} bytes each.",
                "A similar case: 2 layers, hidden size 100, 10 tokens, 3 requests, 2 bytes: 2 * 3 * 10 * 2 * 100 * 2 = "
                "24,000 bytes = 0.000024 GB.",
            ),
            points=2,
            quantity="bytes",
            unit="GB",
        ),
    ),
    draw=KV_DRAW,
    difficulty=2,
    minutes=4,
    importance=5,
    version=2,
)

L2_2 = Exercise(
    id="L2.2",
    title="How many requests fit?",
    notebook="L2/kv_size",
    statement=(
        "The same model ({L} layers, hidden size {d_model}, FP16), and {budget_gb} GB of HBM set aside for the KV cache. "
        "How many requests of S = {S} cached tokens fit at once?"
    ),
    parts=(
        Part(
            "requests",
            "L2_2_requests",
            "value",
            "the number of whole requests",
            (
                "First the size of one request's cache, then how often it goes into the budget.",
                "The part of a request that is left over cannot be served.",
                "A similar case: 10 GB for requests of 3.3 GB is 3.03, so 3 fit.",
            ),
            points=2,
            quantity="count",
            unit="requests",
        ),
    ),
    draw=KV_DRAW,
    difficulty=2,
    minutes=3,
    importance=4,
    version=2,
    builds_on=("L2.1",),
)


def _weights(billions: int) -> Numbers:
    return {"billions": billions, "parameters": billions * 10**9}


_WEIGHT_HINTS = (
    "Bytes are parameters times bytes a weight. A byte has 8 bits.",
    "A similar case: one billion weights of 16 bits take 2 GB.",
)

L2_3 = Exercise(
    id="L2.3",
    title="The weights in three formats",
    notebook="L2/weights",
    statement="A model has {billions} billion parameters. How large are its weights, and how much less is there to read?",
    parts=(
        *(
            Part(
                name,
                f"L2_3_{name}",
                "value",
                f"GB in {name.removesuffix('_gb').upper()}",
                _WEIGHT_HINTS,
                quantity="bytes",
                unit="GB",
            )
            for name in ("fp16_gb", "int8_gb", "int4_gb")
        ),
        Part(
            "shrink",
            "L2_3_shrink",
            "value",
            "how many times fewer bytes a decode step reads for the weights in INT4 than in FP16",
            (
                "Divide what was read before by what is read now.",
                "A similar case: from 12 GB to 4 GB is 3 times fewer bytes.",
            ),
            quantity="ratio",
        ),
    ),
    draw=Draw("L2.3", _weights(13), lambda rng: _weights(rng.choice([3, 6, 7, 9, 11, 14, 20, 27, 30, 34, 40, 65]))),
    difficulty=2,
    minutes=4,
    importance=4,
    version=2,
)

EXERCISES_HERE = (L2_1, L2_2, L2_3)
