"""Level 4, synthesis: weights and KV cache in one GPU, then weights in INT4, and what that makes room for."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import TRUE_OR_FALSE
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.level4_draw import BUDGET_DRAW

_NOTEBOOK = "L4/budget"


def _gigabytes(id: str, name: str, asks: str, *hints: str) -> Part:
    return Part(name, f"{id}_{name}", "value", asks, hints, quantity="bytes", unit="GB")


L4_1 = Exercise(
    id="L4.1",
    title="Does it fit?",
    notebook=_NOTEBOOK,
    statement=(
        "A GPU of {memory_gb} GB is to serve a model of {billions} billion parameters, with {L} layers and a hidden size of "
        "{d_model} ({n_head} heads of {d_head}). Weights and KV cache are in FP16 ({p} bytes a number). B = {B} requests run "
        "at once, each with S = {S} cached tokens. The formula counts the two buckets and nothing else."
    ),
    parts=(
        _gigabytes(
            "L4_1",
            "weights_gb",
            "GB of the weights",
            "Parameters times bytes a weight. A similar case: one billion weights of 16 bits take 2 GB.",
        ),
        _gigabytes(
            "L4_1",
            "one_gb",
            "GB of one request's KV cache",
            "Take the six factors with one request in the batch.",
            "A similar case: 2 layers, hidden size 100, 10 tokens, 2 bytes: 2 * 10 * 2 * 100 * 2 = 8,000 bytes = 0.000008 GB.",
        ),
        _gigabytes("L4_1", "kv_gb", "GB of the KV cache of all requests", "Each request keeps a cache of its own."),
        _gigabytes("L4_1", "total_gb", "GB of both buckets together", "Orange and teal lie in the same memory: add."),
        _gigabytes(
            "L4_1",
            "headroom_gb",
            "GB left by the formula, to two decimals",
            "Compare what you have just added up with the memory.",
            "A similar case: of 24 GB, 23.6 GB are taken: 0.4 GB are left.",
        ),
        Part(
            "deploy",
            "L4_1_deploy",
            "choice",
            "whether you would deploy it like this, and why",
            (
                "Compare what is left with what the engine view put beside the two buckets.",
                "Think of the moment when all requests are at full length: what else is in memory then?",
            ),
            points=2,
            options=(
                Option("by_formula", "yes: all that has to lie in memory is counted, and it is less than there is"),
                Option("full_is_slow", "no: decode gets slower and slower as the memory of a GPU runs full"),
                Option("needs_more", "no: activations, the CUDA context and gaps need more than what is left"),
                Option("too_large", "no: weights and cache together are already more than the memory"),
            ),
        ),
    ),
    draw=BUDGET_DRAW,
    difficulty=3,
    minutes=8,
    importance=5,
)

L4_2 = Exercise(
    id="L4.2",
    title="The same server with INT4 weights",
    notebook=_NOTEBOOK,
    statement=(
        "The server of L4.1, {B} requests of {S} tokens on {memory_gb} GB, with its {billions} billion weights in INT4: half a "
        "byte each, the scales left aside. Nothing else changes."
    ),
    parts=(
        _gigabytes(
            "L4_2",
            "weights_gb",
            "GB of the weights in INT4",
            "A byte has 8 bits, and two INT4 weights share one.",
        ),
        _gigabytes(
            "L4_2",
            "total_gb",
            "GB of both buckets together",
            "Which of the two buckets does a weight's format touch?",
        ),
        Part(
            "fits",
            "L4_2_fits",
            "choice",
            '"T" if it fits by the formula, "F" if it does not',
            ("Compare your total with the memory.",),
            options=TRUE_OR_FALSE,
            letters="TF",
        ),
        _gigabytes(
            "L4_2",
            "headroom_gb",
            "GB left by the formula, to three significant figures",
            "The memory, minus all that lies in it now.",
            "A similar case: of 24 GB, 3.5 GB and 16 GB are taken: 4.5 GB are left.",
        ),
    ),
    draw=BUDGET_DRAW,
    difficulty=3,
    minutes=4,
    importance=5,
    builds_on=("L4.1",),
)

L4_3 = Exercise(
    id="L4.3",
    title="How many more requests?",
    notebook=_NOTEBOOK,
    statement=(
        "The server of L4.2 runs {B} requests of {S} tokens, and has memory left. How many more such requests fit, by the "
        "formula, beside the {B}?"
    ),
    parts=(
        Part(
            "extra",
            "L4_3_extra",
            "value",
            "the number of requests on top of those that run",
            (
                "What is left is shared among newcomers, and each of them brings a cache of its own.",
                "A fraction of a request cannot be served.",
                "A similar case: 10 GB are left, a request takes 3.3 GB: 3 more fit.",
            ),
            points=2,
            quantity="count",
            unit="requests",
        ),
    ),
    draw=BUDGET_DRAW,
    difficulty=3,
    minutes=3,
    importance=4,
    builds_on=("L4.1", "L4.2"),
)

EXERCISES_HERE = (L4_1, L4_2, L4_3)
