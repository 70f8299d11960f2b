"""The clinic's second case: long answers that fill the cache and send each other back."""

from __future__ import annotations

import random

from llmserving.clinic import LONG_ANSWERS
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.lab_clinic_parts import (
    PROMISED,
    argument_part,
    case_numbers,
    lever_part,
    levers_part,
    wall_part,
)
from llmserving.planner import plan


def _room() -> int:
    """Tokens that the cache of the case has room for, in FP16."""
    start = LONG_ANSWERS.start
    return plan(LONG_ANSWERS.model, start["gpu"], requests=1, max_num_seqs=start["max_num_seqs"]).kv_tokens or 0


def _grown(tokens: int) -> Numbers:
    return {**case_numbers(LONG_ANSWERS), "room": _room(), "grown": tokens}


def _draw(rng: random.Random) -> Numbers:
    """How long a request has grown, between the shortest and the longest of the case."""
    return _grown(rng.randrange(1_600, 3_201, 100))


_SHARE_PROMISED = 95


def _leaves_a_rest(n: Numbers) -> bool:
    """So that rounding makes a difference; and that the number is not one which the statement says, as in "95 %"."""
    held, rest = divmod(2 * n["room"], n["grown"])
    return 0.05 < rest / n["grown"] < 0.95 and held != _SHARE_PROMISED  # type: ignore[no-any-return]


LAB5A_2 = Exercise(
    id="LAB5A.2",
    title="Long answers",
    notebook="L5/lab_clinic",
    statement=(
        "`LONG_ANSWERS`: {model} on an {gpu} thinks aloud, so questions are short and answers long. By and by the server sends "
        "back requests that were running (preemption), and everybody waits. The cache has room for {room} tokens in FP16. "
        f"{PROMISED} Predict first what would fit."
    ),
    parts=(
        Part(
            "held",
            "LAB5A_2_held",
            "value",
            "how many requests of {grown} tokens each the same memory holds when the cache is kept in 8 bits",
            (
                "How many tokens fit into bytes that held a given number of them, when each takes half?",
                "A similar case: room for 10,000 tokens in FP16 is room for 20,000 in 8 bits, 8 requests of 2,400 and a rest.",
            ),
            quantity="count",
            unit="requests",
        ),
        levers_part(
            2,
            (
                "Look at the requests that are preempted: what did they have to give back, and why?",
                "Which bucket grows with each token of an answer, and which lever makes that bucket's tokens smaller?",
                "Count how many run at once when nobody waits. A limit below that makes a queue of its own.",
            ),
        ),
        wall_part(
            2,
            "what a request that is sent back has run out of",
            ("What had the server none of left when it sent a request back?",),
        ),
        lever_part(
            2,
            ("Two of them make room. Compare how much, with the sizes of the two buckets in mind.",),
            (
                Option("int4", "W4A16 weights"),
                Option("kv_int8", "an 8-bit cache"),
                Option("more", "more at once"),
                Option("watermark", "a 10 % watermark"),
            ),
        ),
        argument_part(
            2,
            ("Begin with what an answer takes as it grows.",),
            (
                Option("fit", "So all who run fit until their answers end, and nothing is computed twice."),
                Option("full", "The pool runs full, and some are sent back, to compute again what they had."),
                Option("grow", "Each answer takes block after block, for the key and value of each new token."),
                Option("half", "In eight bits a token takes half the bytes, and the pool holds twice as many."),
                Option("prompts", "Most of the pool is taken by prompts, which are there before any answer begins."),
                Option("smaller", "Weights of fewer bits leave smaller keys and values, so each answer takes less."),
                Option("sooner", "The more run at once, the sooner each is done and gives its blocks back."),
            ),
        ),
    ),
    draw=Draw("LAB5A.2", _grown(2_400), _draw, _leaves_a_rest),
    difficulty=5,
    minutes=20,
    importance=4,
    version=2,
)
