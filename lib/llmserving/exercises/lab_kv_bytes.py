"""The lab of level 2: the bytes that a token takes in the cache, for the attention that models really have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe


def shape(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int = 16, latent_dim: int | None = None
) -> Mapping[str, Any]:
    """The arguments of one call."""
    return {
        "layers": layers,
        "query_heads": query_heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "bits": bits,
        "latent_dim": latent_dim,
    }


LAB2_1 = Exercise(
    id="LAB2.1",
    title="Bytes a token, for every kind of attention",
    notebook="L2/lab_kv_bytes",
    statement=(
        "Write `kv_bytes_per_token`: the bytes that one more token takes in the KV cache of one request, as a whole number. "
        "Its arguments are what a model's config says, and `bits`, the bits of one cached element. Begin with multi-head "
        "attention, where each query head has keys and values of its own, so that `kv_heads` is `query_heads` and "
        "`latent_dim` is None. That is one point. The other three are for grouped-query, multi-query and latent attention: "
        "compare the function with the logs below, find out what those models keep, and come back to repair it."
    ),
    parts=(
        Part(
            "kv_bytes_per_token",
            "kv_bytes_per_token",
            "function",
            "a function of the six numbers, with arguments named as in the answer cell",
            (
                "Take one layer first: what does a single token leave there, and how many elements is that?",
                "Each head there leaves a key and a value, and all layers are alike. Count all their bits, and divide by 8 last.",
                "A similar case: 2 layers, 4 heads of 10 elements, 8 bits: 2 * 2 * 4 * 10 * 8 / 8 = 160 bytes.",
            ),
            points=4,
            group_hints={
                "grouped-query": (
                    "The query heads of one group read the same keys and values. So how many heads have keys and values to keep?",
                    "A similar case: 2 layers, 4 query heads, 2 KV heads of 10 elements, 8 bits: 2 * 2 * 2 * 10 * 1 = 80 bytes.",
                ),
                "multi-query": (
                    "Multi-query is grouped-query with a single group: which argument says how many heads keep something?",
                    "A similar case: 2 layers, 4 query heads, 1 KV head of 10 elements, 8 bits: 2 * 2 * 1 * 10 * 1 = 40 bytes.",
                ),
                "latent": (
                    "A latent takes the place of both keys and values. Ask of each factor whether it still counts.",
                    "A similar case: 2 layers, 4 heads of 10 elements, a latent of 30, 8 bits: 2 * 30 * 1 = 60 bytes.",
                ),
            },
            stub=(
                "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n"
                '    """Bytes that one more token takes in the cache; latent_dim is None for a model without a latent."""\n'
                '    raise NotImplementedError("LAB2.1: the bytes of one token")'
            ),
            probes=(
                Probe("multi-head", shape(32, 32, 32, 128)),
                Probe("multi-head", shape(40, 40, 40, 128, bits=8)),
                Probe("grouped-query", shape(32, 32, 8, 128)),
                Probe("grouped-query", shape(80, 64, 8, 128, bits=4)),
                Probe("multi-query", shape(18, 8, 1, 256)),
                Probe("latent", shape(61, 128, 128, 128, latent_dim=576)),
                Probe("latent", shape(27, 16, 16, 128, bits=8, latent_dim=576)),
            ),
            own_work=("kv_bytes", "kv_bytes_per_token", "kv_bytes_for_request", "token_bytes", "kv_layout"),
        ),
    ),
    draw=Draw("LAB2.1"),
    difficulty=3,
    minutes=15,
    importance=5,
)

EXERCISES_HERE = (LAB2_1,)
