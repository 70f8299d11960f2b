"""Worked solutions of the cards' and the question bank's values."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import Steps, StepsOf, written


def _code(value: str, last: bool) -> Steps:
    """The code of a value far out: rounded, then clipped to the last or the first code."""

    def steps(n: Numbers, a: Answers, answer: str) -> str:
        unclipped = round(n[value] / n["s"]) + n["z"]
        end = f"the last code is 2^{n['bits']} - 1 = {2 ** n['bits'] - 1}" if last else "the first code is 0"
        return (
            f"Round: {written(n[value])} / {written(n['s'])} + {n['z']} = {unclipped}. "
            f"Clip: {end}, so what is stored is {answer}"
        )

    return steps


def _back(n: Numbers, a: Answers, answer: str) -> str:
    return f"s(q - z) = {written(n['s'])} × ({written(a['code'])} - {n['z']}) = {answer}"


def _one_token(n: Numbers, a: Answers, answer: str) -> str:
    return (
        "With S = 1 the other factors are left: a key and a value, for every request, in every layer:\n"
        f"2 × {n['B']} × 1 × {n['L']} × {n['d_model']:,} × {n['p']} = {answer}"
    )


STEPS_HERE: StepsOf = {
    "SC3": {
        "ratio": lambda n, a, answer: (
            f"The range cancels. INT{n['many']} has 2^{n['many']} - 1 = {2 ** n['many'] - 1} gaps and INT{n['few']} has "
            f"2^{n['few']} - 1 = {2 ** n['few'] - 1}: {2 ** n['many'] - 1} / {2 ** n['few'] - 1} = {answer}"
        ),
    },
    "EC1": {
        "empty": lambda n, a, answer: (
            f"{n['used']} / {n['block_size']} = {n['used'] // n['block_size']} blocks, the last one full. The next is taken "
            f"when a token needs it, not before: {answer}"
        ),
    },
    "EC2": {
        "error": lambda n, a, answer: (
            f"Either level is half a step away, the most that rounding can be off: {written(n['s'])} / 2 = {answer}"
        ),
    },
    "EC3": {"code": _code("above", last=True), "back": _back},
    "EC4": {"code": _code("below", last=False), "back": _back},
    "EC8": {"kv_bytes": _one_token},
}
