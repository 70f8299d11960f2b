"""Key of LAB4.2: the batch at which tokens a second stop growing, what a step takes there, and where to stop."""

from __future__ import annotations

from llmserving.exercises import lab_planning_batch
from llmserving.exercises.draws import Numbers
from llmserving.units import format_number

from grader.answer_key.key import (
    EXACT,
    THREE_FIGURES,
    Answers,
    ChoiceKey,
    Formula,
    Key,
    Misconception,
    Trap,
    ValueKey,
    times,
)

_BATCH, _ROOM = "Where tokens a second stop growing", "What is left of the memory"


def _ridge(n: Numbers, a: Answers) -> float:
    return n["tflops"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


def _knee(n: Numbers, a: Answers) -> float:
    return a["ridge"] * 2 / 2  # bytes a weight over FLOPs a weight and request


def _knee_int4(n: Numbers, a: Answers) -> float:
    return a["knee"] / 4


def _weights_ms(n: Numbers) -> float:
    return 2 * n["billions"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


def _cache_ms(n: Numbers) -> float:
    """One request's cache."""
    return n["context"] * n["token_bytes"] / n["bandwidth_tb"] / 1e9  # type: ignore[no-any-return]


def _step_at(n: Numbers, batch: float) -> float:
    """ms with `batch` requests: the products behind the reading of the weights or in front of it, then the caches."""
    products_ms: float = 2 * n["billions"] * batch / n["tflops"]
    return max(_weights_ms(n), products_ms) + batch * _cache_ms(n)


def _step_ms(n: Numbers, a: Answers) -> float:
    return _weights_ms(n) + a["knee"] * _cache_ms(n)


def _rate(n: Numbers, a: Answers) -> float:
    return a["knee"] / a["step_ms"] * 1e3


def _fit(n: Numbers, a: Answers) -> float:
    return n["cache_tokens"] // n["context"]  # type: ignore[no-any-return]


def _wrong(name: str, formula: Formula, sentence: str, reread: str = _BATCH) -> Misconception:
    return Misconception(name, formula, sentence, reread)


_RIDGE = ValueKey(
    _ridge,
    THREE_FIGURES,
    (
        _wrong(
            "ridge_inverted",
            lambda n, a: n["bandwidth_tb"] / n["tflops"],
            "That is bytes for each FLOP. The ridge point is FLOPs for each byte.",
        ),
        _wrong(
            "another_peak",
            times(_ridge, 2),
            "Twice what it is: that is a peak in eight bits, or one with the sparsity of which data sheets are fond.",
        ),
        _wrong(
            "giga_for_tera",
            times(_ridge, 1000),
            "A thousand times too large: both are given in tera, which cancels.",
        ),
    ),
)
_KNEE = ValueKey(
    _knee,
    THREE_FIGURES,
    (
        _wrong(
            "one_flop_a_weight",
            times(_knee, 2),
            "Twice too many: a request does two FLOPs with a weight, a multiplication and an addition.",
        ),
        _wrong(
            "one_byte_a_weight",
            times(_knee, 1 / 2),
            "Half of it: that takes one byte a weight, and FP16 has two.",
        ),
        _wrong(
            "memory_full_for_ridge",
            lambda n, a: n["cache_tokens"] / n["context"],
            "That is where the memory is full. Asked is where the arithmetic becomes what a step waits for.",
        ),
        _wrong(
            "tokens_for_requests",
            times(_knee, lambda n, a: 1 / n["context"]),
            "That divides by the cached tokens. Weights meet the one new token of each request, however many are cached.",
        ),
    ),
)
_KNEE_INT4 = ValueKey(
    _knee_int4,
    THREE_FIGURES,
    (
        _wrong(
            "int4_arithmetic",
            lambda n, a: a["knee"],
            "As before: as if four bits were also multiplied four times as fast. W4A16 multiplies in sixteen bits.",
        ),
        _wrong(
            "shift_inverted",
            lambda n, a: a["knee"] * 4,
            "The wrong way: weights that are read sooner are caught up with by fewer requests.",
        ),
        _wrong("int8_for_int4", lambda n, a: a["knee"] / 2, "That is for INT8, one byte a weight."),
    ),
)
_STEP = ValueKey(
    _step_ms,
    THREE_FIGURES,
    (
        _wrong(
            "caches_forgotten",
            lambda n, a: _weights_ms(n),
            "That reads the weights alone. Each request's cache is read in the same step.",
        ),
        _wrong(
            "weights_for_each",
            lambda n, a: a["knee"] * (_weights_ms(n) + _cache_ms(n)),
            "That reads the weights again for each request. One read serves the whole batch.",
        ),
        _wrong(
            "products_added",
            lambda n, a: 2 * _weights_ms(n) + a["knee"] * _cache_ms(n),
            "That adds the time of the products to that of the weights. A GPU multiplies while it reads.",
        ),
        _wrong("seconds_for_ms", times(_step_ms, 1e-3), "The time is right, counted in seconds."),
    ),
)
_RATE = ValueKey(
    _rate,
    THREE_FIGURES,
    (
        _wrong(
            "one_request",
            lambda n, a: 1e3 / a["step_ms"],
            "That is what one request is given. Every request of the batch gets a token in the same step.",
        ),
        _wrong("per_millisecond", times(_rate, 1e-3), "That is tokens for each millisecond."),
        _wrong(
            "cached_tokens_counted",
            times(_rate, lambda n, a: n["context"]),
            "That counts the tokens that are read from the cache. Asked are those that are given.",
        ),
    ),
)
_FIT = ValueKey(
    _fit,
    EXACT,
    (
        _wrong(
            "rounded_up",
            lambda n, a: _fit(n, a) + 1,
            "One too many: there is room for a part of that request only.",
            _ROOM,
        ),
        _wrong(
            "not_floored",
            lambda n, a: n["cache_tokens"] / n["context"],
            "Requests come whole: drop what is left over.",
            _ROOM,
        ),
        _wrong(
            "tokens_for_requests",
            lambda n, a: n["cache_tokens"],
            "Those are the tokens. Each request has all of its own there.",
            _ROOM,
        ),
        _wrong(
            "blocks_for_requests",
            lambda n, a: n["cache_tokens"] // 16,
            "Those are the blocks of 16 tokens. A request takes as many of them as its tokens need.",
            _ROOM,
        ),
    ),
)


def _later(n: Numbers) -> str:
    knee, fit = _ridge(n, {}), _fit(n, {})
    return (
        f"With all that fit here, a token comes {format_number(_step_at(n, fit) / _step_at(n, knee), 2)} times as late as at "
        "that batch, and the tokens a second are the same."
    )


def _shared(n: Numbers) -> str:
    knee = _ridge(n, {})
    longer = _step_at(n, knee) / _step_at(n, 8)
    return (
        f"Here that batch gives {format_number(knee / 8 / longer, 2)} times the tokens a second of a batch of 8, in steps "
        f"{format_number(longer, 2)} times as long."
    )


_MAX_NUM_SEQS = ChoiceKey(
    "at_the_knee",
    {
        "all_that_fit": Trap(
            "memory_for_rate",
            "Memory lets requests in, and does not make them fast: past the ridge each one takes its time from the others.",
            _BATCH,
            _later,
        ),
        "few": Trap(
            "each_request_costs_alike",
            "While the weights are waited for, one more request adds its own cache and nothing else to a step.",
            _BATCH,
            _shared,
        ),
        "more_than_fit": Trap(
            "gaps_in_a_step",
            "A step has no gaps for those that do not fit: they wait, or push others out whose cache is then computed again.",
            _BATCH,
        ),
    },
)

KEYS_HERE = (
    Key(
        lab_planning_batch.LAB4_2,
        {
            "ridge": _RIDGE,
            "knee": _KNEE,
            "knee_int4": _KNEE_INT4,
            "step_ms": _STEP,
            "rate": _RATE,
            "fit": _FIT,
            "max_num_seqs": _MAX_NUM_SEQS,
        },
    ),
)
