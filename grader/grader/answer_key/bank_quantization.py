"""Keys of the question bank of quantization: steps and zero-points, and the ends of the range."""

from __future__ import annotations

from llmserving.exercises import bank_quantization as bank
from llmserving.exercises.draws import Numbers
from llmserving.quantization import dequantize, quantize

from grader.answer_key.bank_kinds import SAME, Changed, argument, choice, claim
from grader.answer_key.key import EXACT, THREE_FIGURES, Answers, Formula, Key, Misconception, ValueKey

_STEP = "The step"
_ZERO_POINT = "The zero-point"
_CEILING = "The error ceiling"
_CLIP = "Rounding and clipping"

TF7 = claim(
    bank.TF7,
    "steps_apart",
    "Count the gaps of each format: half of the bits leave far fewer than half of the gaps.",
    {
        "half_the_information": (
            "error_follows_bits",
            "Bits are not shares of precision: each one that goes takes half of the levels with it.",
        ),
        "bit_by_bit": (
            "bits_in_pairs",
            "They do not go in pairs: every single bit that goes leaves fewer than half of the gaps.",
        ),
        "ceiling_only": ("same_half_step", "Both stay within half a step, but of steps that are very different."),
    },
    _STEP,
    variants={"negated": Changed(true=True), "int3_int6": SAME},
)

SE5 = choice(
    bank.SE5,
    "sign",
    {
        "other_end": (
            "other_end",
            "The code 0 has to stand for the lower end. Put q = 0 and r = r_min into r = s(q - z).",
        ),
        "product": ("multiplied_by_step", "A code counts steps, so the end of the range is divided by the step."),
        "unrounded": (
            "zero_point_unrounded",
            "It is the other way round: z is rounded so that the value 0 has a code of its own.",
        ),
    },
    _ZERO_POINT,
    variants={"numbers": SAME},
)


def _wrong(name: str, formula: Formula, sentence: str, reread: str) -> Misconception:
    return Misconception(name, formula, sentence, reread)


EC2 = Key(
    bank.EC2,
    {
        "error": ValueKey(
            lambda n, a: n["s"] / 2,
            THREE_FIGURES,
            (
                _wrong(
                    "below_for_off",
                    lambda n, a: -n["s"] / 2,
                    "The size is right, but a distance has no sign: either level is as far away.",
                    _CEILING,
                ),
                _wrong(
                    "whole_step",
                    lambda n, a: n["s"],
                    "That is the distance from one level to the other. The weight lies in the middle.",
                    _CEILING,
                ),
                _wrong(
                    "tie_costs_nothing",
                    lambda n, a: 0,
                    "There is no level in the middle: it comes back as one of the two, and that is the worst place to lie.",
                    _CEILING,
                ),
                _wrong(
                    "quarter_step",
                    lambda n, a: n["s"] / 4,
                    "That is halved twice: the middle is as far as it can be from both levels.",
                    _CEILING,
                ),
            ),
        )
    },
)


def _far_out(value: str, end: str) -> dict[str, ValueKey]:
    """The keys of the two parts: the code that the library stores for the value, and what it gives back."""

    def code(n: Numbers, a: Answers) -> float:
        return float(quantize(n[value], n["s"], n["z"], n["bits"]))

    def back(n: Numbers, a: Answers) -> float:
        stored = quantize([n[value]], n["s"], n["z"], n["bits"])
        return round(float(dequantize(stored, n["s"], n["z"])[0]), 6)

    def unclipped(n: Numbers, a: Answers) -> float:
        return float(round(n[value] / n["s"]) + n["z"])

    def wrapped(n: Numbers, a: Answers) -> float:
        return float(unclipped(n, a) % 2 ** n["bits"])

    def value_of(formula: Formula) -> Formula:
        return lambda n, a: n["s"] * (formula(n, a) - n["z"])

    code_mistakes = [
        _wrong(
            "not_clipped", unclipped, "That is the code before clipping. There is no such code in so few bits.", _CLIP
        ),
        _wrong(
            "wraps_around",
            wrapped,
            "That is what is left of the code when its upper bits are cut off: it wraps around. Clipping prevents it.",
            _CLIP,
        ),
        _wrong(
            "zero_point_for_end",
            lambda n, a: n["z"],
            "That is the zero-point. Its code stands for the value zero.",
            _ZERO_POINT,
        ),
        _wrong(
            "zero_point_not_added",
            lambda n, a: float(round(back(n, a) / n["s"])),
            "That counts steps from the value zero. Codes count from the lower end of the range: add the zero-point.",
            _ZERO_POINT,
        ),
    ]
    back_mistakes = [
        _wrong(
            "nothing_lost",
            lambda n, a: n[value],
            "That is the weight itself. What is stored is a code, and it stands for no value outside the range.",
            _CLIP,
        ),
        _wrong(
            "wraps_around",
            value_of(wrapped),
            "That is what comes back when the code wraps around. It is clipped first.",
            _CLIP,
        ),
        _wrong("back_to_zero", lambda n, a: 0, "That is the value whose code is the zero-point.", _ZERO_POINT),
    ]
    if end == "top":
        code_mistakes += [
            _wrong(
                "levels_for_last_code",
                lambda n, a: 2 ** n["bits"],
                "That is how many codes there are. They are counted from zero, so none of them has that number.",
                _STEP,
            )
        ]
        back_mistakes += [
            _wrong(
                "zero_point_forgotten",
                lambda n, a: n["s"] * (2 ** n["bits"] - 1),
                "That is the step times the code. What a code stands for is counted from the zero-point: s(q - z).",
                _ZERO_POINT,
            )
        ]
    else:
        code_mistakes += [
            _wrong(
                "signed_code",
                lambda n, a: -(2 ** (n["bits"] - 1)),
                "That is where signed codes would begin. Here the codes begin at zero, and the zero-point is one of them.",
                _ZERO_POINT,
            )
        ]
        back_mistakes += [
            _wrong(
                "sign_lost",
                lambda n, a: -n["r_min"],
                "The sign was lost: a code below the zero-point stands for a value below zero.",
                _ZERO_POINT,
            )
        ]
    return {
        "code": ValueKey(code, EXACT, tuple(code_mistakes)),
        "back": ValueKey(back, THREE_FIGURES, tuple(back_mistakes)),
    }


EC3 = Key(bank.EC3, _far_out("above", "top"))
EC4 = Key(bank.EC4, _far_out("below", "bottom"))

WH3 = argument(
    bank.WH3,
    {"inside": (), "outside": (), "wrapped": ("outside",), "clipped": ("wrapped",)},
    {
        "clip_is_enough": (
            "clipping_rounds",
            "Clipping moves only what lies outside. A value between two levels has no code until it is rounded.",
        ),
        "rounding_is_enough": (
            "rounding_bounds_all",
            "Half a step bounds the error inside the range. Outside there are no levels to round to.",
        ),
        "widened": ("clipping_widens", "Clipping leaves the range as it is, and moves the value to its end."),
    },
    _CLIP,
)

KEYS_HERE = (TF7, SE5, EC2, EC3, EC4, WH3)
