"""Keys of level 4: a server that fits by a hair, the same with INT4 weights, and the requests that then fit beside."""

from __future__ import annotations

from llmserving import GB, MODELS, kv_bytes, weight_bytes
from llmserving.exercises import level4
from llmserving.exercises.draws import Numbers
from llmserving.overheads import activation_bytes, other_bytes
from llmserving.units import format_bytes, format_number

from grader.answer_key import int4_budget
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
from grader.answer_key.extra_requests import EXTRA_REQUESTS
from grader.answer_key.key import (
    THREE_FIGURES,
    TWO_DECIMALS,
    Answers,
    ChoiceKey,
    Formula,
    Key,
    Trap,
    ValueKey,
    times,
)
from grader.answer_key.kv_mistakes import SIX_FACTORS, factor_mistakes
from grader.answer_key.sizes import gigabyte_mistakes

_WEIGHTS = "Bytes a weight"
_ENGINE = "What an engine keeps beside them"

_FP16 = Buckets(earlier("weights_gb"), earlier("one_gb"), earlier("kv_gb"), earlier("total_gb"))
_total = total_of(_FP16)


def _weights_gb(bits: int) -> Formula:
    return lambda n, a: weight_bytes(n["parameters"], bits) / GB


def _one_gb(n: Numbers, a: Answers) -> float:
    return kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"]) / GB


def _kv_gb(n: Numbers, a: Answers) -> float:
    return n["B"] * a["one_gb"]  # type: ignore[no-any-return]


def _engine_keeps(n: Numbers) -> str:
    """What of this memory an engine never gives to the two buckets: not the headroom, which is another part's answer."""
    beside = activation_bytes(MODELS["course-13b"]) + other_bytes(1)
    return (
        f"Of {n['memory_gb']} GB an engine with its usual settings hands out {format_number(0.9 * n['memory_gb'])} GB, and "
        f"{format_bytes(beside)} of that are activations and the CUDA context."
    )


_ONE = ValueKey(
    _one_gb,
    THREE_FIGURES,
    (
        wrong(
            "batch_for_one",
            times(_one_gb, lambda n, a: n["B"]),
            "That is the cache of the whole batch. The question is what one request takes of it.",
            SIX_FACTORS,
        ),
        *factor_mistakes(_one_gb, without=("batch_forgotten",)),
        *gigabyte_mistakes(_one_gb),
    ),
)

_KV = ValueKey(
    _kv_gb,
    THREE_FIGURES,
    (
        wrong(
            "weights_counted",
            lambda n, a: _kv_gb(n, a) + a["weights_gb"],
            "That has the weights in it as well. They are the other bucket.",
            FITS,
        ),
        *factor_mistakes(_kv_gb, without=("tokens_squared",)),
        *gigabyte_mistakes(_kv_gb),
    ),
)

_FP16_WEIGHTS = ValueKey(
    _weights_gb(16),
    THREE_FIGURES,
    (
        wrong("fp32_for_fp16", _weights_gb(32), "That counts four bytes a weight, FP32. FP16 takes two.", _WEIGHTS),
        wrong("int8_for_fp16", _weights_gb(8), "That counts one byte a weight, INT8. FP16 takes two.", _WEIGHTS),
        wrong(
            "int4_for_fp16", _weights_gb(4), "That counts half a byte a weight, INT4. FP16 takes two bytes.", _WEIGHTS
        ),
        *gigabyte_mistakes(_weights_gb(16)),
    ),
)

_DEPLOY = ChoiceKey(
    "needs_more",
    {
        "by_formula": Trap(
            "fits_by_formula",
            "The formula counts two buckets, and an engine has more to keep in the same memory.",
            _ENGINE,
            _engine_keeps,
        ),
        "full_is_slow": Trap(
            "full_memory_is_slow",
            "A decode step reads weights and cache; the bytes that lie beside them, free or not, cost it no time.",
            _ENGINE,
        ),
        "too_large": Trap(
            "over_by_formula",
            "Add the two buckets once more, both in GB, and compare the sum with the memory.",
            FITS,
        ),
    },
    carried_on=lambda n, a: "too_large" if a["total_gb"] > n["memory_gb"] else "needs_more",
)


KEYS_HERE = (
    Key(
        level4.L4_1,
        {
            "weights_gb": _FP16_WEIGHTS,
            "one_gb": _ONE,
            "kv_gb": _KV,
            "total_gb": ValueKey(_total, THREE_FIGURES, (*total_mistakes(_FP16), *gigabyte_mistakes(_total))),
            "headroom_gb": ValueKey(headroom, TWO_DECIMALS, headroom_mistakes(_FP16), difference=True),
            "deploy": _DEPLOY,
        },
    ),
    Key(
        level4.L4_2,
        {
            "weights_gb": int4_budget.WEIGHTS,
            "total_gb": int4_budget.TOTAL,
            "fits": int4_budget.STILL_FITS,
            "headroom_gb": int4_budget.HEADROOM,
        },
    ),
    Key(level4.L4_3, {"extra": EXTRA_REQUESTS}),
)
