"""A Llama-style directory as Hugging Face writes it: config.json, *.safetensors and, unless tokens are bytes, tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path

from torch import Tensor

from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.missing import need
from llmserving.tinylm.tokens import BpeTokenizer, ByteTokenizer, Tokenizer
from llmserving.tinylm.weights import LanguageModel, decoder_with

COMPUTED = "rotary_emb.inv_freq"  # stored by old checkpoints, computed here
BYTES = 256


def read_directory(folder: Path) -> LanguageModel:
    """The model of a directory. FileNotFoundError or ValueError naming the file or the key at fault."""
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(f"{folder} has no config.json, which states the shape of the model")
    config = DecoderConfig.from_json(folder / "config.json")
    decoder = decoder_with(config, _tensors(folder, tied=config.tied), str(folder))
    end = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("eos_token_id")
    return LanguageModel(config.name, decoder, _tokenizer(folder, config), end[0] if isinstance(end, list) else end)


def _tensors(folder: Path, *, tied: bool) -> dict[str, Tensor]:
    """All tensors by the names of model.py: a checkpoint calls the decoder `model`."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(f"{folder} has no *.safetensors, which hold the weights")
    tensors: dict[str, Tensor] = {}
    for file in files:
        try:
            tensors |= need("safetensors", "safetensors.torch").load_file(file)
        except need("safetensors").SafetensorError as error:
            raise ValueError(f"{file} cannot be read as safetensors: {error}") from None
    if tied:
        tensors.pop("lm_head.weight", None)  # a copy of the embedding, where it is stored at all
    return {name.removeprefix("model."): tensor for name, tensor in tensors.items() if not name.endswith(COMPUTED)}


def _tokenizer(folder: Path, config: DecoderConfig) -> Tokenizer:
    file = folder / "tokenizer.json"
    if file.is_file():
        library = need("tokenizers")
        try:
            return BpeTokenizer(library.Tokenizer.from_file(str(file)))
        except Exception as error:  # the package raises no class of its own
            raise ValueError(f"{file} cannot be read as a tokenizer: {error}") from None
    if config.vocab_size == BYTES:
        return ByteTokenizer()
    raise FileNotFoundError(
        f"{folder} has no tokenizer.json, and its {config.vocab_size:,} tokens are not the {BYTES} bytes"
    )
