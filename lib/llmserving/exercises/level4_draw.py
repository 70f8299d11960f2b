"""The numbers of level 4: a server that fits by a hair in FP16, and with room for some more requests in INT4."""

from __future__ import annotations

import math
import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.level2 import shape_numbers
from llmserving.kv_cache import kv_bytes
from llmserving.units import GB
from llmserving.weights import weight_bytes

# (billions of parameters, layers, heads), about as dense models have them. As in level 2, heads and layers differ.
_MODELS = ((3, 28, 24), (4, 32, 24), (7, 36, 32), (8, 40, 32), (15, 48, 40))
_TOKENS = range(512, 8193, 256)


def budget_numbers(memory_gb: int, model: tuple[int, int, int], B: int, S: int) -> Numbers:
    billions, layers, heads = model
    sizes = {"memory_gb": memory_gb, "billions": billions, "parameters": billions * 10**9, "B": B, "S": S}
    return {**shape_numbers(layers, heads), **sizes}


def _draw_budget(rng: random.Random) -> Numbers:
    """As many requests as the formula allows, so that it fits by less than one of them."""
    memory_gb, model, S = rng.choice([24, 40, 48, 80]), rng.choice(_MODELS), rng.choice(_TOKENS)
    n = budget_numbers(memory_gb, model, 1, S)
    left = memory_gb * GB - weight_bytes(n["parameters"], 16)
    return {**n, "B": max(1, left // _one_bytes(n))}


def _one_bytes(n: Numbers) -> int:
    return kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"])


def _fits_barely_and_counts_are_settled(n: Numbers) -> bool:
    """Under 1 GB is left in FP16; in INT4 some requests fit, and their number outlasts sizes rounded by 0.5 %."""
    one, memory = _one_bytes(n), n["memory_gb"] * GB
    requests: int = n["B"]
    weights, quarter = weight_bytes(n["parameters"], 16), weight_bytes(n["parameters"], 4)
    left = memory - weights - requests * one
    more: float = (memory - quarter - requests * one) / one
    # Both sizes of the quotient may be rounded, so it moves by twice as much.
    settled = math.floor(more * 0.99) == math.floor(more * 1.01) and 0.1 < more % 1 < 0.9
    barely: bool = 0.1 * GB < left < min(GB, one)
    return barely and 1 < requests <= 64 and 2 < more < requests and settled and abs(more % 1 - 0.5) > 0.05


BUDGET_DRAW = Draw(
    "L4.1-L4.3", budget_numbers(80, (13, 40, 40), B=16, S=4096), _draw_budget, _fits_barely_and_counts_are_settled
)
