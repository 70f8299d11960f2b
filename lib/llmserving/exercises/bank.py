"""The question bank of the KV cache and the phases, levels 1 and 2: true or false, find the error, why, an edge case."""

from __future__ import annotations

from typing import Any

from llmserving.exercises.bank_kinds import find_the_error, true_or_false
from llmserving.exercises.draws import Draw, variant
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.level2 import draw_shape, shape_numbers

TF3 = true_or_false(
    "TF3",
    "L1/kv_cache",
    "The KV cache grows quadratically with the number of cached tokens.",
    (
        Option("constant", "it does not grow at all: its size is fixed when the request starts"),
        Option("layers_multiply", "each layer caches the keys of all layers below it as well"),
        Option("linear", "each new token adds the same number of bytes as the one before"),
        Option("pairs", "attention compares every token with every other, and the cache holds those pairs"),
    ),
    "How many bytes does token 1,001 add, and how many did token 11 add?",
    group="L1.cache",
    importance=5,
    variants=(
        variant("negated", "The KV cache grows in proportion to the number of cached tokens."),
        variant("nine_times", "From 2,000 to 6,000 cached tokens, the KV cache becomes nine times as large."),
        variant("four_times", "From 2,000 to 8,000 cached tokens, the KV cache becomes four times as large."),
    ),
)

SE1 = find_the_error(
    "SE1",
    "L1/kv_cache",
    "KV cache = B * S * L * d_model * p bytes.",
    (
        Option("head_width", "d_model has to be the width of one head"),
        Option("no_layers", "L does not belong there: all layers share one cache"),
        Option("square", "S has to be squared, since attention compares all pairs of tokens"),
        Option("two_missing", "the factor 2 is missing: a key and a value for every token"),
    ),
    "Count what one token leaves behind in one layer.",
    group="L1.cache",
    importance=5,
    variants=(
        variant(
            "numbers",
            "With S = 2048, L = 32, d_model = 4096 and p = 2, one request caches 2048 * 32 * 4096 * 2 bytes.",
        ),
    ),
)

SE2 = find_the_error(
    "SE2",
    "L1/kv_cache",
    "The formula uses d_head, since attention works per head.",
    (
        Option("all_heads", "every head caches, and side by side they are d_model wide"),
        Option("one_head", "right for one head, and the other heads read that head's cache"),
        Option("prefill", "right in decode; only prefill caches all heads"),
        Option("square_of_heads", "heads attend to each other, so n_head has to be squared"),
    ),
    "How many heads are there, and what does each of them store?",
    group="L1.cache",
    importance=4,
    variants=(
        variant(
            "numbers",
            "In multi-head attention with 32 heads of 128 numbers, a token leaves a key of 128 numbers in each layer.",
        ),
    ),
)

WH1 = Exercise(
    id="WH1",
    title="Why is decode memory-bound and prefill compute-bound?",
    notebook="L1/two_phases",
    statement="Build the argument: pick the four links that carry it and put them in order. The others are wrong.",
    parts=(
        Part(
            "argument",
            "WH1",
            "chain",
            "the letters of four links, in order",
            (
                "Begin with what both phases have in common, then let them part, then conclude.",
                "The phases part over one question: how much arithmetic does one weight read serve?",
            ),
            points=3,
            options=(
                Option("decode", "In decode, one pass carries one new token a request: a weight read serves very few."),
                Option("no_weights", "With a KV cache, prefill no longer has to read the weights."),
                Option("precision", "Decode runs in a slower number format than prefill."),
                Option(
                    "prefill", "In prefill, one pass carries the whole prompt: a weight read serves every token of it."
                ),
                Option("quadratic", "Decode computes the attention of all pairs of tokens again for every token."),
                Option("shared", "A forward pass reads every weight from HBM once, in either phase."),
                Option("walls", "So prefill waits for arithmetic, and decode waits for bytes."),
            ),
        ),
    ),
    draw=Draw("WH1"),
    difficulty=3,
    minutes=4,
    importance=5,
)


def _one_token(shape: Any, B: int) -> Any:
    return {**shape, "B": B, "S": 1}


EC8 = Exercise(
    id="EC8",
    title="The KV cache of a single token",
    notebook="L2/kv_size",
    statement=(
        "A model has {L} layers and a hidden size of {d_model} ({n_head} heads of {d_head}), in FP16. A batch of "
        "B = {B} has just begun: every request has S = 1 token in the cache. Predict the size before you compute it."
    ),
    parts=(
        Part(
            "kv_bytes",
            "EC8_kv_bytes",
            "value",
            "the size in bytes",
            ("Put S = 1 into the formula: which factors are left?", "One token is still kept in every layer, twice."),
            quantity="bytes",
            unit="bytes",
        ),
    ),
    draw=Draw(
        "EC8",
        _one_token(shape_numbers(32, 32), 1),
        lambda rng: _one_token(draw_shape(rng), rng.choice([2, 3, 5, 6])),
    ),
    difficulty=1,
    minutes=2,
    importance=2,
    version=2,
)

EXERCISES_HERE = (TF3, SE1, SE2, WH1, EC8)
