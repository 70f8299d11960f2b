"""Keys of the parts of L4.2: the weights in INT4, and what that leaves alone."""

from __future__ import annotations

from llmserving import GB, weight_bytes
from llmserving.exercises.draws import Numbers

from grader.answer_key.budget_mistakes import (
    FITS,
    Buckets,
    earlier,
    headroom,
    headroom_mistakes,
    total_mistakes,
    total_of,
    wrong,
)
from grader.answer_key.key import THREE_FIGURES, Answers, ChoiceKey, Trap, ValueKey, times
from grader.answer_key.sizes import gigabyte_mistakes

_WEIGHTS = "Bytes a weight"
_UNTOUCHED = "What INT4 weights leave alone"

_BUCKETS = Buckets(earlier("weights_gb"), earlier("L4.1.one_gb"), earlier("L4.1.kv_gb"), earlier("total_gb"))
_total = total_of(_BUCKETS)


def _a_quarter(n: Numbers, a: Answers) -> float:
    return a["L4.1.weights_gb"] / 4


WEIGHTS = ValueKey(
    _a_quarter,
    THREE_FIGURES,
    (
        wrong(
            "int4_as_one_byte",
            times(_a_quarter, 2),
            "That counts a whole byte a weight, which is INT8. Two INT4 weights share one byte.",
            _WEIGHTS,
        ),
        wrong("as_before", times(_a_quarter, 4), "Those are the weights in FP16. Now they are in INT4.", _WEIGHTS),
        wrong(
            "saved_for_left",
            times(_a_quarter, 3),
            "That is what INT4 saves. The question is what the weights still take.",
            _WEIGHTS,
        ),
        wrong(
            "scales_counted",
            lambda n, a: weight_bytes(n["parameters"], 4, group_size=128) / GB,
            "That has a scale for each group of 128 in it. An engine stores them; the question leaves them aside.",
            _WEIGHTS,
        ),
        *gigabyte_mistakes(_a_quarter),
    ),
)


def _shrunk_total(n: Numbers, a: Answers) -> float:
    return a["weights_gb"] + a["L4.1.kv_gb"] / 4


TOTAL = ValueKey(
    _total,
    THREE_FIGURES,
    (
        wrong(
            "cache_shrinks_with_weights",
            _shrunk_total,
            "That shrinks the cache as well. Keys and values are not weights; they have a format of their own.",
            _UNTOUCHED,
        ),
        wrong(
            "as_before",
            earlier("L4.1.total_gb"),
            "That is the total with the weights in FP16. Now they take less.",
            _UNTOUCHED,
        ),
        *total_mistakes(_BUCKETS),
        *gigabyte_mistakes(_total),
    ),
)

STILL_FITS = ChoiceKey(
    "true",
    {"false": Trap("does_not_fit", "Compare your total with the memory, both in GB.", FITS)},
    carried_on=lambda n, a: "false" if a["total_gb"] > n["memory_gb"] else "true",
)

HEADROOM = ValueKey(
    headroom,
    THREE_FIGURES,
    (
        wrong(
            "cache_shrinks_with_weights",
            lambda n, a: n["memory_gb"] - _shrunk_total(n, a),
            "That shrinks the cache as well. Keys and values are not weights; they have a format of their own.",
            _UNTOUCHED,
        ),
        wrong(
            "saved_for_left",
            lambda n, a: 3 * _a_quarter(n, a),
            "That is only what the weights have given up. There was something left before, too.",
            _UNTOUCHED,
        ),
        wrong("as_before", earlier("L4.1.headroom_gb"), "That is what was left with FP16 weights.", _UNTOUCHED),
        *headroom_mistakes(_BUCKETS),
    ),
    difference=True,
)
