"""The lab of level 4, second part: the batch at which tokens a second stop growing, from the roofline."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.hardware import GPUS
from llmserving.kv_cache import kv_bytes_per_token
from llmserving.models import MODELS
from llmserving.planner import plan

_GPUS = ("a100-80gb", "h100-80gb", "h100-pcie-80gb", "h200-141gb", "l40s-48gb")
_MODELS = ("llama-3.1-8b", "llama-3.2-3b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b")


def batch_numbers(model: str, gpu: str, context: int) -> Numbers:
    spec, card = MODELS[model], GPUS[gpu]
    return {
        "model": spec.name,
        "gpu": card.name,
        "billions": round(spec.parameters / 1e9, 2),
        "bandwidth_tb": card.bandwidth_bytes_per_s / 1e12,
        "tflops": card.peak_flops["fp16"] / 1e12,
        "int8_tops": card.peak_flops.get("int8", 0) / 1e12,
        "context": context,
        "token_bytes": kv_bytes_per_token(spec),
        "cache_tokens": plan(spec, card, context=context, requests=1).kv_tokens,
    }


def _draw(rng: random.Random) -> Numbers:
    return batch_numbers(rng.choice(_MODELS), rng.choice(_GPUS), rng.choice([256, 384, 512, 768, 1024]))


def _ridge_before_memory(n: Numbers) -> bool:
    """Memory holds far more requests than the ridge takes, by a number of them that floor and ceil tell apart."""
    fit = n["cache_tokens"] / n["context"]
    return bool(fit > 1.4 * n["tflops"] / n["bandwidth_tb"] and 0.15 < fit % 1 < 0.85)


LAB4_2 = Exercise(
    id="LAB4.2",
    title="The batch at which tokens a second stop growing",
    notebook="L4/lab_planning",
    statement=(
        "{model}, {billions} billion weights in FP16, is to decode on an {gpu}, which reads {bandwidth_tb} TB/s and computes "
        "{tflops} TFLOP/s in 16 bits (dense). Each request has {context} tokens cached, {token_bytes} bytes a token, and the "
        "plan has room for {cache_tokens} tokens. A step multiplies every weight with one token of each request, and then "
        "attention reads each request's cache; take attention's own arithmetic as free. Predict, to three significant figures:"
    ),
    parts=(
        Part(
            "ridge",
            "LAB4_2_ridge",
            "value",
            "the ridge point of the GPU in 16 bits, in FLOP/byte",
            ("FLOPs a second over bytes a second. A similar case: 100 TFLOP/s and 2 TB/s make 50 FLOP/byte.",),
            quantity="real",
            unit="FLOP/byte",
        ),
        Part(
            "knee",
            "LAB4_2_knee",
            "value",
            "the batch at which the products with the weights take as long as reading the weights",
            (
                "For one weight: how many bytes are read, and how many FLOPs does each request do with it?",
                "A similar case: at 50 FLOP/byte, weights of 4 bytes and 2 FLOPs a request meet at a batch of 100.",
            ),
            quantity="real",
            unit="requests",
        ),
        Part(
            "knee_int4",
            "LAB4_2_knee_int4",
            "value",
            "the same batch with W4A16: half a byte a weight, multiplied in 16 bits, scales left aside",
            ("The products are as many as before, at the same peak. What changes is what is read.",),
            quantity="real",
            unit="requests",
        ),
        Part(
            "step_ms",
            "LAB4_2_step_ms",
            "value",
            "ms of a step with FP16 weights at that first batch: its weights, then all its caches",
            (
                "The weights are read once, and a cache for each request. At this batch the products take no time of their own.",
                "A similar case: 10 GB of weights and 100 caches of 0.1 GB, at 2 TB/s, take 5 ms + 5 ms.",
            ),
            quantity="real",
            unit="ms",
        ),
        Part(
            "rate",
            "LAB4_2_rate",
            "value",
            "tokens a second of all requests together, in such steps",
            ("Each request of the batch gets one token a step. A similar case: a batch of 100 in 10 ms gives 10,000.",),
            quantity="real",
            unit="tokens/s",
        ),
        Part(
            "fit",
            "LAB4_2_fit",
            "value",
            "the number of such requests that the planned cache holds at once",
            ("A request fits with all of its tokens, or not at all.",),
            quantity="count",
            unit="requests",
        ),
        Part(
            "max_num_seqs",
            "LAB4_2_max_num_seqs",
            "choice",
            "where you would set `max_num_seqs`, the most requests that may run at once, for a busy chat, and why",
            (
                "Past the batch you found, both what is read and what is computed grow with each request. What happens to "
                "the rate?",
            ),
            points=2,
            options=(
                Option("all_that_fit", "at all that fit: while memory is free, each request adds to the rate"),
                Option("at_the_knee", "near that batch: past it the rate stays, and each token comes later"),
                Option("few", "at a few: each request makes the step longer, so the rate falls from the start"),
                Option("more_than_fit", "past what fits: the requests that wait fill the gaps in each step"),
            ),
        ),
    ),
    draw=Draw("LAB4.2", batch_numbers("llama-3.1-8b", "h100-80gb", 512), _draw, _ridge_before_memory),
    difficulty=4,
    minutes=15,
    importance=5,
    version=2,
)

EXERCISES_HERE = (LAB4_2,)
