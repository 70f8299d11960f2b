"""Worked solutions of level 4: weights and cache in one GPU, the same in INT4, and the requests that come on top."""

from __future__ import annotations

from llmserving import kv_bytes, weight_bytes
from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import StepsOf, written


def _weights(n: Numbers, a: Answers, answer: str) -> str:
    return f"{n['billions']} billion weights × 2 bytes = {weight_bytes(n['parameters'], 16):,} bytes = {answer}"


def _one(n: Numbers, a: Answers, answer: str) -> str:
    size = kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"])
    return (
        "2 × B × S × L × d_model × p with B = 1:\n"
        f"2 × {n['S']:,} × {n['L']} × {n['d_model']:,} × {n['p']} bytes = {size:,} bytes = {answer}"
    )


def _both(weights: str, cache: str) -> str:
    return f"Weights and cache lie in the same memory: {weights} GB + {cache} GB"


def _extra(n: Numbers, a: Answers, answer: str) -> str:
    left, one = a["L4.2.headroom_gb"], a["L4.1.one_gb"]
    return (
        f"Of what is left, each newcomer takes one request's cache: {written(left)} GB / {written(one)} GB = "
        f"{written(left / one)}. A part of a request cannot be served, so round down: {answer}"
    )


STEPS_HERE: StepsOf = {
    "L4.1": {
        "weights_gb": _weights,
        "one_gb": _one,
        "kv_gb": lambda n, a, answer: (
            f"Each of the {n['B']} requests keeps a cache of its own: {n['B']} × {written(a['one_gb'])} GB = {answer}"
        ),
        "total_gb": lambda n, a, answer: f"{_both(written(a['weights_gb']), written(a['kv_gb']))} = {answer}",
        "headroom_gb": lambda n, a, answer: f"{n['memory_gb']} GB - {a['total_gb']:.3f} GB = {answer}",
    },
    "L4.2": {
        "weights_gb": lambda n, a, answer: (
            f"{n['parameters']:,.0f} weights × 4 bits / 8 = {weight_bytes(n['parameters'], 4):,} bytes = {answer}, a quarter "
            f"of {written(a['L4.1.weights_gb'])} GB"
        ),
        "total_gb": lambda n, a, answer: (
            f"The cache is as before. {_both(written(a['weights_gb']), written(a['L4.1.kv_gb']))} = {answer}"
        ),
        "fits": lambda n, a, answer: f"{answer} {written(a['total_gb'])} GB are less than {n['memory_gb']} GB.",
        "headroom_gb": lambda n, a, answer: f"{n['memory_gb']} GB - {a['total_gb']:.3f} GB = {answer}",
    },
    "L4.3": {"extra": _extra},
}
