"""Keys of the question bank of scales: symmetric or not, groups and outliers."""

from __future__ import annotations

from llmserving.exercises import bank_scales as scales

from grader.answer_key.bank_kinds import SAME, Changed, argument, choice, claim

_GROUPS = "Groups and outliers"
_MODES = "Symmetric and asymmetric"

TF5 = claim(
    scales.TF5,
    "centred",
    "Think of what a zero-point would gain for weights around zero, and of what it would cost.",
    {
        "always_half": (
            "half_always_unused",
            "Half of the codes go unused where all values have one sign. Around zero both halves are used.",
        ),
        "no_zero": ("zero_has_no_code", "With z = 0 the code of the value 0 is 0, exactly."),
        "same_grid": (
            "modes_are_equal",
            "For a one-sided range the levels differ by a factor of two: a symmetric grid lays half of them where no value is.",
        ),
    },
    _MODES,
    variants={"negated": Changed(true=True)},
)

SE6 = choice(
    scales.SE6,
    "coarsest",
    {
        "bits_decide": (
            "only_bits_count",
            "With the same bits, the step still depends on the range, and a channel's range is never wider than the tensor's.",
        ),
        "groups_coarser": (
            "groups_are_coarser",
            "A group is a part of a row, so its range is no wider than the row's, and its step no larger.",
        ),
        "more_scales": ("scale_for_each_value", "Per-tensor stores a single scale, the fewest that there can be."),
    },
    _GROUPS,
    variants={"rows": SAME},
)

WH4 = argument(
    scales.WH4,
    {"few_gaps": (), "stretches": (), "small_ones": ("few_gaps", "stretches"), "own_scale": ("small_ones",)},
    {
        "clip_for_free": (
            "outliers_do_not_matter",
            "Outliers are few, but they carry much of what a layer does: clipping one is a large error on a large product.",
        ),
        "more_bits": ("groups_add_bits", "The codes keep their bits. What a group adds is a scale of its own."),
        "outlier_suffers": (
            "outlier_pays",
            "The outlier is the end of the range and comes back well. Those who share its step pay.",
        ),
    },
    _GROUPS,
)

KEYS_HERE = (TF5, SE6, WH4)
