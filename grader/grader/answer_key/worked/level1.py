"""Worked solutions of level 1: why each letter, in place of a line for each of the many that it is not."""

from __future__ import annotations

from grader.answer_key.worked.steps import Steps, StepsOf


def _because(why: str) -> Steps:
    return lambda n, a, answer: f"{answer} {why}"


_ONE_TOKEN = _because("The pass carries one new token: each weight is read for it alone, and the reading takes longer.")

STEPS_HERE: StepsOf = {
    "L1.1": {
        "a": lambda n, a, answer: (
            f"{answer} All {n['prompt']:,} tokens share one reading of the weights, so the arithmetic takes longer."
        ),
        "b": _ONE_TOKEN,
        "c": _ONE_TOKEN,
    },
    "L1.2": {
        "two": _because("Attention needs both of every earlier token, so each layer keeps two vectors for it."),
        "B": _because("Each request has a text of its own, and keeps the keys and values of that text."),
        "S": _because("Generated tokens are attended to as those of the prompt are, so they count too."),
        "L": _because("Each layer computes its own keys and values, from what the layer below gives it."),
        "d_model": _because("One key has a piece for every head: n_head pieces of d_head numbers are d_model numbers."),
        "p": _because("The other factors count numbers; this one turns them into bytes: 2 for FP16, 1 for INT8."),
    },
    "L1.3": {
        "paged_attention": _because("It hands memory out block by block, as tokens come, and reserves nothing ahead."),
        "int4_weights": _because("A weight of 4 bits in place of 16 is a quarter of the bytes to read, in every step."),
        "continuous_batching": _because(
            "It is about who runs: a request that ends makes way for the next one at once."
        ),
    },
}
