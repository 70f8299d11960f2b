"""Key of the lab of level 2: a right function in two forms, and the wrong ones that learners write."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving import MODELS
from llmserving.exercises import lab_kv_bytes
from llmserving.exercises.exercise import Probe
from llmserving.units import format_number

from grader.answer_key import lab_kv_bytes_written as made
from grader.answer_key.key import Key
from grader.answer_key.lab_keys import FunctionKey, Wrong

_FACTORS, _SHARED, _LATENT, _BITS = "One token in one layer", "Heads that share", "One latent", "Bits and bytes"

# The models of the lab's own table: by these sentences a learner finds the mistake that its factor stands for.
_GROUPED, _MLA = MODELS["llama-3.1-8b"], MODELS["deepseek-v2-lite"]
_GROUPED_TIMES = format_number(_GROUPED.attention_heads / _GROUPED.kv_heads)
_MLA_TIMES = format_number(2 * _MLA.kv_heads * _MLA.head_dim / _MLA.latent_dim)


_WRONG = (
    Wrong(
        "keys_or_values_only",
        made.keys_only,
        "Half of what a model with heads takes: a token leaves a key and a value there, and both are cached.",
        _FACTORS,
    ),
    Wrong(
        "query_heads_for_kv_heads",
        made.with_query_heads,
        f"That caches keys and values for every query head: {_GROUPED_TIMES} times too much for Llama-3.1-8B, which has "
        f"{_GROUPED.attention_heads} query heads and {_GROUPED.kv_heads} KV heads. "
        "Query heads that share a KV head read the same keys and values, and those are stored once.",
        _SHARED,
    ),
    Wrong(
        "group_size_for_kv_heads",
        made.with_heads_a_group,
        "That uses the number of query heads that share one KV head. What counts is how many KV heads there are.",
        _SHARED,
    ),
    Wrong(
        "one_head",
        made.of_one_head,
        "That is one KV head's share. Each of the KV heads leaves a key and a value of its own.",
        _SHARED,
    ),
    Wrong("one_layer", made.of_one_layer, "That is one layer's share. Every layer has a cache of its own.", _FACTORS),
    Wrong(
        "bits_for_bytes", made.in_bits, "That counts bits. The question asks for bytes, and a byte has 8 bits.", _BITS
    ),
    Wrong(
        "always_fp16",
        made.always_fp16,
        "That takes two bytes an element whatever `bits` says. An element of 8 bits has one byte, one of 4 bits half a byte.",
        _BITS,
    ),
    Wrong(
        "whole_bytes",
        made.whole_bytes,
        "That gives each element whole bytes. Two elements of 4 bits share one byte, so multiply first and divide by 8 last.",
        _BITS,
    ),
    Wrong(
        "bits_rounded_down",
        made.bits_rounded_down,
        "That divides the bits by 8 first and drops the rest, so that an element of 4 bits takes nothing. Multiply first and "
        "divide by 8 last.",
        _BITS,
    ),
    Wrong(
        "latent_doubled",
        made.latent_twice,
        "That counts the latent twice, as if it were a key and a value. Both are rebuilt from the same latent, which is stored "
        "once.",
        _LATENT,
    ),
    Wrong(
        "latent_ignored",
        made.latent_ignored,
        f"That caches keys and values for each head although the model has a latent: {_MLA_TIMES} times too much for "
        f"DeepSeek-V2-Lite. "
        "The latent is cached in their place.",
        _LATENT,
    ),
    Wrong(
        "latent_a_head",
        made.latent_a_head,
        "That keeps a latent for each head. One latent per token and layer serves all heads.",
        _LATENT,
    ),
)


def _hidden(rng: random.Random) -> Iterator[Probe]:
    """A model of each kind, with as many heads a group as no other number of it, so that the mistakes part."""
    heads, width = rng.choice([24, 28, 40, 48, 56]), rng.choice([64, 80, 96, 112, 128])
    layers = rng.randrange(20, 90)
    yield Probe("multi-head", lab_kv_bytes.shape(layers, heads, heads, width, rng.choice([4, 8, 16, 32])))
    groups = rng.choice([2, 4])
    yield Probe("grouped-query", lab_kv_bytes.shape(layers + 1, heads, groups, width, rng.choice([4, 8, 16])))
    yield Probe("multi-query", lab_kv_bytes.shape(layers + 2, heads, 1, width, rng.choice([4, 8])))
    latent = rng.choice([256, 320, 512, 576, 640])
    yield Probe("latent", lab_kv_bytes.shape(layers + 3, heads, heads, width, rng.choice([4, 8, 16]), latent))


KEYS_HERE = (
    Key(
        lab_kv_bytes.LAB2_1,
        {
            "kv_bytes_per_token": FunctionKey(
                reference=made.kv_bytes_per_token,
                otherwise=made.by_layer,
                groups={"multi-head": 1, "grouped-query": 1, "multi-query": 1, "latent": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_FACTORS,
            )
        },
    ),
)
