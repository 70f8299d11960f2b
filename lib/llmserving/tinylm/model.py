"""A Llama-style decoder in plain torch: what a served model computes, with nothing left out and nothing added.

Shapes: B requests, T new tokens of each, S tokens seen so far (S >= T), D the width, H query heads, K KV heads, E
elements a head. Names of modules are those of Hugging Face, so that a checkpoint's tensors find their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from llmserving.tinylm.config import DecoderConfig


class Step(Protocol):
    """What the decoder needs of a KV cache for one forward pass over B requests; see kv_cache.py."""

    positions: Tensor  # [B, T] the place of each new token in its request, counted from 0

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Stores [B, T, K, E] new keys and values; returns all of them, [B, S, K, E]."""


class RmsNorm(nn.Module):
    """Every token's vector divided by its root mean square, then scaled by a learned gain. [..., D] -> [..., D]"""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rope_angles(positions: Tensor, head_dim: int, theta: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of each position's turns, one turn for each pair of elements. [B, T] -> two of [B, T, 1, E/2]"""
    turns = theta ** -(torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
    angles = positions[:, :, None, None].to(torch.float32) * turns
    return angles.cos(), angles.sin()


def rotate(x: Tensor, angles: tuple[Tensor, Tensor]) -> Tensor:
    """RoPE: turns the pairs (i, i + E/2), so that a dot product sees only how far two tokens are apart. [B, T, H, E]"""
    cos, sin = (part.to(x.dtype) for part in angles)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """What each query takes in of the values, [B, H, T, E], for keys and values [B, K, S, E]; no mask: tokens 0 to its own."""
    return functional.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=True
    )


class Attention(nn.Module):
    """Grouped-query attention: H query heads share K heads of keys and values, and only those K are cached.

    `mix` is what the heads do, which timing takes apart from the projections around it. `kv_scheme` is what the cache does
    to [B, T, K, E] keys and values as it stores them, such as rounding to INT8.
    """

    kv_scheme: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    mix: Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor] = staticmethod(attend)

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.q_proj = nn.Linear(config.width, config.heads * config.head_dim, bias=False)
        self.k_proj = nn.Linear(config.width, config.kv_heads * config.head_dim, bias=False)
        self.v_proj = nn.Linear(config.width, config.kv_heads * config.head_dim, bias=False)
        self.o_proj = nn.Linear(config.heads * config.head_dim, config.width, bias=False)

    def forward(
        self, x: Tensor, angles: tuple[Tensor, Tensor], mask: Tensor | None, layer: int, step: Step | None
    ) -> Tensor:
        """[B, T, D] -> [B, T, D]; without a mask, token i sees tokens 0 to i."""
        batch, new, _ = x.shape
        queries = rotate(self.q_proj(x).view(batch, new, self.config.heads, -1), angles)
        keys = rotate(self.k_proj(x).view(batch, new, self.config.kv_heads, -1), angles)
        values = self.v_proj(x).view(batch, new, self.config.kv_heads, -1)
        if self.kv_scheme is not None:
            keys, values = self.kv_scheme(keys, values)
        if step is not None:
            keys, values = step.extend(layer, keys, values)
        mixed = self.mix(queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), mask)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, new, -1))  # type: ignore[no-any-return]


class SwiGlu(nn.Module):
    """The feed-forward network: one projection, gated by the SiLU of another. [B, T, D] -> [B, T, D]"""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.width, config.ffn, bias=False)
        self.up_proj = nn.Linear(config.width, config.ffn, bias=False)
        self.down_proj = nn.Linear(config.ffn, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]


class Block(nn.Module):
    """Attention moves what earlier tokens know to this one; the feed-forward network works on each token alone."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.input_layernorm = RmsNorm(config.width, config.norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RmsNorm(config.width, config.norm_eps)
        self.mlp = SwiGlu(config)

    def forward(
        self, x: Tensor, angles: tuple[Tensor, Tensor], mask: Tensor | None, layer: int, step: Step | None
    ) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), angles, mask, layer, step)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Tokens in, a score for every token of the vocabulary out; the head is the embedding again where `tied`."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.width)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.width, config.norm_eps)
        self.lm_head = nn.Linear(config.width, config.vocab_size, bias=False)
        if config.tied:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, tokens: Tensor, step: Step | None = None, *, last_only: bool = False) -> Tensor:
        """Logits [B, T, vocabulary], or [B, 1, vocabulary] of the last token alone, for [B, T] token ids.

        Without a step, the tokens are all there is. With one, they follow what it holds, and what it returns is seen.
        """
        batch, new = tokens.shape
        positions = torch.arange(new).expand(batch, new) if step is None else step.positions
        mask = None  # where all rows start at 0, they are equally long, and torch's own causal mask is the fastest
        if positions[:, 0].any():
            # Row b may look at its own position and before; what lies behind is padding or not yet written.
            mask = torch.arange(int(positions.max()) + 1) <= positions[:, None, :, None]
        angles = rope_angles(positions, self.config.head_dim, self.config.rope_theta)
        x = self.embed_tokens(tokens)
        for index, block in enumerate(self.layers):
            x = block(x, angles, mask, index, step)
        return self.lm_head(self.norm(x[:, -1:] if last_only else x))  # type: ignore[no-any-return]

    def matrices(self) -> Iterator[tuple[str, nn.Linear]]:
        """The matrices that quantization works on, by name: those of the layers, not the embedding and the head."""
        for name, module in self.layers.named_modules(prefix="layers"):
            if isinstance(module, nn.Linear):
                yield name, module

    def attentions(self) -> Iterator[Attention]:
        """The attention of each layer, whose `kv_scheme` can be set."""
        return (module for module in self.layers.modules() if isinstance(module, Attention))
