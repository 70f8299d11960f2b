"""What the wrong reasons of the lab of level 1 stand for."""

from __future__ import annotations

from grader.answer_key.key import Trap

_GAP, _ROOF = "Predicted and measured", "Under the roof"

REASON_TRAPS = {
    "cache_left_out": Trap(
        "already_counted",
        "The cache is already in the prediction: you counted it with the weights, and it is a small share of the bytes.",
        _GAP,
    ),
    "python_alone": Trap(
        "blames_python",
        "The arithmetic runs in compiled code. Python starts each operation, which takes microseconds of a pass of "
        "milliseconds: it is part of the gap, and the larger the model, the smaller the part. It does not outlast the reading.",
        _GAP,
    ),
    "slow_arithmetic": Trap(
        "blames_arithmetic",
        "Prefill ran on the same processor, with as many FLOPs per token, and took a fraction of the time per token. "
        "So the arithmetic can go faster; in decode it waits.",
        _GAP,
    ),
    "weights_from_disk": Trap(
        "blames_the_disk",
        "The disk was read once, when the model was loaded, before the clock started. Since then the weights have "
        "been in memory.",
        _GAP,
    ),
}

SIDE_TRAPS = {
    "left_arithmetic": Trap(
        "bound_confused",
        "The place is right. But left of the ridge the slope is above the mark, and the slope rises with bandwidth.",
        _ROOF,
    ),
    "right_arithmetic": Trap(
        "phases_swapped",
        "That is where a prefill of a long prompt belongs. Decode has far fewer FLOPs for each byte than the ridge.",
        _ROOF,
    ),
    "right_bandwidth": Trap(
        "phase_and_bound_swapped",
        "Read the mark's place and the ridge's on the axis below: which is smaller? And right of the ridge it is not "
        "bandwidth that limits.",
        _ROOF,
    ),
}

MOVE_TRAPS = {
    "faster_memory": Trap(
        "height_for_place",
        "Faster memory raises the slope, and the mark with it. Its FLOPs and its bytes stay the same, so it does not "
        "move to the right.",
        _ROOF,
    ),
    "longer_reply": Trap(
        "passes_share_reading",
        "No two passes share a reading: the next token needs the one before it, and its pass reads all the weights again.",
        _ROOF,
    ),
    "more_layers": Trap(
        "more_of_both",
        "More layers bring more arithmetic and, in proportion, more weights to read: the FLOPs for each byte stay the same.",
        _ROOF,
    ),
}
