"""The lab of level 3, quantization: an affine quantizer, and one that has steps of their own for groups."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe

NOTEBOOK = "L3/lab_quantization"

_LIBRARY = (
    "scale_zero_point", "quantize", "dequantize", "quantize_tensor", "qparams", "pack_weight", "RoundToNearest", "quantize_rows",
    "scale_zero_point_slowly", "quantize_slowly", "dequantize_slowly",
)  # fmt: skip


def _array(*values: float) -> dict[str, list[float]]:
    return {"array": list(values)}


LAB3B_1 = Exercise(
    id="LAB3B.1",
    title="Codes and back",
    notebook=NOTEBOOK,
    statement=(
        "Write the three functions of an affine quantizer, in which a value is `scale * (code - zero_point)`. The "
        "codes are the "
        "whole numbers from 0 to 2^bits - 1. Ranges may lie on one side of 0; 0 must have a code all the same, for "
        "what is pruned "
        "and padded must come back as 0."
    ),
    parts=(
        Part(
            "step_and_zero",
            "step_and_zero",
            "function",
            "a function of a range and of the bits, which gives the scale, and the zero-point as a whole number",
            (
                "How many codes are there, and how many steps lie between the first and the last?",
                "The zero-point is the code that stands for 0. With it, the lower end of the range gets the code 0.",
                "A similar case: from -0.3 to 0.6 with 2 bits: 3 steps of 0.3; 0 lies one step above the lower end, so "
                "its code is 1.",
                "A range from 0.3 to 0.9 is stretched down to 0 first.",
            ),
            points=2,
            stub=(
                "import numpy as np\n\n\n"
                "def step_and_zero(low, high, bits):\n"
                '    """The scale and the zero-point for values from low to high."""\n'
                '    raise NotImplementedError("LAB3B.1: the scale and the zero-point")'
            ),
            probes=(
                Probe("around 0", {"low": -0.55, "high": 1.2, "bits": 4}),
                Probe("around 0", {"low": -2.1, "high": 0.8, "bits": 3}),
                Probe("one side of 0", {"low": 0.4, "high": 1.6, "bits": 4}),
                Probe("one side of 0", {"low": -1.9, "high": -0.7, "bits": 3}),
            ),
            own_work=_LIBRARY,
        ),
        Part(
            "to_codes",
            "to_codes",
            "function",
            "a function of an array, a scale, a zero-point and the bits, which gives the codes as an array of whole numbers",
            (
                "How many steps is a value away from 0, and which code stands for 0?",
                "A value is nearest to a level, above or below. Cutting off what is behind the point is another thing.",
                "A similar case: steps of 0.3, the zero-point 1, 2 bits: 0.4 is 1.33 steps up, rounded 1, code 2; 2.0 would be "
                "code 8, which 2 bits do not have.",
            ),
            points=2,
            stub=(
                "def to_codes(x, scale, zero_point, bits):\n"
                '    """The code of the level nearest to each value; a value beyond the last level gets the last."""\n'
                '    raise NotImplementedError("LAB3B.1: the codes")'
            ),
            probes=(
                Probe("inside", {"x": _array(-0.42, 0.0, 0.07, 0.55, 1.13), "scale": 0.11, "zero_point": 4, "bits": 4}),
                Probe("inside", {"x": _array(-0.9, -0.17, 0.31, 0.88), "scale": 0.3, "zero_point": 3, "bits": 3}),
                Probe("beyond", {"x": _array(-3.0, -0.29, 0.2, 5.0), "scale": 0.11, "zero_point": 4, "bits": 4}),
                Probe("beyond", {"x": _array(-1.6, 0.5, 2.03), "scale": 0.3, "zero_point": 3, "bits": 3}),
            ),
            own_work=_LIBRARY,
        ),
        Part(
            "to_values",
            "to_values",
            "function",
            "a function of an array of codes, a scale and a zero-point, which gives the values",
            (
                "Undo the steps of the codes, the last one first.",
                "A similar case: steps of 0.3, the zero-point 1: code 1 is 0, code 2 is 0.3, code 0 is -0.3.",
            ),
            points=1,
            stub=(
                "def to_values(codes, scale, zero_point):\n"
                '    """What comes back for each code."""\n'
                '    raise NotImplementedError("LAB3B.1: the values")'
            ),
            probes=(
                Probe("values", {"codes": _array(0, 4, 9, 15), "scale": 0.11, "zero_point": 4}),
                Probe("values", {"codes": _array(0, 3, 7), "scale": 0.3, "zero_point": 3}),
            ),
            own_work=_LIBRARY,
        ),
    ),
    draw=Draw("LAB3B.1"),
    difficulty=3,
    minutes=15,
    importance=5,
)

_TWO_ROWS = [[0.31, -0.82, 0.13, 0.5, 2.4, -1.7], [-0.23, 0.04, 0.47, -3.1, 0.9, 1.36]]
_WIDE = [[0.21, -0.37, 0.4, 3.3, -2.6, 0.7, 0.09], [1.9, -0.66, 0.28, -0.31, 0.17, 0.52, -0.84]]

LAB3B_2 = Exercise(
    id="LAB3B.2",
    title="A step for each group",
    notebook=NOTEBOOK,
    statement=(
        "Write `round_trip`: what a matrix of weights, one row for each output, is after it was quantized and came "
        "back. With "
        "`group_size=None` the whole matrix shares one scale and zero-point. With a number, so many neighbours in a "
        "row share "
        "one; groups begin anew in each row, and where a row does not divide into whole ones, its last group is "
        "shorter. Every "
        "range is that of the values in it, stretched to hold 0. Your three functions do the rest; call them."
    ),
    parts=(
        Part(
            "round_trip",
            "round_trip",
            "function",
            "a function of a matrix, the bits and the group size, which gives a matrix of the same shape",
            (
                "Write it for a single group first: its range, its scale, codes, values. Then ask which slices are groups.",
                "`weight[:, start : start + group_size]` holds one group of every row. Each row still has a range of "
                "its own.",
                "A similar case: rows of 5 with groups of 2 have three groups each, of 2, 2 and 1 weights.",
            ),
            points=4,
            stub=(
                "def round_trip(weight, bits, group_size=None):\n"
                '    """The weights [rows, columns] as they come back; group_size is None for one step for all."""\n'
                '    raise NotImplementedError("LAB3B.2: the round trip")'
            ),
            probes=(
                Probe("one step", {"weight": {"array": _TWO_ROWS}, "bits": 4, "group_size": None}),
                Probe("whole groups", {"weight": {"array": _TWO_ROWS}, "bits": 4, "group_size": 3}),
                Probe("whole groups", {"weight": {"array": _TWO_ROWS}, "bits": 3, "group_size": 2}),
                Probe("a shorter last group", {"weight": {"array": _WIDE}, "bits": 4, "group_size": 3}),
                Probe("a shorter last group", {"weight": {"array": _WIDE}, "bits": 3, "group_size": 5}),
            ),
            own_work=_LIBRARY,
        ),
    ),
    draw=Draw("LAB3B.2"),
    difficulty=4,
    minutes=20,
    importance=5,
)

EXERCISES_HERE = (LAB3B_1, LAB3B_2)
