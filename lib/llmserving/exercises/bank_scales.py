"""The question bank of scales: symmetric or not, how many values share one, and what an outlier does to them."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import argument, find_the_error, true_or_false
from llmserving.exercises.draws import variant
from llmserving.exercises.exercise import Option

_NOTEBOOK = "L3/quantization"

TF5 = true_or_false(
    "TF5",
    _NOTEBOOK,
    "Symmetric quantization, with z = 0, is strictly worse than asymmetric.",
    (
        Option("always_half", "without a zero-point half of the codes go unused, whatever the values are"),
        Option("centred", "weights around zero lose no range by it, and the arithmetic is cheaper too"),
        Option("no_zero", "with z = 0 there is no code that stands for exactly the value 0"),
        Option("same_grid", "the two have the same levels for any range, so it makes no difference"),
    ),
    "Compare the two on weights around zero, then on values that are never negative.",
    "L3.groups",
    importance=2,
    variants=(
        variant("negated", "For some tensors symmetric quantization, with z = 0, is a better choice than asymmetric."),
    ),
)

SE6 = find_the_error(
    "SE6",
    _NOTEBOOK,
    "Per-tensor quantization is finer than per-channel, since its scale has seen all the values.",
    (
        Option("bits_decide", "neither is finer: only the number of bits decides how fine a step is"),
        Option("coarsest", "it is the coarsest: all the values of the tensor share one step"),
        Option("groups_coarser", "it is finer than per-channel, but groups of a row are coarser still"),
        Option("more_scales", "per-tensor stores a scale for each value, and that costs too much"),
    ),
    "How many values have to share one step, in each of the two?",
    "L3.groups",
    importance=4,
    variants=(
        variant(
            "rows",
            "One scale for the 4,096 rows of a weight is finer than a scale for each row, since it has seen all the values.",
        ),
    ),
)

WH4 = argument(
    "WH4",
    "Why groups and care with outliers at 4 bits?",
    _NOTEBOOK,
    4,
    (
        Option("clip_for_free", "An outlier can always be clipped at no cost, since it is only one weight."),
        Option("few_gaps", "Four bits leave few gaps for all the values that share a scale."),
        Option("more_bits", "A group gives the codes of its weights more bits."),
        Option("outlier_suffers", "The outlier itself is what comes back worst, being the largest."),
        Option("own_scale", "A group with a scale of its own follows its own values, so an outlier costs its group alone."),
        Option("small_ones", "The ordinary weights then fall on two or three codes, many of them on that of 0."),
        Option("stretches", "One outlier stretches the range, and with it the step of everyone in it."),
    ),
    (
        "Begin with what four bits give, then let an outlier come, then help.",
        "Who pays for an outlier: the outlier, or those who share its scale?",
    ),
    group="L3.groups",
    importance=4,
)  # fmt: skip

EXERCISES_HERE = (TF5, SE6, WH4)
