"""The lab of level 3, quantization: what fewer bits give a matmul of one row and of many, foretold, measured, explained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Field, Option, Part
from llmserving.exercises.lab_quantizer import NOTEBOOK

if TYPE_CHECKING:
    from llmserving.quantization import MatmulTiming

ONE, MANY, LEAST_ROUNDS = 1, 512, 3
KERNELS = {"sixteen": "bfloat16", "w4a16": "W4A16", "w8a8": "W8A8"}
"""What a field's name begins with -> what the names of its kernels begin with."""
_AT = {"one": ONE, "many": MANY}


def group_numbers(group: int) -> Numbers:
    return {"group": group}


def matmul_fields(timings: Iterable[MatmulTiming]) -> dict[str, list[float]]:
    """What `bench_matmul` timed at M = 1 and 512, by the names to record; of several kernels of a kind the one best there."""
    timings, fields = list(timings), {}
    for kind, kernel in KERNELS.items():
        for name, rows in _AT.items():
            there = [timing for timing in timings if timing.rows == rows and timing.kernel.startswith(kernel)]
            fields[f"{kind}_{name}_s"] = list(min(there, key=lambda timing: timing.median).seconds)
    return fields


_TIMES_HINTS = (
    "What is read, and what is computed? Of the two, ask which one is waited for at this M.",
    "Where bytes are waited for, divide the bits of a weight before by those after. Where arithmetic is, ask how wide "
    "its numbers are.",
)

LAB3B_5 = Exercise(
    id="LAB3B.5",
    title="What the bits allow",
    notebook=NOTEBOOK,
    statement=(
        "A matmul has weights of 16 bits. How many times as fast could it be at best with fewer? Suppose that for one "
        "row nothing "
        "but the weights' bytes takes time, and for 512 rows nothing but multiplying, which goes twice as fast with "
        "integers of "
        "8 bits as with numbers of 16. W4A16 has 4-bit codes, and a scale and a zero-point of 16 bits each for every "
        "{group} of them; W8A8 has "
        "8-bit codes, and so few scales that they do not count."
    ),
    parts=(
        Part("w4a16_one", "LAB3B_5_w4a16_one", "value", "W4A16 for one row", (
            *_TIMES_HINTS, "A similar case: 8-bit codes, and 16 bits for every 16 of them: 9 bits a weight, 16 / 9 = 1.78 "
                           "times."),
            quantity="ratio"),
        Part("w8a8_one", "LAB3B_5_w8a8_one", "value", "W8A8 for one row", _TIMES_HINTS, quantity="ratio"),
        Part("w4a16_many", "LAB3B_5_w4a16_many", "value", "W4A16 for 512 rows", (
            *_TIMES_HINTS, "A16 says how wide the numbers are that are multiplied."), quantity="ratio"),
        Part("w8a8_many", "LAB3B_5_w8a8_many", "value", "W8A8 for 512 rows", _TIMES_HINTS, quantity="ratio"),
    ),
    draw=Draw("LAB3B.5", group_numbers(32), lambda rng: group_numbers(rng.choice([16, 32, 64, 128]))),
    difficulty=3,
    minutes=8,
    importance=5,
)  # fmt: skip

_FORETOLD = tuple(Field(f"{kind}_{at}", "times", 0.001, 1000) for kind in ("w4a16", "w8a8") for at in _AT)
_MEASURED = tuple(Field(f"{kind}_{at}_s", "s", 1e-7, 600, LEAST_ROUNDS) for kind in KERNELS for at in _AT)

LAB3B_6 = Exercise(
    id="LAB3B.6",
    title="Predicted, measured, explained",
    notebook=NOTEBOOK,
    statement=(
        "The cells above recorded what you predicted and then measured. Say what your machine gave (take the median of "
        "each row of "
        "times), and explain it. No number is judged but by your own recording."
    ),
    parts=(
        Part("predicted", "L3.lab.matmul.predicted", "measurement",
             "your four predictions: how many times as fast as 16 bits, recorded before the measurement",
             ("The cell that records your prediction comes before the one that measures.",), fields=_FORETOLD),
        Part("measured", "L3.lab.matmul", "measurement", "the seconds of every kernel, recorded after the prediction",
             ("The cell above measures once your prediction is recorded, and records what it finds.",), fields=_MEASURED),
        Part("w4a16_one", "LAB3B_6_w4a16_one", "value", "how many times as fast as 16 bits W4A16 was at M = 1",
             ("Twice as fast takes half as long. Which of the two times is on top?",
              "The cell that measured has the medians in its table."), quantity="ratio"),
        Part("w8a8_many", "LAB3B_6_w8a8_many", "value", "how many times as fast as 16 bits W8A8 was at M = 512",
             ("The same division, of the times at M = 512.",), quantity="ratio"),
        Part("one", "LAB3B_6_one", "choice", "why W4A16 can gain at M = 1, though it multiplies in 16 bits",
             ("How often is a weight used, once it was read?",),
             options=(
                 Option("arithmetic", "four-bit codes are multiplied faster, and one row has little else to do"),
                 Option("bytes", "each weight serves one row: it is the reading of weights that is waited for"),
                 Option("cache", "the inputs are few at M = 1, and stay in the cache beside the weights"),
                 Option("overhead", "starting a kernel is what takes the time there, and small weights start faster"),
             )),
        Part("many", "LAB3B_6_many", "choice",
             "why W4A16 cannot gain at M = 512 where 16-bit numbers are multiplied at full speed",
             ("Per weight: one reading, one expansion, and how many multiplications, of which width?",),
             options=(
                 Option("activations", "the activations are what is read then, and they have 16 bits as before"),
                 Option("again", "the weights are read anew for each of the rows, which undoes the saving"),
                 Option("multiplying", "the multiplications are waited for, and these have 16 bits as before"),
                 Option("rounding", "errors of rounding add up over the rows, and have to be corrected"),
             )),
        Part("short", "LAB3B_6_short", "choice", "what can keep W8A8 below twice the speed at M = 512",
             ("Go through what `linear_w8a8` does before and after the product of integers.",),
             options=(
                 Option("bandwidth", "the weights' bytes: they are only halved, and reading them takes most of the time"),
                 Option("expanding", "the weights have to be expanded to 16 bits before they can be multiplied"),
                 Option("more_rows", "the rows: the more of them, the more often every weight is quantized"),
                 Option("scales", "the work around it: quantizing inputs, scaling sums, and how fast 16 bits are here"),
             )),
    ),
    draw=Draw("LAB3B.6"),
    difficulty=4,
    minutes=12,
    importance=5,
)  # fmt: skip

EXERCISES_HERE = (LAB3B_5, LAB3B_6)
