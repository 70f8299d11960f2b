"""The clinic's third case: low traffic, and one user who waits for each token."""

from __future__ import annotations

import random

from llmserving.clinic import ONE_AT_A_TIME
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


def _read_at(bytes_each: float, each: str) -> Numbers:
    return {**case_numbers(ONE_AT_A_TIME), "bytes_each": bytes_each, "each": each}


_HALF_A_BYTE, _A_BYTE = _read_at(0.5, "half a byte"), _read_at(1, "a byte")


def _draw(rng: random.Random) -> Numbers:
    return rng.choice((_A_BYTE, _HALF_A_BYTE))


LAB5A_3 = Exercise(
    id="LAB5A.3",
    title="One at a time",
    notebook="L5/lab_clinic",
    statement=(
        "`ONE_AT_A_TIME`: a few programmers ask {model} on an {gpu}, in static batches, and seldom two of them at once. Each "
        f"finds it slow. {PROMISED} The model has {{billions}} billion weights; the GPU reads {{bandwidth_tb}} TB/s and computes "
        "{tflops} TFLOP/s in 16 bits. Predict the pace first."
    ),
    parts=(
        Part(
            "least_ms",
            "LAB5A_3_least_ms",
            "value",
            "milliseconds a token if all that takes time is to read the weights once, at {each} each",
            (
                "Bytes are weights times bytes a weight; seconds are bytes over bytes a second.",
                "A similar case: one billion weights at half a byte are 0.5 GB; at 1 TB/s they take 0.5 ms.",
            ),
            quantity="real",
            unit="ms",
        ),
        levers_part(
            3,
            (
                "As the server stands, two promises are missed. A lever may mend one of them and leave the other.",
                "How many requests are in a step here, and what does the step do for most of its time?",
                "Fewer bytes to read, or more GPUs that read: either counts, and both have a price.",
            ),
        ),
        wall_part(
            3,
            "what a step of decode waits for here",
            ("With one request in a step, what takes longer: to read a weight, or to multiply by it?",),
        ),
        lever_part(
            3,
            ("Ask of each how many bytes a step still reads on one GPU.",),
            (
                Option("continuous", "continuous batching"),
                Option("int4", "W4A16 weights"),
                Option("paged", "PagedAttention"),
                Option("two", "a second GPU"),
            ),
        ),
        argument_part(
            3,
            ("Begin with how many requests are in a step.",),
            (
                Option("alone", "Mostly one request runs, and each of its tokens needs a read of all weights."),
                Option("bytes", "That read takes far longer than the products of a single token with them."),
                Option("four_bit_products", "Products in four bits are computed at four times the rate of sixteen."),
                Option(
                    "quarter", "In four bits the weights are a quarter of the bytes, read in a quarter of the time."
                ),
                Option("reserved", "What is reserved in the cache is read too, and most of it is reserved in vain."),
                Option("shared", "With others in its step a request is given its own tokens at a faster pace."),
                Option("sooner", "So each token comes sooner, and nobody else has to be there for that."),
            ),
        ),
    ),
    draw=Draw("LAB5A.3", _HALF_A_BYTE, _draw),
    difficulty=5,
    minutes=15,
    importance=4,
    version=2,
)
