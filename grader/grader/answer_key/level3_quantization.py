"""Key of L3.2: steps, their ratio, and the errors that they allow. The slip of 2^b for 2^b - 1 is within rounding at INT8, so
it is judged by the step of INT4 and by the ratio, which stays wrong where it follows from that slip.
"""

from __future__ import annotations

from llmserving.exercises import level3_quantization
from llmserving.exercises.draws import Numbers
from llmserving.quantization import scale_zero_point

from grader.answer_key.key import THREE_FIGURES, ChoiceKey, Formula, Key, Misconception, Trap, ValueKey

_STEP = "The step"
_CEILING = "The error ceiling"


def _wrong(name: str, formula: Formula, sentence: str, reread: str = _STEP, *, also: bool = False) -> Misconception:
    return Misconception(name, formula, sentence, reread, also)


def _step(bits: int) -> Formula:
    return lambda n, a: scale_zero_point(n["r_min"], n["r_max"], bits)[0]


def _width(n: Numbers) -> float:
    return n["r_max"] - n["r_min"]  # type: ignore[no-any-return]


def _step_mistakes(bits: int, other: int) -> tuple[Misconception, ...]:
    gaps = 2**bits - 1
    return (
        _wrong(
            "absmax_scale",
            lambda n, a: max(-n["r_min"], n["r_max"]) / (2 ** (bits - 1) - 1),
            "That is max|r| over half of the codes, the step of a symmetric quantizer. Here the codes cover the range from "
            "r_min to r_max, and no more.",
        ),
        _wrong(
            "one_end",
            lambda n, a: n["r_max"] / gaps,
            "That takes r_max for the width of the range. The range begins at r_min, below zero.",
        ),
        _wrong(
            "ends_added",
            lambda n, a: abs(n["r_max"] + n["r_min"]) / gaps,
            "A sign was lost: the width of the range is r_max - r_min, and r_min is below zero.",
        ),
        _wrong(
            "ends_swapped",
            lambda n, a: -_width(n) / gaps,
            "A step is positive. The width of the range is the upper end less the lower.",
        ),
        _wrong(
            "bits_for_gaps",
            lambda n, a: _width(n) / bits,
            "That divides the range by the number of bits. So many bits tell far more values apart than that.",
        ),
        _wrong(
            "signed_codes",
            lambda n, a: _width(n) / (2 ** (bits - 1) - 1),
            "That spreads only half of the codes over the range. All 2^b of them are levels, with a gap from each to the next.",
        ),
        _wrong(
            "half_a_step",
            lambda n, a: _width(n) / gaps / 2,
            "That is half a step, the largest rounding error. The step is from one level to the next.",
        ),
        _wrong("other_format", lambda n, a: _step(other)(n, a), f"That is the step of INT{other}."),
    )


_RATIO = ValueKey(
    lambda n, a: a["int4_step"] / a["int8_step"],
    THREE_FIGURES,
    (
        _wrong(
            "ratio_of_bits",
            lambda n, a: 8 / 4,
            "That is the ratio of the bits. Each bit less halves the number of values, so the gaps go as a power of two.",
        ),
        _wrong(
            "ratio_of_levels",
            lambda n, a: 2**8 / 2**4,
            "That is the ratio of the numbers of values. Between so many values there is one gap fewer, and the steps go as "
            "the gaps.",
            also=True,
        ),
        _wrong(
            "ratio_inverted",
            lambda n, a: a["int8_step"] / a["int4_step"],
            "Upside down: that is how many times smaller the step of INT8 is.",
        ),
        _wrong(
            "absmax_ratio",
            lambda n, a: (2**7 - 1) / (2**3 - 1),
            "That is the ratio for symmetric codes, which use half as many for either side.",
        ),
        _wrong(
            "steps_subtracted",
            lambda n, a: a["int4_step"] - a["int8_step"],
            "That is the difference of the two steps. The question asks how many times larger one is: divide.",
        ),
    ),
)


def _ceiling(step: str, other: str) -> ValueKey:
    return ValueKey(
        lambda n, a: a[step] / 2,
        THREE_FIGURES,
        (
            _wrong(
                "whole_step",
                lambda n, a: a[step],
                "That is the whole step. A value between two levels goes to the nearer one.",
                _CEILING,
            ),
            _wrong(
                "quarter_step",
                lambda n, a: a[step] / 4,
                "That is halved twice. The error is largest in the middle between two levels.",
                _CEILING,
            ),
            _wrong(
                "half_the_range",
                lambda n, a: _width(n) / 2,
                "That is half of the whole range. There are levels all along it, a step apart.",
                _CEILING,
            ),
            _wrong(
                "other_format", lambda n, a: a[other] / 2, "That belongs to the other of the two formats.", _CEILING
            ),
        ),
    )


_LEVELS_FOR_GAPS = _wrong(
    "levels_for_gaps",
    lambda n, a: _width(n) / 2**4,
    "That divides by the number of values. Between so many values there is one gap fewer, as between the posts of a fence.",
)

_TWICE = ChoiceKey(
    "false",
    {
        "true": Trap(
            "twice_as_bad", "Compare the two ceilings that you found: the one is not twice the other.", _CEILING
        )
    },
)
_REASON = ChoiceKey(
    "gaps",
    {
        "half_the_bits": Trap(
            "error_follows_bits",
            "Bits are not shares of precision: each one that goes leaves fewer than half of the gaps. Count them.",
            _STEP,
        ),
        "rounding_saves": Trap(
            "rounding_for_one_only",
            "The ceiling is half a step in either format, so the ceilings are as far apart as the steps.",
            _CEILING,
        ),
        "squared": Trap(
            "error_squared",
            "Nothing is squared here: the error of one weight grows with the step itself, and the step with the gaps lost.",
            _STEP,
        ),
    },
)

KEYS_HERE = (
    Key(
        level3_quantization.L3_2,
        {
            "int8_step": ValueKey(_step(8), THREE_FIGURES, _step_mistakes(8, other=4)),
            "int4_step": ValueKey(_step(4), THREE_FIGURES, (_LEVELS_FOR_GAPS, *_step_mistakes(4, other=8))),
            "ratio": _RATIO,
            "int8_ceiling": _ceiling("int8_step", "int4_step"),
            "int4_ceiling": _ceiling("int4_step", "int8_step"),
            "twice": _TWICE,
            "reason": _REASON,
        },
    ),
)
