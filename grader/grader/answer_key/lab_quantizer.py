"""Key of the quantization lab's own quantizer: the affine codes, and a step for each group."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_quantizer
from llmserving.exercises.exercise import Probe

from grader.answer_key import lab_groups_written as groups
from grader.answer_key import lab_quantizer_written as made
from grader.answer_key.key import Key, Tolerance
from grader.answer_key.lab_keys import FunctionKey, Wrong

_RANGE, _CODES, _GROUPS = "A scale and a zero-point", "Codes", "Who shares a step"
_ALMOST = Tolerance(
    1e-4, "float32 and the order of the arithmetic change the last digits, and no code of the probes", 1e-9
)

_WRONG_RANGES = (
    Wrong("levels_for_gaps", made.levels_for_gaps,
          "That divides the range by the number of codes. Between so many codes there is one step fewer.", _RANGE),
    Wrong("sign_of_zero_point", made.sign_of_zero_point,
          "The zero-point has the wrong sign. It is the code of 0, and no code is below 0.", _RANGE),
    Wrong("zero_point_not_rounded", made.zero_point_not_rounded,
          "The zero-point is not whole. It is a code, and 0 has to come back as 0 exactly: round it.", _RANGE),
    Wrong("zero_point_cut", made.zero_point_cut,
          "The zero-point is cut off behind the point. Round it to the nearest code, or the range is off by up to a "
          "step.", _RANGE),
    Wrong("range_without_zero", made.range_as_it_is,
          "Ranges on one side of 0 are taken as they are, and 0 then lies beyond the codes. Stretch the range to hold "
          "it.", _RANGE),
    Wrong("symmetric_for_asymmetric", made.symmetric,
          "That is symmetric quantization: max|r| over half of the codes. Here the codes run from one end of the range "
          "to the "
          "other.", _RANGE),
    Wrong("step_upside_down", made.upside_down,
          "The scale is upside down: that is how many steps fit into 1. The scale is how long one step is.", _RANGE),
)  # fmt: skip

_WRONG_CODES = (
    Wrong("not_clipped", made.not_clipped,
          "Values beyond the last level get codes that so many bits do not have. Clip them to the first and the "
          "last.", _CODES),
    Wrong("wrapped_around", made.wrapped,
          "Codes that do not fit wrap around, so that a large value comes back as a small one. Clip them.", _CODES),
    Wrong("toward_zero", made.toward_zero,
          "That cuts off what is behind the point, toward zero, where the nearest level may be the next one. Errors "
          "reach a whole "
          "step, and not half of one.", _CODES),
    Wrong("rounded_down", made.rounded_down,
          "That always takes the level below, as `//` does. The nearest may be the one above; errors reach a whole "
          "step.", _CODES),
    Wrong("zero_point_taken_off", made.zero_point_taken_off,
          "The zero-point is taken off, where codes are made by adding it: the code of 0 is the zero-point.", _CODES),
    Wrong("clipped_too_early", made.clipped_too_early,
          "That clips before the zero-point is added, so that every value below 0 becomes 0. Clip codes, and not "
          "steps.", _CODES),
    Wrong("signed_codes", made.signed_codes,
          "That clips to signed codes, half of them below 0. With a zero-point, codes begin at 0.", _CODES),
    Wrong("one_code_too_many", made.one_code_too_many,
          "The last code is one too high: of 2^bits codes that begin at 0, the last is one less than their number.", _CODES),
)  # fmt: skip

_WRONG_VALUES = (
    Wrong("zero_point_added", made.zero_point_added,
          "The zero-point is added once more. It was added to make the codes, and has to come off.", _CODES),
    Wrong("zero_point_forgotten", made.zero_point_forgotten,
          "The zero-point is left in: its own code must come back as 0.", _CODES),
    Wrong("scaled_too_early", made.scaled_too_early,
          "That takes the zero-point off after scaling. It is a code, a number of steps: take it off the codes.", _CODES),
    Wrong("divided_by_scale", made.divided,
          "That divides by the scale. A code counts steps, and a step is as long as the scale: multiply.", _CODES),
)  # fmt: skip

_WRONG_GROUPS = (
    Wrong("one_step_for_all", groups.one_step_for_all,
          "All groups get the step of the whole matrix. Each group has a range of its own.", _GROUPS),
    Wrong("a_step_a_row", groups.a_step_a_row,
          "That is a step for each row, whatever `group_size` says. A row has several groups.", _GROUPS),
    Wrong("wrong_axis", groups.down_the_columns,
          "Those groups run down the columns. Neighbours in a row share a step: they meet in one output's sum.", _GROUPS),
    Wrong("rows_share_a_group", groups.rows_share_a_group,
          "The groups are cut out of the columns rightly, but all rows share their step. Each row has groups of its "
          "own.", _GROUPS),
    Wrong("first_group_s_step", groups.first_group_s_step,
          "The first group's scale and zero-point serve the whole row. Take a range for each group.", _GROUPS),
    Wrong("so_many_groups", groups.so_many_groups,
          "That cuts a row into `group_size` groups. It is the number of weights in one.", _GROUPS),
    Wrong("rest_left_alone", groups.rest_left_alone,
          "Weights after the last whole group come back as they were, not quantized. They are a shorter group.", _GROUPS),
    Wrong("rest_dropped", groups.rest_dropped,
          "Weights after the last whole group are gone, and the matrix is narrower. They are a shorter group.", _GROUPS),
    Wrong("across_rows", groups.across_rows,
          "Where a row does not divide into whole groups, a group runs on into the next row. Groups begin anew in each "
          "row.", _GROUPS),
    Wrong("rest_joined", groups.rest_joined,
          "The rest of a row is put into its last whole group, which becomes longer. It is a shorter group of its "
          "own.", _GROUPS),
)  # fmt: skip


def _ranges(rng: random.Random) -> Iterator[Probe]:
    """Ends on a grid of steps and a bit, so that no zero-point lies next to a tie."""
    for group, below, above in (("around 0", 1, 1), ("one side of 0", 0, 1), ("one side of 0", 1, 0)):
        bits = rng.choice([3, 4, 5])
        step, gaps = rng.randrange(5, 60) / 100, 2**bits - 1
        low_steps = rng.randrange(2, gaps - 2) + rng.choice([0.3, 0.4, 0.6, 0.7])
        low, high = -step * low_steps, step * (gaps - low_steps)
        if not below:
            low, high = step * 0.4, step * gaps
        if not above:
            low, high = -step * gaps, -step * 0.4
        yield Probe(group, {"low": round(low, 6), "high": round(high, 6), "bits": bits})


def _values(rng: random.Random) -> Iterator[Probe]:
    bits = rng.choice([3, 4, 5])
    scale, zero, last = rng.randrange(10, 90) / 100, rng.randrange(2, 2**bits - 3), 2**bits - 1

    def value(code: int) -> float:
        return round(scale * (code - zero + rng.choice([-0.4, -0.3, 0.2, 0.3, 0.4])), 6)

    def probe(group: str, codes: list[int]) -> Probe:
        return Probe(
            group, {"x": {"array": [value(code) for code in codes]}, "scale": scale, "zero_point": zero, "bits": bits}
        )

    yield probe("inside", [1, zero - 1, zero + 1, *(rng.randrange(1, last) for _ in range(3)), last - 1])
    yield probe("beyond", [-zero - 3, zero + 1, last + 1, last + rng.randrange(3, 9)])


def _codes(rng: random.Random) -> Iterator[Probe]:
    codes = [float(rng.randrange(0, 32)) for _ in range(4)]
    zero, scale = rng.randrange(2, 30), rng.randrange(12, 90) / 100
    yield Probe("values", {"codes": {"array": codes}, "scale": scale, "zero_point": zero})


def _matrices(rng: random.Random) -> Iterator[Probe]:
    """Groups are of other sizes than a row has of them, and no two of one magnitude, so that the mistakes part."""

    def matrix(rows: int, columns: int) -> dict[str, list[list[float]]]:
        sizes = [[rng.choice([0.4, 1.0, 2.5]) for _ in range(columns)] for _ in range(rows)]
        return {"array": [[round(rng.gauss(0, size), 3) or 0.1 for size in row] for row in sizes]}

    yield Probe("one step", {"weight": matrix(3, 7), "bits": rng.choice([3, 4]), "group_size": None})
    yield Probe("whole groups", {"weight": matrix(4, 12), "bits": 4, "group_size": rng.choice([2, 4, 6])})
    yield Probe("a shorter last group", {"weight": matrix(3, 13), "bits": 4, "group_size": rng.choice([3, 5])})


KEYS_HERE = (
    Key(
        lab_quantizer.LAB3B_1,
        {
            "step_and_zero": FunctionKey(
                made.step_and_zero, made.from_the_top, {"around 0": 1, "one side of 0": 1}, _ranges, _WRONG_RANGES, _RANGE,
                _ALMOST,
            ),
            "to_codes": FunctionKey(
                made.to_codes, made.one_by_one, {"inside": 1, "beyond": 1}, _values, _WRONG_CODES, _CODES, _ALMOST
            ),
            "to_values": FunctionKey(
                made.to_values, made.value_by_value, {"values": 1}, _codes, _WRONG_VALUES, _CODES, _ALMOST
            ),
        },
    ),
    Key(
        lab_quantizer.LAB3B_2,
        {
            "round_trip": FunctionKey(
                groups.round_trip,
                groups.in_slices,
                {"one step": 1, "whole groups": 2, "a shorter last group": 1},
                _matrices,
                _WRONG_GROUPS,
                _GROUPS,
                _ALMOST,
            )
        },
    ),
)  # fmt: skip
