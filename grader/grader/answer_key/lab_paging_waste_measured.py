"""Key of LAB3A.6: what the learner measured of the waste, and what is read off it."""

from __future__ import annotations

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import THREE_FIGURES, ChoiceKey, Misconception, ValueKey
from grader.answer_key.lab_keys import MeasurementKey, Slip

_RESULT = "Hold it against the prediction"


RECORDED = MeasurementKey(
    example={"requests": 150, "share_16": 0.0054, "share_256": 0.0851},
    otherwise={"requests": 80, "share_16": 0.0061, "share_256": 0.0884},
    reread=_RESULT,
    misconceptions=(
        Slip(
            "used_for_wasted",
            lambda fields: fields["share_16"] > 0.5,
            {"requests": 150, "share_16": 0.9946, "share_256": 0.9149},
            "More than half of all slots empty with blocks of 16: that is the share that holds tokens, not the empty one.",
            _RESULT,
        ),
        Slip(
            "sizes_swapped",
            lambda fields: fields["share_16"] > fields["share_256"],
            {"requests": 150, "share_16": 0.0851, "share_256": 0.0054},
            "The smaller blocks waste more in your recording than the larger ones, as if the two shares were swapped.",
            _RESULT,
        ),
        Slip(
            "one_size_twice",
            lambda fields: fields["share_16"] == fields["share_256"],
            {"requests": 150, "share_16": 0.0054, "share_256": 0.0054},
            "Both block sizes have one and the same share in your recording. Each of them is a measurement of its own.",
            _RESULT,
        ),
    ),
)

RATIO = ValueKey(
    lambda n, a: a["recorded.measured.share_256"] / a["recorded.measured.share_16"],
    THREE_FIGURES,
    (
        Misconception(
            "ratio_of_sizes",
            lambda n, a: 256 / 16,
            "That is the ratio of the block sizes. A larger tail also makes the whole larger that its share is taken of.",
            _RESULT,
        ),
        Misconception(
            "ratio_inverted",
            lambda n, a: a["recorded.measured.share_16"] / a["recorded.measured.share_256"],
            "That is the other way round. The share of the larger blocks is divided by that of the smaller ones.",
            _RESULT,
        ),
        Misconception(
            "difference_for_ratio",
            lambda n, a: a["recorded.measured.share_256"] - a["recorded.measured.share_16"],
            "That is how much larger the one share is, in parts of the whole. The question asks how many times as large it is.",
            _RESULT,
        ),
    ),
)

WHY = ChoiceKey(
    "longer",
    named_traps(
        {
            "fewer_appends": (
                "tails_from_appends",
                "Only the last block of a request can be partly full, whether its tokens came with the prompt or one by one.",
            ),
            "on_the_boundary": (
                "prompts_fit_blocks",
                "Nobody writes prompts to fit blocks. Look at the empty slots a request: they are nearly the same in both kinds.",
            ),
            "shorter_outputs": (
                "outputs_decide",
                "The outputs of code are shorter, and its prompts longer by more than that. What counts is both together.",
            ),
        },
        _RESULT,
    ),
)
