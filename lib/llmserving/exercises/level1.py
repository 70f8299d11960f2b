"""Level 1, recognition: which phase, which factor, which lever."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part

_PHASES = (
    Option("decode_compute", "decode, compute-bound: limited by arithmetic per second"),
    Option("decode_memory", "decode, memory-bound: limited by bytes per second from HBM"),
    Option("prefill_compute", "prefill, compute-bound: limited by arithmetic per second"),
    Option("prefill_memory", "prefill, memory-bound: limited by bytes per second from HBM"),
)

_PHASE_HINTS = (
    "Count the tokens that one forward pass carries. Each weight is read once a pass, however many tokens it serves.",
    "Hundreds of tokens a pass keep the arithmetic units busy. One token a pass leaves them waiting for bytes.",
)


def _prompt_length(rng: random.Random) -> Numbers:
    return _tokens(rng.choice([600, 800, 900, 1200, 1500, 2000]))


def _tokens(prompt: int) -> Numbers:
    return {"prompt": prompt, "first": prompt + 1, "second": prompt + 2}


L1_1 = Exercise(
    id="L1.1",
    title="Which phase, and what limits it?",
    notebook="L1/two_phases",
    statement="A server takes one request through three forward passes. For each, say which phase it is and what limits it.",
    parts=tuple(
        Part(name, f"L1_1_{name}", "choice", asks, _PHASE_HINTS, options=_PHASES)
        for name, asks in (
            ("a", "the prompt of {prompt} tokens, all in one forward pass"),
            ("b", "the pass that takes in token {first}, the first one generated, and nothing else"),
            ("c", "the pass that takes in token {second}"),
        )
    ),
    draw=Draw("L1.1", _tokens(500), _prompt_length),
    difficulty=1,
    minutes=3,
    importance=5,
)

_MEANINGS = (
    Option("bits_an_element", "bits that one cached number takes"),
    Option("bytes_an_element", "bytes that one cached number takes"),
    Option("fp16_bytes", "an FP16 number takes two bytes"),
    Option("head_width", "the width of one attention head"),
    Option("hidden", "the hidden size: all heads side by side"),
    Option("key_and_value", "every token leaves a key and a value"),
    Option("layers", "layers, each with keys and values of its own"),
    Option("prompt_only", "tokens of the prompt alone"),
    Option("requests", "requests that run together in the batch"),
    Option("tokens", "tokens cached for each request: the prompt and what was generated so far"),
)

_FACTOR_HINTS = (
    "Take one token in one layer and ask what is stored for it; then ask how often that happens.",
    "Every factor answers one question: how many vectors, requests, tokens, layers, numbers a vector, bytes a number?",
)

L1_2 = Exercise(
    id="L1.2",
    title="The six factors",
    notebook="L1/kv_cache",
    statement="The KV cache of a batch takes `2 * B * S * L * d_model * p` bytes. Give each factor its meaning.",
    parts=tuple(
        Part(name, f"L1_2_{name}", "choice", asks, _FACTOR_HINTS, points=0.5, options=_MEANINGS)
        for name, asks in (
            ("two", "the factor `2`"),
            ("B", "the factor `B`"),
            ("S", "the factor `S`"),
            ("L", "the factor `L`"),
            ("d_model", "the factor `d_model`"),
            ("p", "the factor `p`"),
        )
    ),
    draw=Draw("L1.2"),
    difficulty=1,
    minutes=4,
    importance=5,
)

_COSTS = (
    Option("attention_arithmetic", "the dot products of attention"),
    Option("bytes_a_token", "bytes of keys and values that one token leaves in the cache"),
    Option("idle_on_padding", "places in the batch that idle on padding until the longest request ends"),
    Option("kv_waste", "KV-cache memory that is reserved and then never used"),
    Option("prompt_arithmetic", "the arithmetic of a long prompt's matrix products"),
    Option("weight_read", "bytes of weights read from HBM for every generated token"),
)

_LEVER_HINTS = (
    "Ask of each technique what it changes: where something lies, how many bytes something takes, or who runs when.",
    "One technique is about allocation, one about the size of the weights, one about scheduling.",
)

L1_3 = Exercise(
    id="L1.3",
    title="Which lever for which cost?",
    notebook="L1/three_levers",
    statement="Each technique attacks one cost. Match them; three of the costs stay without a partner.",
    parts=tuple(
        Part(name, f"L1_3_{name}", "choice", asks, _LEVER_HINTS, options=_COSTS)
        for name, asks in (
            ("paged_attention", "PagedAttention"),
            ("int4_weights", "INT4 weight-only quantization"),
            ("continuous_batching", "continuous batching"),
        )
    ),
    draw=Draw("L1.3"),
    difficulty=2,
    minutes=3,
    importance=4,
)

EXERCISES_HERE = (L1_1, L1_2, L1_3)
