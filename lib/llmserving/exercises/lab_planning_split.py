"""The lab of level 4, third part: tensor parallelism, what it splits, and what it leaves as it was."""

from __future__ import annotations

import random

from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.kv_cache import kv_bytes_per_token

# Starts of one model on fewer and on more GPUs, and the bytes of its weights.
_STARTS = (("LLMD-24", "LLMD-27", 2), ("LLMD-24", "LLMD-28", 2), ("LLMD-27", "LLMD-28", 2), ("LLMD-03", "LLMD-04", 1))


def split_numbers(few: str, many: str, weight_bytes: int, batch: int, context: int) -> Numbers:
    before, after = ENGINE_BUDGETS[few], ENGINE_BUDGETS[many]
    model = after.log.model
    return {
        "few_start": few,
        "many_start": many,
        "model": model.name,
        "billions": round(model.parameters / 1e9, 2),
        "weight_bytes": weight_bytes,
        "weights": {1: "FP8, one byte each", 2: "FP16"}[weight_bytes],
        "layers": model.layers,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "token_bytes": kv_bytes_per_token(model),
        "batch": batch,
        "context": context,
        "few": before.log.tensor_parallel,
        "few_words": "one GPU" if before.log.tensor_parallel == 1 else f"{before.log.tensor_parallel} GPUs",
        "few_printed": f"{before.printed_gib:.2f}",
        "few_tokens": before.log.tokens or 0,
        "many": after.log.tensor_parallel,
        "many_gib": after.printed_gib,
        "many_printed": f"{after.printed_gib:.2f}",
    }


def _draw(rng: random.Random) -> Numbers:
    return split_numbers(*rng.choice(_STARTS), rng.choice([8, 16, 24, 32, 48]), rng.choice([1024, 2048, 3072, 4096]))


LAB4_3 = Exercise(
    id="LAB4.3",
    title="More GPUs: what is split, and what is not",
    notebook="L4/lab_planning",
    statement=(
        "{model} has {billions} billion weights in {weights}, and {layers} layers with {kv_heads} KV heads of {head_dim}, cached "
        "in FP16: {token_bytes} bytes a token, all heads together. On {few_words} (H100), the engine printed {few_printed} GiB a "
        "GPU for the KV cache, and {few_tokens} tokens; on {many} GPUs that split every layer, {many_printed} GiB a GPU. A "
        "decode step runs {batch} requests with {context} cached tokens each. Count the weights and the caches, and products "
        "with the weights alone."
    ),
    parts=(
        Part(
            "read_gb",
            "LAB4_3_read_gb",
            "value",
            "GB that each of the {many} GPUs reads in a step",
            (
                "What is read in a step on a single GPU, and which of it is split?",
                "A similar case: 10 GB of weights and 8 caches of 0.5 GB, over 2 GPUs: 7 GB each.",
            ),
            quantity="bytes",
            unit="GB",
        ),
        Part(
            "intensity",
            "LAB4_3_intensity",
            "value",
            "FLOP for each byte, on each of the {many} GPUs",
            (
                "Two FLOPs for each weight that lies on the GPU and each request; over the bytes that it reads.",
                "A similar case: 5 billion weights and 8 requests over 2 GPUs are 40 GFLOP each; with 7 GB read, 5.71 FLOP/byte.",
            ),
            quantity="real",
            unit="FLOP/byte",
        ),
        Part(
            "change",
            "LAB4_3_change",
            "value",
            "by which factor FLOP for each byte grows from {few_words} to {many} (below one if it shrinks)",
            ("Work it out for both, or ask what happens to the FLOPs and what happens to the bytes.",),
            quantity="ratio",
        ),
        Part(
            "tokens",
            "LAB4_3_tokens",
            "value",
            "the tokens that the log on {many} GPUs must show, to three significant figures",
            ("Your function of LAB4.1 knows. A token is on all the GPUs, a share of its heads on each.",),
            quantity="count",
            unit="tokens",
        ),
        Part(
            "grew",
            "LAB4_3_grew",
            "choice",
            "why the tokens grow by more than the GPUs do (first list)",
            ("Two things that lie on a GPU are split. What does either leave to the cache?",),
            points=2,
            options=(
                Option("activations_split", "what profiling sets aside is split as well, and the cache gets the rest"),
                Option("larger_share", "an engine on more GPUs may use a larger share of the memory of each"),
                Option("pooled", "the memory of all the GPUs is one pool, in which each token lies only once"),
                Option("weights_make_room", "a token takes less on each GPU, and the weights leave more room there"),
            ),
        ),
        Part(
            "unsplit",
            "LAB4_3_unsplit",
            "choice",
            "what stays as large on each GPU, however many there are (second list)",
            ("Which of these is about whole requests, and not about weights or heads?",),
            options=(
                Option("logits", "the logits that profiling runs for each sequence"),
                Option("messages", "the buffers with which GPUs talk to each other"),
                Option("token_share", "the bytes that each token takes in the KV cache"),
                Option("weights_share", "the weights of each layer that a GPU multiplies"),
            ),
        ),
    ),
    draw=Draw("LAB4.3", split_numbers(*_STARTS[0], 16, 2048), _draw),
    difficulty=4,
    minutes=12,
    importance=4,
    version=2,
)

EXERCISES_HERE = (LAB4_3,)
