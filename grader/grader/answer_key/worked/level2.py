"""Worked solutions of level 2: sizes of the KV cache and of the weights."""

from __future__ import annotations

from llmserving import kv_bytes, weight_bytes
from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import Steps, StepsOf, written


def _kv(n: Numbers, a: Answers, answer: str) -> str:
    size = kv_bytes(n["B"], n["S"], n["L"], n["d_model"], n["p"])
    return (
        "2 × B × S × L × d_model × p, with a key and a value, and all heads in d_model:\n"
        f"2 × {n['B']} × {n['S']:,} × {n['L']} × {n['d_model']:,} × {n['p']} bytes = {size:,} bytes = {answer}"
    )


def _requests(n: Numbers, a: Answers, answer: str) -> str:
    batch, one = a["L2.1.kv_gb"], a["L2.1.kv_gb"] / n["B"]
    first = (
        f"L2.1 has one request, and it takes {written(one)} GB."
        if n["B"] == 1
        else f"L2.1 has {n['B']} requests, so one takes {written(batch)} GB / {n['B']} = {written(one)} GB."
    )
    times = n["budget_gb"] / one
    return (
        f"{first}\n{n['budget_gb']} GB / {written(one)} GB = {written(times)}. Part of a request cannot be served, so "
        f"round down: {answer}"
    )


def _weights(bits: int) -> Steps:
    def steps(n: Numbers, a: Answers, answer: str) -> str:
        size = weight_bytes(n["parameters"], bits)
        return f"{n['parameters']:,} weights × {bits} bits / 8 = {size:,} bytes = {answer}"

    return steps


STEPS_HERE: StepsOf = {
    "L2.1": {"kv_gb": _kv},
    "L2.2": {"requests": _requests},
    "L2.3": {
        "fp16_gb": _weights(16),
        "int8_gb": _weights(8),
        "int4_gb": _weights(4),
        "shrink": lambda n, a, answer: (
            "What was read before, divided by what is read now: "
            f"{written(a['fp16_gb'])} GB / {written(a['int4_gb'])} GB = {answer}"
        ),
    },
}
