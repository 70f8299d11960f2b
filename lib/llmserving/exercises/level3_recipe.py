"""Level 3, analysis: a recipe for large-batch prefill, with the numbers that decide."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.hardware import GPUS

_GPUS = ("a100-80gb", "h100-80gb", "h100-pcie-80gb", "l40s-48gb")


def prefill_numbers(gpu: str, billions: int, prompts: int, length: int) -> Numbers:
    card = GPUS[gpu]
    return {
        "gpu": card.name,
        "billions": billions,
        "prompts": prompts,
        "length": length,
        "tokens": prompts * length,
        "bandwidth_tb": card.bandwidth_bytes_per_s / 1e12,
        "fp16_tflops": card.peak_flops["fp16"] / 1e12,
        "int8_tops": card.peak_flops["int8"] / 1e12,
    }


def _draw_prefill(rng: random.Random) -> Numbers:
    return prefill_numbers(
        rng.choice(_GPUS), rng.choice([7, 8, 14, 30]), rng.choice([8, 24, 32, 48]), rng.choice([512, 768, 1024, 1536])
    )


def far_beyond_the_ridge_and_fits(n: Numbers) -> bool:
    """So many tokens that reading the weights takes a small part of the time that multiplying them takes, and a GPU on which
    the weights leave a tenth of the memory to the cache.
    """
    fits = 2e9 * n["billions"] < 0.9 * GPUS[n["gpu"]].memory_bytes
    return fits and n["tokens"] > 10 * n["fp16_tflops"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


_READ_HINTS = (
    "Bytes are parameters times bytes a weight; seconds are bytes divided by bytes a second.",
    "A similar case: one billion weights in FP16 are 2 GB; at 1 TB/s they take 2 ms.",
)
_COMPUTE_HINTS = (
    "Every weight meets every token of the pass, in a multiplication and an addition.",
    "A similar case: one billion weights and 1,000 tokens are 2 TFLOP; at 100 TFLOP/s they take 20 ms.",
)


def _milliseconds(name: str, asks: str, hints: tuple[str, ...]) -> Part:
    return Part(name, f"L3_3_{name}", "value", asks, hints, quantity="real", unit="ms")


L3_3 = Exercise(
    id="L3.3",
    title="A recipe for large-batch prefill",
    notebook="L3/recipes",
    statement=(
        "W4A16 made a chat server's decode much faster, and now it is proposed for another one: {prompts} prompts of "
        "{length} tokens at once, {tokens} tokens in a pass, and hardly any output. The model has {billions} billion "
        "weights in FP16. The GPU, an {gpu}, reads {bandwidth_tb} TB/s and computes {fp16_tflops} TFLOP/s in 16 bits and "
        "{int8_tops} TOP/s in INT8. Count the weights alone, 4 bits each in W4A16, and take the peaks as they stand. In "
        "milliseconds:"
    ),
    parts=(
        _milliseconds("read_ms", "to read the FP16 weights once", _READ_HINTS),
        _milliseconds(
            "saved_ms",
            "how much of that time W4A16 saves in each pass",
            (
                "How much smaller are the weights, and what is left of the reading? A similar case: of 20 ms, INT8 saves 10.",
            ),
        ),
        _milliseconds("compute_ms", "to multiply all tokens of the pass with the weights, in 16 bits", _COMPUTE_HINTS),
        _milliseconds(
            "w8a8_ms",
            "for the same products in INT8",
            ("The products are as many. What changes is how many of them a second the GPU computes.",),
        ),
        Part(
            "lever",
            "L3_3_lever",
            "choice",
            "what you would use for this server",
            ("Hold what each lever saves against the time that the pass takes.",),
            points=2,
            options=(
                Option("continuous_batching", "continuous batching"),
                Option("paged_attention", "PagedAttention"),
                Option("w4a16", "W4A16"),
                Option("w8a8", "W8A8"),
            ),
        ),
        Part(
            "argument",
            "L3_3_argument",
            "chain",
            "the letters of four links, in order, that carry the choice",
            ("Begin with what one weight read serves here, then say what is waited for.",),
            points=3,
            options=(
                Option("bytes_do_not_matter", "So the pass waits for arithmetic, and bytes saved shorten nothing."),
                Option(
                    "expands", "W4A16 still multiplies in 16 bits, and expands every weight first: more work, not less."
                ),
                Option("int4_math", "W4A16 multiplies in four bits, at four times the rate."),
                Option("int8_rate", "W8A8 multiplies in INT8, whose peak is higher: it shortens what is waited for."),
                Option("many_tokens", "One read of the weights serves all the thousands of tokens in the pass."),
                Option("read_for_each", "The weights are read again for each token of a prompt."),
                Option(
                    "smaller_cache", "Smaller weights leave a smaller KV cache, and that is what the pass waits for."
                ),
            ),
        ),
    ),
    draw=Draw("L3.3", prefill_numbers("a100-80gb", 13, 16, 1024), _draw_prefill, far_beyond_the_ridge_and_fits),
    difficulty=4,
    minutes=10,
    importance=5,
    version=2,
)

EXERCISES_HERE = (L3_3,)
