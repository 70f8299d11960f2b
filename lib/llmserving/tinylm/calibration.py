"""What each matrix of a model is fed on a calibration text: a text by name, other than the one that is measured on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from llmserving import arguments
from llmserving.tinylm.model import Block, Decoder, rope_angles
from llmserving.tinylm.texts import calibration_text
from llmserving.tinylm.weights import LanguageModel, checked_model

TOKENS, WINDOW = 2048, 256


@dataclass(frozen=True)
class Calibration:
    """`tokens` of the calibration text `source` as one model's tokenizer cuts it, in windows [windows, length]."""

    source: str
    tokens: int
    model: str
    windows: Tensor = field(compare=False, repr=False)


@dataclass(frozen=True)
class SharedInput:
    """The matrices of a block that see the same input, and what makes it.

    `producer` can be divided for them: a norm by its gain, up_proj by its rows. o_proj has none here: of its inputs,
    several query heads share one KV head's rows of v_proj.
    """

    consumers: tuple[str, ...]
    producer: str | None


SHARED_INPUTS = (
    SharedInput(("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "input_layernorm"),
    SharedInput(("self_attn.o_proj",), None),
    SharedInput(("mlp.gate_proj", "mlp.up_proj"), "post_attention_layernorm"),
    SharedInput(("mlp.down_proj",), "mlp.up_proj"),
)


def calibration_for(model: LanguageModel, source: str = "austen", tokens: Any = TOKENS) -> Calibration:
    """The first `tokens` of calibration_text(source), whole windows of 256 or the model's context."""
    length = min(WINDOW, checked_model(model).context)
    wanted = arguments.count("tokens", "the number of tokens to calibrate with", tokens, at_least=length)
    have = model.encode(calibration_text(source))
    if len(have) < wanted:
        raise ValueError(f"tokens is {wanted:,}, but the calibration text of {source!r} has {len(have):,}")
    used = wanted // length * length
    return Calibration(source, used, model.name, torch.tensor(have[:used]).view(-1, length))


def inputs_of(model: LanguageModel, name: str, calibration: Calibration | None = None) -> Tensor:
    """What the matrix of that name is fed on a calibration text, [tokens, in]: for a look at one layer.

    Names are those of `Decoder.matrices()`, such as layers.1.mlp.up_proj; ValueError for another.
    """
    windows = (calibration or calibration_for(model)).windows
    for index, _, fed in through_blocks(model.decoder, windows):
        for shared, inputs in fed.items():
            if name in [f"layers.{index}.{consumer}" for consumer in shared.consumers]:
                return inputs
    last = model.config.layers - 1
    raise ValueError(
        f"name is of a matrix, from layers.0.self_attn.q_proj to layers.{last}.mlp.down_proj, but got {name!r}"
    )


@torch.no_grad()
def through_blocks(decoder: Decoder, windows: Tensor) -> Iterator[tuple[int, Block, Mapping[SharedInput, Tensor]]]:
    """Each block with what its matrices are fed, [tokens, in]. What is done to a block meanwhile, later ones feel."""
    angles = rope_angles(
        torch.arange(windows.shape[1]).expand(windows.shape), decoder.config.head_dim, decoder.config.rope_theta
    )
    x = decoder.embed_tokens(windows)
    for index, block in enumerate(decoder.layers):
        assert isinstance(block, Block)
        yield index, block, _fed(block, x, angles, index)
        x = block(x, angles, None, index, None)


def _fed(block: Block, x: Tensor, angles: tuple[Tensor, Tensor], index: int) -> dict[SharedInput, Tensor]:
    seen: dict[SharedInput, Tensor] = {}

    def keep(shared: SharedInput) -> Any:
        def hook(_: nn.Module, given: tuple[Tensor, ...]) -> None:
            seen[shared] = given[0].flatten(0, -2)

        return hook

    hooks = [
        block.get_submodule(shared.consumers[0]).register_forward_pre_hook(keep(shared)) for shared in SHARED_INPUTS
    ]
    block(x, angles, None, index, None)
    for hook in hooks:
        hook.remove()
    return seen
