"""Formulas of LAB4.2: when the arithmetic catches up with the reading, and what a step takes with so many requests."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers


def ridge(n: Numbers, a: Answers) -> float:
    return n["tflops"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


def knee(n: Numbers, a: Answers) -> float:
    return a["ridge"] * 2 / 2  # bytes a weight over FLOPs a weight and request


def knee_int4(n: Numbers, a: Answers) -> float:
    return a["knee"] / 4


def weights_ms(n: Numbers) -> float:
    return 2 * n["billions"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


def cache_ms(n: Numbers) -> float:
    """One request's cache."""
    return n["context"] * n["token_bytes"] / n["bandwidth_tb"] / 1e9  # type: ignore[no-any-return]


def step_at(n: Numbers, batch: float) -> float:
    """ms with `batch` requests: the products behind the reading of the weights or in front of it, then the caches."""
    products_ms: float = 2 * n["billions"] * batch / n["tflops"]
    return max(weights_ms(n), products_ms) + batch * cache_ms(n)


def step_ms(n: Numbers, a: Answers) -> float:
    return weights_ms(n) + a["knee"] * cache_ms(n)


def rate(n: Numbers, a: Answers) -> float:
    return a["knee"] / a["step_ms"] * 1e3


def fit(n: Numbers, a: Answers) -> float:
    return n["cache_tokens"] // n["context"]  # type: ignore[no-any-return]
