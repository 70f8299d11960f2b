"""Keys of level 2."""

from __future__ import annotations

import math

from llmserving import GB, GiB, kv_bytes, weight_bytes
from llmserving.exercises import level2
from llmserving.exercises.draws import Numbers

from grader.answer_key.key import EXACT, THREE_FIGURES, Answers, Formula, Key, Misconception, ValueKey
from grader.answer_key.kv_mistakes import factor_mistakes
from grader.answer_key.sizes import gigabyte_mistakes

_FLOOR = "How many fit"
_WEIGHTS = "Bytes a weight"


def _kv_gb(n: Numbers, a: Answers) -> float:
    return kv_bytes(n["B"], n["S"], n["L"], n["d_model"], n["p"]) / GB


def _times_that_fit(n: Numbers, a: Answers) -> float:
    return n["budget_gb"] / (a["L2.1.kv_gb"] / n["B"])  # type: ignore[no-any-return]


def _requests(n: Numbers, a: Answers) -> float:
    return math.floor(_times_that_fit(n, a))


def _requests_of_size(factor: Formula) -> Formula:
    """Whole requests that fit when one request's size is wrong by `factor`."""

    def wrong(n: Numbers, a: Answers) -> float:
        return math.floor(_times_that_fit(n, a) / factor(n, a))

    return wrong


_REQUEST_SIZES: tuple[tuple[str, Formula, str], ...] = (
    (
        "keys_or_values_only",
        lambda n, a: 1 / 2,
        "That takes half of one request's size: keys or values alone, or one byte an element.",
    ),
    ("fp32_for_fp16", lambda n, a: 2, "That takes twice one request's size, as if an element had four bytes."),
    ("one_layer", lambda n, a: 1 / n["L"], "That takes one layer's cache for the whole request's."),
    (
        "d_head_for_d_model",
        lambda n, a: n["d_head"] / n["d_model"],
        "That takes one head's cache for the whole request's.",
    ),
    (
        "batch_for_one_request",
        lambda n, a: n["B"],
        "That divides by the cache of the whole batch. One request takes 1/B of it.",
    ),
    (
        "gib_for_gb",
        lambda n, a: GB / GiB,
        "That mixes GB and GiB. The budget is in GB, units of 10⁹ bytes; put the request's size in the same unit.",
    ),
    (
        "budget_in_gib",
        lambda n, a: GiB / GB,
        "That mixes GB and GiB: the budget was turned into GiB, but the request's size was left in GB. Use GB for both.",
    ),
    ("bits_for_bytes", lambda n, a: 8, "That takes eight times one request's size: bits, not bytes."),
)

_L2_2 = ValueKey(
    _requests,
    EXACT,
    (
        Misconception(
            "rounded_up",
            lambda n, a: math.ceil(_times_that_fit(n, a)),
            "Rounded up: only part of the last request's cache is within the budget, so it does not fit.",
            _FLOOR,
        ),
        Misconception(
            "not_floored",
            _times_that_fit,
            "The division is right, but part of a request cannot be served: give a whole number of requests.",
            _FLOOR,
        ),
        *(
            Misconception(name, _requests_of_size(factor), sentence, _FLOOR)
            for name, factor, sentence in _REQUEST_SIZES
        ),
    ),
)


def _weights_gb(bits: int) -> Formula:
    return lambda n, a: weight_bytes(n["parameters"], bits) / GB


def _carried_on(name: str, share: float) -> Formula:
    """A format's size from the learner's own FP16 size."""
    return lambda n, a: a[name] * share


def _other_bits(name: str, bits: int, sentence: str) -> Misconception:
    return Misconception(name, _weights_gb(bits), sentence, _WEIGHTS)


def _weights_key(right: Formula, *other_formats: Misconception) -> ValueKey:
    return ValueKey(right, THREE_FIGURES, (*other_formats, *gigabyte_mistakes(right)))


_SHRINK = ValueKey(
    lambda n, a: a["fp16_gb"] / a["int4_gb"],
    THREE_FIGURES,
    (
        Misconception(
            "ratio_inverted",
            lambda n, a: a["int4_gb"] / a["fp16_gb"],
            "Upside down: that is the share that is left. The question is how many times fewer bytes there are.",
            _WEIGHTS,
        ),
        Misconception(
            "shrink_of_int8",
            lambda n, a: a["fp16_gb"] / a["int8_gb"],
            "That is the step from FP16 to INT8, or INT4 counted as a whole byte. Two INT4 weights share one byte.",
            _WEIGHTS,
        ),
        Misconception(
            "share_saved",
            lambda n, a: 1 - a["int4_gb"] / a["fp16_gb"],
            "That is the share that is saved. The question is how many times fewer bytes there are.",
            _WEIGHTS,
        ),
        Misconception(
            "gigabytes_saved",
            lambda n, a: a["fp16_gb"] - a["int4_gb"],
            "That is how many GB are saved. The question is how many times fewer bytes there are: divide.",
            _WEIGHTS,
        ),
    ),
)

KEYS_HERE = (
    Key(
        level2.L2_1,
        {"kv_gb": ValueKey(_kv_gb, THREE_FIGURES, (*factor_mistakes(_kv_gb), *gigabyte_mistakes(_kv_gb)))},
    ),
    Key(level2.L2_2, {"requests": _L2_2}),
    Key(
        level2.L2_3,
        {
            "fp16_gb": _weights_key(
                _weights_gb(16),
                _other_bits("fp32_for_fp16", 32, "That counts four bytes a weight, which is FP32. FP16 takes two."),
                _other_bits("int8_for_fp16", 8, "That counts one byte a weight, which is INT8. FP16 takes two."),
            ),
            "int8_gb": _weights_key(
                _carried_on("fp16_gb", 1 / 2),
                _other_bits("fp16_for_int8", 16, "That counts two bytes a weight, which is FP16. INT8 takes one."),
                _other_bits("int4_for_int8", 4, "That counts half a byte a weight, which is INT4. INT8 takes one."),
            ),
            "int4_gb": _weights_key(
                _carried_on("fp16_gb", 1 / 4),
                _other_bits(
                    "int4_as_one_byte",
                    8,
                    "That counts a whole byte a weight. Two INT4 weights are packed into one byte, half a byte each.",
                ),
                _other_bits(
                    "fp16_for_int4", 16, "That counts two bytes a weight, which is FP16. INT4 takes half of one."
                ),
            ),
            "shrink": _SHRINK,
        },
    ),
)
