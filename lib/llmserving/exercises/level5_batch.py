"""Level 5, mastery: huge prompts in a large batch, nobody waiting, and the lever for them."""

from __future__ import annotations

from llmserving.exercises.exercise import Exercise, Option, Part, Quantity
from llmserving.exercises.level5_draws import BATCH_DRAW
from llmserving.exercises.level5_links import BATCH_LINKS, LEVERS

_SECONDS_HINTS = (
    "Every weight meets every token of the pass, in a multiplication and an addition.",
    "A similar case: one billion weights and 50,000 tokens are 100 TFLOP; at 100 TFLOP/s they take a second.",
)


def _value(name: str, asks: str, hints: tuple[str, ...], quantity: Quantity, unit: str | None = None) -> Part:
    return Part(name, f"L5_1B_{name}", "value", asks, hints, quantity=quantity, unit=unit)


def _choice(name: str, asks: str, hint: str, options: tuple[Option, ...], points: float = 1) -> Part:
    return Part(name, f"L5_1B_{name}", "choice", asks, (hint,), points=points, options=options)


L5_1B = Exercise(
    id="L5.1B",
    title="Summaries overnight",
    notebook="L5/clinic",
    statement=(
        "Every night a model of {billions} billion weights in FP16 summarises documents: {prompts} at once, {length} tokens "
        "each, so {tokens} tokens in a pass, and a summary is a few words. Nobody waits for one; what counts is how many are "
        "done by morning. On the GPU ({gpu}, {memory_gb} GB) the weights take {weights_gb} GB and the cache {kv_gb} GB, at "
        "{slot_kb} KB a token in blocks of {block_size}: it barely fits. The GPU reads {bandwidth_tb} TB/s and computes "
        "{fp16_tflops} TFLOP/s in 16 bits and {int8_tops} TOP/s in INT8. Count the weights alone, and take the peaks as they "
        "stand."
    ),
    parts=(
        _choice(
            "phase",
            "which phase takes most of the time",
            "How many tokens does a document bring, and how many does its summary add?",
            (
                Option("both", "both alike, since each document goes through both"),
                Option("decode", "decode: the summary comes out a token at a time"),
                Option("prefill", "prefill: the documents go in, all tokens at once"),
            ),
        ),
        _choice(
            "wall",
            "what a pass of it waits for",
            "Compare the two times of a pass: for reading the weights, and for multiplying with them.",
            (
                Option("arithmetic", "arithmetic: operations that the GPU computes a second"),
                Option("bandwidth", "bandwidth: bytes that the GPU reads from HBM a second"),
                Option("capacity", "capacity: bytes that the GPU's memory can hold at once"),
            ),
        ),
        _value(
            "beyond",
            "how many times the pass is past the ridge point: its FLOPs a byte of FP16 weights, over the ridge",
            (
                "A weight of two bytes is read once a pass, and takes two operations with each token of it.",
                "The ridge point is the peak over the bandwidth. A similar case: 100 TFLOP/s over 2 TB/s are 50 FLOP a byte; "
                "1,000 tokens are 20 times past it.",
            ),
            "ratio",
        ),
        _value("fp16_s", "seconds for the products of a pass in 16 bits", _SECONDS_HINTS, "real", "s"),
        _value(
            "int8_s",
            "seconds for the same products in INT8",
            ("The products are as many. What changes is how many a second the GPU computes.",),
            "real",
            "s",
        ),
        _value(
            "freed_gb",
            "GB of memory that W8A8 sets free",
            ("How many bytes does a weight take before, and how many after?", "A similar case: of 20 GB, 10 are left."),
            "bytes",
            "GB",
        ),
        _value(
            "tail_mb",
            "MB of the whole cache that lie empty at the ends of last blocks",
            (
                "First the slots that one document's last block leaves empty, then those of all documents.",
                "A similar case: 9 tokens in blocks of 4 leave 3 slots; for 2 documents and 100 KB a slot that is 0.6 MB.",
            ),
            "bytes",
            "MB",
        ),
        _choice("lever", "the lever that you would take", "Which of them shortens what a pass waits for?", LEVERS, 2),
        _choice(
            "latency",
            "what becomes possible because nobody waits",
            "What is worth more when each document may take longer: doing it sooner, or doing more of them together?",
            (
                Option("chunks", "chunked prefill, so that no summary stalls behind a document"),
                Option("larger_batch", "a larger batch, in whatever memory the lever sets free"),
                Option("longer_reservations", "longer reservations, so that no summary is ever cut short"),
                Option("one_by_one", "one document at a time, so that each of them is done sooner"),
            ),
        ),
        Part(
            "argument",
            "L5_1B_argument",
            "chain",
            "the letters of five links, in order, that carry the choice",
            ("There are two gains to argue for, time and room. Each begins with what becomes of a weight.",),
            points=3,
            options=BATCH_LINKS,
        ),
    ),
    draw=BATCH_DRAW,
    difficulty=5,
    minutes=12,
    importance=5,
)

EXERCISES_HERE = (L5_1B,)
