"""Language models by name: the course's own small one, SmolLM2 from its wheel, or any Llama-style directory of yours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llmserving import arguments
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.missing import OWN, SMOLLM2
from llmserving.tinylm.model import Decoder
from llmserving.tinylm.tokens import Tokenizer

CHECKPOINT = Path(__file__).parent / "checkpoint"
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)  # what needs no scale


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A decoder with its tokenizer. `end` is the token that ends a text, where the model has one."""

    name: str
    decoder: Decoder
    tokenizer: Tokenizer
    end: int | None = None

    @property
    def config(self) -> DecoderConfig:
        return self.decoder.config

    @property
    def context(self) -> int:
        """The tokens that the model was trained to look back on."""
        return self.config.context

    @property
    def parameters(self) -> int:
        """The number of weights; a tied head is not counted twice."""
        return sum(parameter.numel() for parameter in self.decoder.parameters())

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(arguments.text("text", text))


def load(name: str | Path = OWN) -> LanguageModel:
    """A model by name or from a directory with config.json and *.safetensors, its weights in float32.

    The same object each time, so that what is computed from it can be kept. ModelMissing where a package lacks.
    """
    if name == OWN:
        return _load(CHECKPOINT)
    if name == SMOLLM2:
        return _load_smollm2()
    wanted = f"name is {OWN!r}, {SMOLLM2!r} or a directory with config.json and *.safetensors"
    if not isinstance(name, str | Path):
        raise TypeError(f"{wanted}, but got {arguments.shown(name)}")
    if not Path(name).is_dir():
        raise ValueError(f"{wanted}, but got {arguments.shown(str(name))}")
    return _load(Path(name).resolve())


@lru_cache(maxsize=2)
def _load(folder: Path) -> LanguageModel:
    from llmserving.tinylm.safetensors_weights import read_directory

    return read_directory(folder)


@lru_cache(maxsize=1)
def _load_smollm2() -> LanguageModel:
    from llmserving.tinylm.gguf_weights import read_smollm2

    return read_smollm2()


def forget() -> None:
    """Lets `load` read its models anew, for when one was spoiled."""
    _load.cache_clear()
    _load_smollm2.cache_clear()


def checked_model(model: Any) -> LanguageModel:
    """`model` if it is one, or a TypeError that says where to get one."""
    if not isinstance(model, LanguageModel):
        raise TypeError(f"model is what load() returns, but got {arguments.shown(model)}")
    return model


def decoder_with(config: DecoderConfig, tensors: Mapping[str, Tensor], where: str) -> Decoder:
    """A decoder with these weights, named as in model.py. ValueError naming a tensor that lacks, is too much or misshapen."""
    with torch.device("meta"):  # no memory, and no random numbers, for weights that are replaced at once
        decoder = Decoder(config)
    wanted = {name: tuple(tensor.shape) for name, tensor in decoder.state_dict().items()}
    given = {name: _floats(tensor, f"{where}: {name}") for name, tensor in tensors.items()}
    if config.tied and "embed_tokens.weight" in given:
        given["lm_head.weight"] = given["embed_tokens.weight"]
    for name in sorted(wanted.keys() - given.keys()):
        raise ValueError(f"{where} has no tensor {name}, which the config asks for")
    for name in sorted(given.keys() - wanted.keys()):
        raise ValueError(f"{where} has a tensor {name}, for which a Llama-style decoder has no place")
    for name, shape in wanted.items():
        if tuple(given[name].shape) != shape:
            raise ValueError(f"{where}: {name} is {list(given[name].shape)}, but the config makes it {list(shape)}")
    decoder.load_state_dict(given, assign=True)
    if config.tied:
        decoder.lm_head.weight = decoder.embed_tokens.weight
    return decoder.requires_grad_(False).eval()


def _floats(tensor: Tensor, name: str) -> Tensor:
    """In float32. ValueError for codes, whose scales would be lost, and for what is no number."""
    if tensor.dtype not in FLOATS:
        raise ValueError(
            f"{name} is of {tensor.dtype}, but weights are read as floats: codes of a quantized checkpoint say nothing "
            "without their scales; take the checkpoint that it was made of"
        )
    if not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} has NaN or infinity among its weights")
    return tensor.float()
