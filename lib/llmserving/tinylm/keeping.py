"""What a decoder hands to its cache, counted: the bytes of the keys and values themselves, by no formula."""

from __future__ import annotations

import torch
from torch import Tensor

from llmserving.model_spec import ModelSpec
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.model import Decoder

TOKENS, WIDTH = 4, 64  # few and narrow: a layer's keys and values are as large whatever the width of the model is


class Keeping:
    """A step of a first pass that keeps what each layer hands over, and nothing else."""

    def __init__(self, tokens: int) -> None:
        self.positions = torch.arange(tokens)[None]
        self.kept: list[Tensor] = []

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        self.kept += [keys.to(torch.float16), values.to(torch.float16)]
        return keys, values


@torch.no_grad()
def kept_bytes_per_token(model: ModelSpec) -> int:
    """Bytes in FP16 that a decoder with this model's layers and heads keeps for a token; its weights are random."""
    if model.is_latent:
        raise ValueError(f"{model.name} keeps a latent, and this decoder keeps keys and values")
    config = DecoderConfig(
        vocab_size=TOKENS, width=WIDTH, ffn=WIDTH, layers=model.layers, heads=model.attention_heads,
        kv_heads=model.kv_heads, head_dim=model.head_dim, context=TOKENS,
    )  # fmt: skip
    step = Keeping(TOKENS)
    Decoder(config)(torch.arange(TOKENS)[None], step)
    return sum(tensor.numel() * tensor.element_size() for tensor in step.kept) // TOKENS
