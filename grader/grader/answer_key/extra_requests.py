"""Key of L4.3: how many more requests fit into the memory that is left."""

from __future__ import annotations

import math

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import EXACT, Answers, Formula, Misconception, ValueKey

_MORE = "How many more"


def _left(n: Numbers, a: Answers) -> float:
    return a["L4.2.headroom_gb"]


def _memory(n: Numbers, a: Answers) -> float:
    return n["memory_gb"]  # type: ignore[no-any-return]


def _requests_in(memory: Formula, factor: float = 1) -> Formula:
    """Whole requests that fit there, where one takes `factor` times what it takes."""
    return lambda n, a: math.floor(memory(n, a) / (a["L4.1.one_gb"] * factor))


def _wrong(name: str, formula: Formula, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, _MORE)


EXTRA_REQUESTS = ValueKey(
    _requests_in(_left),
    EXACT,
    (
        _wrong(
            "total_for_extra",
            lambda n, a: n["B"] + _requests_in(_left)(n, a),
            "Those are all requests together. The question is how many come on top of those that already run.",
        ),
        _wrong(
            "rounded_up",
            lambda n, a: math.ceil(_left(n, a) / a["L4.1.one_gb"]),
            "Rounded up: the last one of these has only part of its cache in the memory, so it does not fit.",
        ),
        _wrong(
            "not_floored",
            lambda n, a: _left(n, a) / a["L4.1.one_gb"],
            "The division is right, but a part of a request cannot be served: give whole requests.",
        ),
        _wrong(
            "weights_not_deducted",
            lambda n, a: _requests_in(_memory)(n, a) - n["B"],
            "That fills the memory as if the weights did not lie in it.",
        ),
        _wrong(
            "whole_memory",
            _requests_in(_memory),
            "That divides the whole memory by one request. The weights and the running requests take their part of it first.",
        ),
        _wrong(
            "left_before_or_whole_batch",
            lambda n, a: 0,
            "Zero comes out with the weights still in FP16, or where a newcomer is given the cache of the whole batch. Here the "
            "weights are in INT4, and each newcomer brings one request's cache.",
        ),
        _wrong(
            "keys_or_values_only",
            _requests_in(_left, 1 / 2),
            "That takes half of one request's size: keys or values alone, or one byte an element.",
        ),
        _wrong(
            "fp32_for_fp16",
            _requests_in(_left, 2),
            "That takes twice one request's size, as if an element had four bytes.",
        ),
        _wrong(
            "cache_shrinks_with_weights",
            _requests_in(_left, 1 / 4),
            "That gives the newcomers a cache in four bits. Keys and values do not shrink with the weights.",
        ),
    ),
)
