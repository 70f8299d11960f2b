"""Level 5, mastery: huge prompts in a large batch, nobody waiting, and the lever for them."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.level5_links import BATCH_LINKS, LEVERS
from llmserving.hardware import GPUS
from llmserving.units import GB, KB
from llmserving.weights import weight_bytes

_GPUS = ("a100-40gb", "a100-80gb", "h100-80gb", "h100-pcie-80gb", "l40s-48gb", "rtx-4090")
# (billions of weights, layers) of models with 8 KV heads of 128.
_MODELS = ((8, 32), (14, 40), (14, 48), (15, 40), (17, 48), (32, 64), (34, 48))
_KV_ELEMENTS = 2 * 8 * 128
BLOCK_SIZE = 16


def batch_numbers(gpu: str, model: tuple[int, int], prompts: int, length: int) -> Numbers:
    """`left_mb`: what two buckets, the weights and the cache of these prompts, leave free."""
    card, (billions, layers) = GPUS[gpu], model
    slot, weights = layers * _KV_ELEMENTS * 2, weight_bytes(billions * 1e9, 16)
    return {
        "gpu": gpu,
        "billions": billions,
        "prompts": prompts,
        "length": length,
        "tokens": prompts * length,
        "block_size": BLOCK_SIZE,
        "slot_kb": slot / KB,
        "weights_gb": weights / GB,
        "memory_gb": card.sold_bytes / GB,
        "kv_gb": prompts * length * slot / GB,
        "bandwidth_tb": card.bandwidth_bytes_per_s / 1e12,
        "fp16_tflops": card.peak_flops["fp16"] / 1e12,
        "int8_tops": card.peak_flops["int8"] / 1e12,
    }


def _draw_batch(rng: random.Random) -> Numbers:
    return batch_numbers(
        rng.choice(_GPUS), rng.choice(_MODELS), rng.choice([6, 8, 10, 12, 16]), rng.randrange(2500, 9900, 10)
    )


def _barely_fits_and_computes(n: Numbers) -> bool:
    """Weights and cache fit with little left; a pass lies far beyond the ridge; the last block is partly full."""
    taken = (n["weights_gb"] + n["kv_gb"]) / n["memory_gb"]
    empty = -n["length"] % n["block_size"]
    return bool(
        n["weights_gb"] > 0.6 * n["memory_gb"]
        and 0.95 < taken < 1
        and n["tokens"] > 20 * n["fp16_tflops"] / n["bandwidth_tb"]
        and 2 <= empty <= n["block_size"] - 2
        and 2 * empty != n["block_size"]
    )


_SECONDS_HINTS = (
    "Every weight meets every token of the pass, in a multiplication and an addition.",
    "A neighbour: one billion weights and 50,000 tokens are 100 TFLOP; at 100 TFLOP/s they take a second.",
)
_PHASE_HINTS = ("How many tokens does a document bring, and how many does its summary add?",)


def _value(name: str, asks: str, hints: tuple[str, ...], quantity: str, unit: str | None = None) -> Part:
    return Part(name, f"L5_1B_{name}", "value", asks, hints, quantity=quantity, unit=unit)  # type: ignore[arg-type]


def _choice(name: str, asks: str, hint: str, options: tuple[Option, ...], points: float = 1) -> Part:
    return Part(name, f"L5_1B_{name}", "choice", asks, (hint,), points=points, options=options)


L5_1B = Exercise(
    id="L5.1B",
    title="Summaries overnight",
    notebook="L5/clinic",
    statement=(
        "Every night a model of {billions} billion weights in FP16 summarises documents: {prompts} at once, {length} tokens "
        "each, so {tokens} tokens in a pass, and a summary is a few words. Nobody waits for one; what counts is how many are "
        "done by morning. On the GPU ({gpu}, {memory_gb} GB) the weights take {weights_gb} GB and the cache {kv_gb}, at "
        "{slot_kb} KB a token in blocks of {block_size}: it barely fits. The GPU reads {bandwidth_tb} TB/s and computes "
        "{fp16_tflops} TFLOP/s in 16 bits, {int8_tops} in INT8. Take the weights alone, and the peaks as they stand."
    ),
    parts=(
        _choice(
            "phase",
            "which phase takes most of the time",
            _PHASE_HINTS[0],
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
                "The ridge point is the peak over the bandwidth. A neighbour: 100 TFLOP/s over 2 TB/s are 50 FLOP a byte; "
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
            ("How many bytes does a weight take before, and how many after?", "A neighbour: of 20 GB, 10 are left."),
            "bytes",
            "GB",
        ),
        _value(
            "tail_mb",
            "MB of the whole cache that lie empty at the ends of last blocks",
            (
                "First the slots that one document's last block leaves empty, then those of all documents.",
                "A neighbour: 9 tokens in blocks of 4 leave 3 slots; for 2 documents and 100 KB a slot that is 0.6 MB.",
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
    draw=Draw("L5.1B", batch_numbers("h100-80gb", (34, 48), 8, 7450), _draw_batch, _barely_fits_and_computes),
    difficulty=5,
    minutes=12,
    importance=5,
)

EXERCISES_HERE = (L5_1B,)
