"""Key of LAB4.2: the batch at which tokens a second stop growing, what a step takes there, and where to stop."""

from __future__ import annotations

from llmserving.exercises import lab_planning_batch

from grader.answer_key.key import EXACT, THREE_FIGURES, Formula, Key, Misconception, ValueKey, times
from grader.answer_key.lab_planning_batch_choices import MAX_NUM_SEQS
from grader.answer_key.lab_planning_steps import cache_ms, fit, knee, knee_int4, rate, ridge, step_ms, weights_ms
from grader.answer_key.time_units import seconds_for_ms

_BATCH, _ROOM = "Where tokens a second stop growing", "What is left of the memory"


def _wrong(name: str, formula: Formula, sentence: str, reread: str = _BATCH) -> Misconception:
    return Misconception(name, formula, sentence, reread)


_RIDGE = ValueKey(
    ridge,
    THREE_FIGURES,
    (
        _wrong(
            "ridge_inverted",
            lambda n, a: n["bandwidth_tb"] / n["tflops"],
            "That is bytes for each FLOP. The ridge point is FLOPs for each byte.",
        ),
        _wrong(
            "another_peak",
            times(ridge, 2),
            "Twice the right size: that takes the peak for eight bits, or the one with sparsity that data sheets like to print.",
        ),
        _wrong(
            "giga_for_tera",
            times(ridge, 1000),
            "A thousand times too large: both are given in tera, which cancels.",
        ),
    ),
)
_KNEE = ValueKey(
    knee,
    THREE_FIGURES,
    (
        _wrong(
            "one_flop_a_weight",
            times(knee, 2),
            "Twice too large: each request does two FLOPs with each weight, a multiplication and an addition.",
        ),
        _wrong(
            "one_byte_a_weight",
            times(knee, 1 / 2),
            "Half of it: that takes one byte a weight, and FP16 has two.",
        ),
        _wrong(
            "memory_full_for_ridge",
            lambda n, a: n["cache_tokens"] / n["context"],
            "That is where the memory is full. The question is where the products take as long as the reading.",
        ),
        _wrong(
            "tokens_for_requests",
            times(knee, lambda n, a: 1 / n["context"]),
            "That divides by the cached tokens. Weights meet the one new token of each request, however many are cached.",
        ),
    ),
)
_KNEE_INT4 = ValueKey(
    knee_int4,
    THREE_FIGURES,
    (
        _wrong(
            "int4_arithmetic",
            lambda n, a: a["knee"],
            "That is the batch of FP16, as if four bits were also multiplied four times as fast. W4A16 multiplies in sixteen "
            "bits.",
        ),
        _wrong(
            "shift_inverted",
            lambda n, a: a["knee"] * 4,
            "The wrong way: the sooner the weights are read, the fewer requests it takes for the products to catch up.",
        ),
        _wrong("int8_for_int4", lambda n, a: a["knee"] / 2, "That is for INT8, one byte a weight."),
    ),
)
_STEP = ValueKey(
    step_ms,
    THREE_FIGURES,
    (
        _wrong(
            "caches_forgotten",
            lambda n, a: weights_ms(n),
            "That reads the weights alone. Each request's cache is read in the same step.",
        ),
        _wrong(
            "weights_for_each",
            lambda n, a: a["knee"] * (weights_ms(n) + cache_ms(n)),
            "That reads the weights again for each request. One read serves the whole batch.",
        ),
        _wrong(
            "products_added",
            lambda n, a: 2 * weights_ms(n) + a["knee"] * cache_ms(n),
            "That adds the time of the products to that of the weights. A GPU multiplies while it reads.",
        ),
        seconds_for_ms(step_ms, _BATCH),
    ),
)
_RATE = ValueKey(
    rate,
    THREE_FIGURES,
    (
        _wrong(
            "one_request",
            lambda n, a: 1e3 / a["step_ms"],
            "That is the rate of one request. Every request of the batch gets a token in the same step.",
        ),
        _wrong("per_millisecond", times(rate, 1e-3), "That is tokens for each millisecond."),
        _wrong(
            "cached_tokens_counted",
            times(rate, lambda n, a: n["context"]),
            "That counts the tokens that are read from the cache. The question is how many new ones come out.",
        ),
    ),
)
_FIT = ValueKey(
    fit,
    EXACT,
    (
        _wrong(
            "rounded_up",
            lambda n, a: fit(n, a) + 1,
            "One too many: there is room for only a part of that last request.",
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
            "max_num_seqs": MAX_NUM_SEQS,
        },
    ),
)
