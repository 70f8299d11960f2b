"""The question bank of quantization: steps and zero-points, what lies at and beyond the ends, groups and outliers."""

from __future__ import annotations

import random

from llmserving.exercises.bank_kinds import argument, find_the_error, true_or_false
from llmserving.exercises.draws import Draw, Numbers, variant
from llmserving.exercises.exercise import Exercise, Option, Part

_NOTEBOOK = "L3/quantization"

TF7 = true_or_false(
    "TF7",
    _NOTEBOOK,
    "A model in INT4 loses exactly twice as much accuracy as in INT8.",
    (
        Option("bit_by_bit", "each bit that is lost doubles the error once, and they are lost in pairs"),
        Option("ceiling_only", "both stay within half a step of every weight, so they lose the same"),
        Option("half_the_information", "half of the bits hold half of the information, so half of it is lost"),
        Option("steps_apart", "the step grows by far more than two, and not every model bears it alike"),
    ),
    "Look back at the two steps of L3.2. How do they compare?",
    "L3.step",
    importance=4,
    variants=(
        variant("negated", "From INT8 to INT4 the rounding errors can grow to far more than twice their size."),
        variant("int3_int6", "A model in INT3 loses exactly twice as much accuracy as in INT6."),
    ),
)

SE5 = find_the_error(
    "SE5",
    _NOTEBOOK,
    "The zero-point is z = round(r_min / s).",
    (
        Option("other_end", "the end: the code 0 stands for r_max, so z is round(r_max / s)"),
        Option("product", "the division: an end of the range is multiplied by the step, s * r_min"),
        Option("sign", "the sign: the code 0 stands for r_min, so z is round(-r_min / s)"),
        Option("unrounded", "the rounding: z has to stay a fraction, or the value 0 has no code"),
    ),
    "Try the colleague's z on a small range of your own: what do its two ends and the value 0 come back as?",
    "L3.step",
    importance=3,
    variants=(
        variant("numbers", "With r_min = -0.6 and a step of s = 0.1, the zero-point is z = round(-0.6 / 0.1) = -6."),
    ),
)


def _halfway(step: float) -> Numbers:
    return {"s": step}


EC2 = Exercise(
    id="EC2",
    title="Halfway between two levels",
    notebook=_NOTEBOOK,
    statement="Two neighbouring levels are a step of s = {s} apart, and a weight lies exactly in the middle. Predict it first.",
    parts=(
        Part(
            "error",
            "EC2_error",
            "value",
            "how far what comes back is from the weight",
            (
                "It comes back as one of the two levels. How far away is each?",
                "A similar case: a weight of 3 between levels at 2 and 4 is off by 1 either way.",
            ),
            quantity="real",
        ),
    ),
    draw=Draw("EC2", _halfway(0.04), lambda rng: _halfway(rng.choice([0.02, 0.06, 0.08, 0.12, 0.16, 0.24, 0.3]))),
    difficulty=1,
    minutes=1,
    importance=4,
    group="L3.ends",
)


def _far_out(bits: int, step: float, zero_point: int, above: int, below: int) -> Numbers:
    """A range whose ends are levels, and values `above` and `below` steps beyond them."""
    last = 2**bits - 1
    return {
        "bits": bits,
        "s": step,
        "z": zero_point,
        "r_min": round(-step * zero_point, 6),
        "r_max": round(step * (last - zero_point), 6),
        "above": round(step * (last + above - zero_point), 6),
        "below": round(-step * (below + zero_point), 6),
    }


def _draw_far_out(rng: random.Random) -> Numbers:
    bits = rng.choice([3, 4, 5])
    zero_point = rng.randrange(2, 2**bits - 3)
    return _far_out(bits, rng.choice([0.05, 0.2, 0.25, 0.5]), zero_point, rng.randrange(20, 60), rng.randrange(20, 60))


def _wraps_elsewhere(n: Numbers) -> bool:
    """Wrapped around, neither value would land on a code that another mistake gives, nor on the right one."""
    last, zero = 2 ** n["bits"] - 1, n["z"]
    codes = {round(n["above"] / n["s"] + zero) % (last + 1), round(n["below"] / n["s"] + zero) % (last + 1)}
    return not codes & {0, last, zero, last - zero} and last != 2 * zero


_FAR_OUT = Draw("EC3-EC4", _far_out(4, 0.2, 5, 37, 30), _draw_far_out, _wraps_elsewhere)


def _beyond(id: str, title: str, end: str, value: str) -> Exercise:
    code_hints = (
        "Only so many codes can be stored. What happens to a value whose code would lie outside them?",
        "Round, then clip: the code becomes the nearest one that there is.",
    )
    back_hints = ("Put the code that was stored into r = s(q - z).",)
    return Exercise(
        id=id,
        title=title,
        notebook=_NOTEBOOK,
        statement=(
            "INT{bits} codes over the range from {r_min} to {r_max}: the step is {s}, the zero-point {z}. "
            f"A weight of {value} comes along, far {end}. Predict both before you run anything."
        ),
        parts=(
            Part("code", f"{id}_code", "value", "the code q that is stored", code_hints, quantity="integer"),
            Part("back", f"{id}_back", "value", "the value that comes back for it", back_hints, quantity="real"),
        ),
        draw=_FAR_OUT,
        difficulty=2,
        minutes=2,
        importance=3,
        group="L3.ends",
    )


EC3 = _beyond("EC3", "Far above the range", "above r_max", "{above}")
EC4 = _beyond("EC4", "Far below the range", "below r_min", "{below}")

WH3 = argument(
    "WH3",
    "Why round and clip, and not one alone?",
    _NOTEBOOK,
    4,
    (
        Option("clip_is_enough", "Clipping alone would do: it moves every value to the nearest level."),
        Option("clipped", "Clipped, it comes back as the end of the range, off by as much as it lay outside."),
        Option("inside", "Inside the range, rounding to the nearest level is off by half a step at most."),
        Option("outside", "Outside the range, the nearest level would have a code that does not exist."),
        Option("rounding_is_enough", "Rounding alone would do: it keeps every error below half a step."),
        Option("widened", "Clipping makes the range wider until the value fits in."),
        Option("wrapped", "Stored in b bits as it is, that code wraps around, and the value comes back far away."),
    ),
    (
        "First what rounding does where it works, then where it does not.",
        "Follow one value that lies outside: its code, what b bits make of it, and what clipping does instead.",
    ),
    group="L3.ends",
    importance=3,
)

EXERCISES_HERE = (TF7, SE5, EC2, EC3, EC4, WH3)
