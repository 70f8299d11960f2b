"""The lab of level 3, paging: what blocks of a size waste on requests as real ones are, predicted and then measured."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Field, Option, Part
from llmserving.scheduling.workload_statistics import PUBLISHED

POWERS = tuple(2**power for power in range(14))


def tail_share(mean: float, block_size: float) -> float:
    """The part of the held slots that is empty, where every fill of the last block is equally likely."""
    tail = (block_size - 1) / 2
    return tail / (mean + tail)


def waste_numbers(kind: str, small: int, large: int, max_len: int, percent: int) -> Numbers:
    """mean: tokens in the cache when a request ends. Its last token is never taken in, so it is not there."""
    published = PUBLISHED[kind]
    mean = round(published.prompt.mean + published.output.mean - 1)
    return {"kind": kind, "mean": mean, "small": small, "large": large, "max_len": max_len, "percent": percent}


def _draw(rng: random.Random) -> Numbers:
    return waste_numbers(
        rng.choice(["code", "conversation"]), rng.choice([8, 16, 32]), rng.choice([256, 512]),
        rng.choice([16384, 32768]), rng.choice([2, 3, 4, 5, 6, 8]),
    )  # fmt: skip


def _no_size_is_at_the_limit(n: Numbers) -> bool:
    return all(abs(100 * tail_share(n["mean"], size) / n["percent"] - 1) > 0.05 for size in POWERS)


LAB3A_5 = Exercise(
    id="LAB3A.5",
    title="Predict the waste",
    notebook="L3/lab_paging",
    statement=(
        "In Azure's {kind} trace of 2023 a request has, on average, {mean} tokens in the cache when it ends. Suppose that its "
        "last block is equally likely to hold 1 token, 2, 3 and so on, up to all that it can hold. A share is the empty part "
        "of the slots held, over all requests together. Predict, before anything is run:"
    ),
    parts=(
        Part(
            "reserved",
            "LAB3A_5_reserved",
            "value",
            "the share where {max_len} slots are reserved for each request",
            ("What is held and holds no token, divided by what is held.",
             "A similar case: 400 tokens in 1,000 slots leave 600 empty, a share of 0.6."),
            quantity="fraction",
        ),
        Part(
            "tail",
            "LAB3A_5_tail",
            "value",
            "how many slots a request leaves empty, on average, with blocks of {small}",
            ("Write down how many slots are empty if the last block holds 1 token, 2 tokens, and so on. What is the mean?",
             "A similar case: a last block of 4 leaves 3, 2, 1 or 0 empty: 1.5 on average."),
            quantity="real",
            unit="tokens",
        ),
        Part(
            "share",
            "LAB3A_5_share",
            "value",
            "the share with blocks of {large}",
            ("Take the mean tail of such blocks, and divide it by all slots that a request holds: its tokens and its tail.",
             "A similar case: 98.5 tokens with blocks of 4 have a mean tail of 1.5, a share of 1.5 / 100."),
            quantity="fraction",
        ),
        Part(
            "largest",
            "LAB3A_5_largest",
            "value",
            "the largest block size, a power of two, with a share of at most {percent} %",
            ("Try one power of two after the other with what you did for the last answer.",
             "A similar case: 98.5 tokens and at most 2 %: blocks of 4 give 1.5 %, blocks of 8 give 3.4 %, so 4."),
            quantity="count",
            unit="tokens",
        ),
    ),
    draw=Draw("LAB3A.5", waste_numbers("conversation", 16, 256, 16384, 5), _draw, _no_size_is_at_the_limit),
    difficulty=3,
    minutes=8,
    importance=4,
)  # fmt: skip

LAB3A_6 = Exercise(
    id="LAB3A.6",
    title="Measure it, and explain it",
    notebook="L3/lab_paging",
    statement=(
        "Record what your allocator left empty with the conversations above: the number of requests, and the shares for blocks "
        "of 16 and of 256 as parts of 1. Then say what the two tell."
    ),
    parts=(
        Part(
            "measured",
            "L3.lab.waste",
            "measurement",
            'recorded in the answer cell by `record("L3.lab.waste", requests=…, share_16=…, share_256=…)`',
            ('`measured["conversation", 16].share` is one of the two; the cell above has made the others too.',),
            stub='from llmserving import record\n\nrecord("L3.lab.waste", requests=..., share_16=..., share_256=...)',
            fields=(
                Field("requests", "requests", 1, 1e6, whole=True),
                Field("share_16", "parts of 1", 1e-6, 1),
                Field("share_256", "parts of 1", 1e-6, 1),
            ),
        ),
        Part(
            "ratio",
            "LAB3A_6_ratio",
            "value",
            "how many times as large the share for 256 is as the share for 16, by your recording",
            ("Divide one recorded number by the other. It need not be the ratio of the block sizes: why?",),
            quantity="ratio",
        ),
        Part(
            "why",
            "LAB3A_6_why",
            "choice",
            "with blocks of 256 the share is smaller for code than for conversations; the letter of the reason",
            ("Compare, for both kinds, the mean tail and the mean number of tokens: which of the two differs?",),
            options=(
                Option("fewer_appends", "few of its tokens are appended, so few of its blocks are partly full"),
                Option("longer", "its requests are longer, so about the same tail is a smaller part of them"),
                Option("on_the_boundary", "its prompts end on block boundaries, so most of them have no tail"),
                Option("shorter_outputs", "its outputs are shorter, so its requests hold fewer blocks at the end"),
            ),
        ),
    ),
    draw=Draw("LAB3A.6"),
    difficulty=3,
    minutes=8,
    importance=4,
)

EXERCISES_HERE = (LAB3A_5, LAB3A_6)
