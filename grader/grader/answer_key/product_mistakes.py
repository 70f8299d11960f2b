"""Mistakes about how long the products of a pass take, in 16 bits and in INT8.

They look at what a draw calls `prompts`, `tokens`, `fp16_tflops` and `int8_tops`.
"""

from __future__ import annotations

from grader.answer_key.key import Formula, Misconception, times


def product_mistakes(right: Formula, reread: str) -> tuple[Misconception, ...]:
    """For a time that is computed in 16 bits."""
    return (
        Misconception(
            "one_flop_a_weight",
            times(right, 1 / 2),
            "Half of it: each weight does two operations with each token, a multiplication and an addition.",
            reread,
        ),
        Misconception(
            "one_prompt",
            times(right, lambda n, a: 1 / n["prompts"]),
            "That is for a single prompt. All the prompts go through in this pass.",
            reread,
        ),
        Misconception(
            "one_token",
            times(right, lambda n, a: 1 / n["tokens"]),
            "That is for a single token. Every token of the pass meets every weight.",
            reread,
        ),
        Misconception(
            "int8_peak",
            times(right, lambda n, a: n["fp16_tflops"] / n["int8_tops"]),
            "That is at the peak of INT8. Here the products are computed in sixteen bits.",
            reread,
        ),
    )


def int8_product_mistakes(in_16_bits: str, reread: str) -> tuple[Misconception, ...]:
    """For the same time in INT8, worked out from the part `in_16_bits`."""
    return (
        Misconception(
            "as_before",
            lambda n, a: a[in_16_bits],
            "That is the time in sixteen bits. In INT8 it is shorter.",
            reread,
        ),
        Misconception(
            "slower_in_int8",
            lambda n, a: a[in_16_bits] * n["int8_tops"] / n["fp16_tflops"],
            "Upside down: with the higher peak the same products take less time.",
            reread,
        ),
        Misconception(
            "as_bits_shrink_to_four",
            lambda n, a: a[in_16_bits] / 4,
            "That is a quarter, as if it were four bits.",
            reread,
        ),
        Misconception(
            "halved_like_the_bits",
            lambda n, a: a[in_16_bits] / 2,
            "That halves the time because the bits are half as many. What counts is how many products a second this GPU computes "
            "in either format.",
            reread,
        ),
    )
