"""Servers in trouble: a workload, GPUs with prices, a budget and promises, and the levers that one may move.

`CASES` are the patients of the lab; `serve(case, settings)` runs one with other settings and says what became of it.
"""

from llmserving.clinic.case import Case, Promises
from llmserving.clinic.cases import CASES, LONG_ANSWERS, LONG_PROMPTS, ONE_AT_A_TIME
from llmserving.clinic.levers import LEVERS
from llmserving.clinic.outcome import Outcome, promise_table
from llmserving.clinic.serve import run, serve, serve_each, serve_yours

__all__ = [
    "CASES", "LEVERS", "LONG_ANSWERS", "LONG_PROMPTS", "ONE_AT_A_TIME", "Case", "Outcome", "Promises", "promise_table",
    "run", "serve", "serve_each", "serve_yours",
]  # fmt: skip
