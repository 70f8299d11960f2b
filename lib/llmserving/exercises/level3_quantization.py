"""Level 3, analysis: what a bit less costs."""

from __future__ import annotations

import random

from llmserving.exercises.bank_kinds import TRUE_OR_FALSE
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part


def range_numbers(r_min: float, r_max: float) -> Numbers:
    return {"r_min": r_min, "r_max": r_max}


def _draw_range(rng: random.Random) -> Numbers:
    return range_numbers(-rng.randrange(2, 21) / 10, rng.randrange(2, 26) / 10)


def _range_holds_zero_and_leans(n: Numbers) -> bool:
    """One end lies clearly further out, and no end gives a step or a ceiling away."""
    low, high = -n["r_min"], n["r_max"]
    told = {round((low + high) / 15, 3), round((low + high) / 30, 3)} & {low, high}
    return 1.25 <= max(low, high) / min(low, high) <= 4 and low + high >= 1 and not told


_STEP_HINTS = (
    "How many values can that many bits tell apart, and how many gaps lie between them?",
    "The step is the width of the range, from its lower end to its upper end, divided by the number of gaps.",
    "A similar case: 2 bits over a range from -0.3 to 0.6: 4 values, 3 gaps, a step of 0.9 / 3 = 0.3.",
)
_CEILING_HINTS = (
    "A value lies between two levels. How far can the nearer one be?",
    "A similar case: levels at 0.3 and 0.6; from the middle between them it is as far to either.",
)
_TWICE_HINTS = ("Look at what you found for the two steps and for the two ceilings.",)

L3_2 = Exercise(
    id="L3.2",
    title="Eight bits, four bits",
    notebook="L3/quantization",
    statement=(
        "Weights lie between r_min = {r_min} and r_max = {r_max}. They are quantized over this whole range, once in INT8 "
        "and once in INT4, each value rounded to the nearest level."
    ),
    parts=(
        Part("int8_step", "L3_2_int8_step", "value", "the step of INT8", _STEP_HINTS, quantity="real"),
        Part("int4_step", "L3_2_int4_step", "value", "the step of INT4", _STEP_HINTS, quantity="real"),
        Part(
            "ratio",
            "L3_2_ratio",
            "value",
            "how many times larger the step of INT4 is",
            ("Divide the two steps. What cancels?", "A similar case: steps of 0.3 and 0.06 are 5 times apart."),
            quantity="ratio",
        ),
        Part("int8_ceiling", "L3_2_int8_ceiling", "value", "the largest rounding error in INT8", _CEILING_HINTS,
             quantity="real"),
        Part("int4_ceiling", "L3_2_int4_ceiling", "value", "the largest rounding error in INT4", _CEILING_HINTS,
             quantity="real"),
        Part("twice", "L3_2_twice", "choice", 'is "half the bits, so INT4 is twice as bad" right? "T" or "F"', _TWICE_HINTS,
             options=TRUE_OR_FALSE, letters="TF"),
        Part(
            "reason",
            "L3_2_reason",
            "choice",
            "the letter of the reason",
            _TWICE_HINTS,
            options=(
                Option("gaps", "steps and ceilings grow as the gaps, 2^b - 1 of them, become fewer"),
                Option("half_the_bits", "the error grows as the bits shrink, and there are half as many"),
                Option("rounding_saves", "the steps lie further apart than that, but rounding halves the error again"),
                Option("squared", "the error counts squared, so the factor is two times two, which is four"),
            ),
        ),
    ),
    draw=Draw("L3.2", range_numbers(-0.6, 0.9), _draw_range, _range_holds_zero_and_leans),
    difficulty=3,
    minutes=7,
    importance=5,
)  # fmt: skip

EXERCISES_HERE = (L3_2,)
