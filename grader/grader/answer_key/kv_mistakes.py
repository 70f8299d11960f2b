"""Mistakes about the six factors, as wrong sizes of the KV cache."""

from __future__ import annotations

from grader.answer_key.key import Formula, Misconception, times

SIX_FACTORS = "The six factors"


# name, factor by which the size comes out wrong, sentence
_FACTORS: tuple[tuple[str, Formula, str], ...] = (
    (
        "keys_or_values_only",
        lambda n, a: 1 / 2,
        "Half of the right size. Either it counts keys or values alone, where the cache keeps both for every token, or "
        "it counts one byte an element, which is INT8, where FP16 takes two.",
    ),
    (
        "fp32_for_fp16",
        lambda n, a: 2,
        "Twice the right size. Either it counts four bytes an element, which is FP32, or keys and values twice.",
    ),
    (
        "one_layer",
        lambda n, a: 1 / n["L"],
        "That is the cache of one layer. Every layer keeps keys and values of its own.",
    ),
    (
        "d_head_for_d_model",
        lambda n, a: n["d_head"] / n["d_model"],
        "That is the cache of one head. All heads keep keys and values; side by side they are d_model numbers wide.",
    ),
    (
        "heads_counted_twice",
        lambda n, a: n["n_head"],
        "That multiplies d_model by the number of heads. The hidden size holds all heads already.",
    ),
    (
        "batch_forgotten",
        lambda n, a: 1 / n["B"],
        "That is the cache of one request. Each of the B requests in the batch keeps its own.",
    ),
    (
        "one_token",
        lambda n, a: 1 / n["S"],
        "That is the cache of one token a request. Every one of the S cached tokens keeps its keys and values.",
    ),
    (
        "tokens_squared",
        lambda n, a: n["S"],
        "That grows with S squared. Each token adds the same number of bytes, so the size grows with S.",
    ),
)


def factor_mistakes(right: Formula, *, without: tuple[str, ...] = ()) -> tuple[Misconception, ...]:
    """`without`: mistakes that can never differ from right in this exercise."""
    return tuple(
        Misconception(name, times(right, factor), sentence, SIX_FACTORS)
        for name, factor, sentence in _FACTORS
        if name not in without
    )
