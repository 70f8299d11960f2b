"""A Llama-style decoder written out, one head and one token at a time, in float64: what model.py must compute."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def logits(config: Any, weights: dict[str, Array], tokens: list[int]) -> Array:
    """[T, vocabulary] scores. `weights` by the names of model.py."""
    x = weights["embed_tokens.weight"][tokens]
    for layer in range(config.layers):
        named = {
            name.removeprefix(f"layers.{layer}."): w
            for name, w in weights.items()
            if name.startswith(f"layers.{layer}.")
        }
        x = x + attention(config, named, norm(x, named["input_layernorm.weight"], config.norm_eps))
        x = x + feed_forward(named, norm(x, named["post_attention_layernorm.weight"], config.norm_eps))
    return norm(x, weights["norm.weight"], config.norm_eps) @ weights["lm_head.weight"].T


def norm(x: Array, gain: Array, eps: float) -> Array:
    return np.array([row / np.sqrt(np.mean(row * row) + eps) * gain for row in x])


def feed_forward(weights: dict[str, Array], x: Array) -> Array:
    gate = x @ weights["mlp.gate_proj.weight"].T
    inner = gate / (1 + np.exp(-gate)) * (x @ weights["mlp.up_proj.weight"].T)
    return np.asarray(inner @ weights["mlp.down_proj.weight"].T)


def turned(vector: Array, position: int, theta: float) -> Array:
    """RoPE of one head of one token: pair (i, i + E/2) is a complex number, turned by position * theta^(-2i/E)."""
    half = len(vector) // 2
    turns = np.exp(1j * position * theta ** (-np.arange(half) / half))
    pairs = (vector[:half] + 1j * vector[half:]) * turns
    return np.concatenate([pairs.real, pairs.imag])


def attention(config: Any, weights: dict[str, Array], x: Array) -> Array:
    size, shared = config.head_dim, config.heads // config.kv_heads
    outputs = []
    for head in range(config.heads):
        query_rows, kv_rows = (slice(h * size, (h + 1) * size) for h in (head, head // shared))
        queries = x @ weights["self_attn.q_proj.weight"][query_rows].T
        keys = x @ weights["self_attn.k_proj.weight"][kv_rows].T
        values = x @ weights["self_attn.v_proj.weight"][kv_rows].T
        keys = np.array([turned(key, place, config.rope_theta) for place, key in enumerate(keys)])
        rows = []
        for place, query in enumerate(queries):
            scores = keys[: place + 1] @ turned(query, place, config.rope_theta) / np.sqrt(size)
            shares = np.exp(scores - scores.max())
            rows.append(shares / shares.sum() @ values[: place + 1])
        outputs.append(np.array(rows))
    return np.concatenate(outputs, axis=1) @ weights["self_attn.o_proj.weight"].T
