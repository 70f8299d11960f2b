"""Reads single keys of a Hugging Face config.json, and refuses what is missing or impossible by the key's own name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llmserving import arguments, model_spec

MEANINGS = {
    "num_hidden_layers": "the number of layers",
    "num_attention_heads": "the number of query heads",
    "num_key_value_heads": "the number of KV heads",
    "head_dim": "the number of elements of one head",
    "hidden_size": "the width of the model",
    "vocab_size": "the number of tokens in the vocabulary",
    "sliding_window": "the number of tokens that a windowed layer looks back",
    "attention_chunk_size": "the number of tokens of a chunk that a layer looks back in",
    "kv_lora_rank": "the number of elements of the latent",
    "qk_rope_head_dim": "the number of elements with a position beside the latent",
    "num_experts_per_tok": "the number of experts a token is routed to",
    "intermediate_size": "the width of the feed-forward layers",
    "moe_intermediate_size": "the width of one expert",
}
MOST_OF = {"num_hidden_layers": model_spec.MOST_OF["layers"],
           "num_attention_heads": model_spec.MOST_OF["attention_heads"]}  # fmt: skip
# What transformers fills in where the published file leaves a key out.
DEFAULTS: dict[str, dict[str, int]] = {
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
                    "sliding_window": 4096},
    "gemma2": {"head_dim": 256, "num_key_value_heads": 4, "sliding_window": 4096},
    "gemma": {"head_dim": 256},
    "gpt_oss": {"head_dim": 64, "num_key_value_heads": 8, "sliding_window": 128},
    "mistral": {"num_key_value_heads": 8, "sliding_window": 4096},
    "mixtral": {"num_key_value_heads": 8},
    "llama4_text": {"attention_chunk_size": 8192},
}  # fmt: skip
DEFAULTS["gemma3"], DEFAULTS["llama4"] = DEFAULTS["gemma3_text"], DEFAULTS["llama4_text"]


class ConfigReader:
    """One language model's config. A file that nests it in text_config, beside a picture encoder, is unwrapped."""

    def __init__(self, config: Mapping[str, Any] | str | Path, families: Sequence[str]) -> None:
        self.where, whole = _open(config)
        text = whole.get("text_config")
        if text is not None and not isinstance(text, Mapping):
            raise TypeError(f"{self.where}: text_config is a config of its own, but got {arguments.shown(text)}")
        self.values: dict[str, Any] = dict(text if text is not None else whole)
        if text is not None:
            self.values.setdefault("tie_word_embeddings", whole.get("tie_word_embeddings"))
            self._refuse_two_answers(whole, text)
        self.family = self._family(whole, families)

    @property
    def is_latent(self) -> bool:
        return self.values.get("kv_lora_rank") is not None

    def count(self, key: str, *, default: int | None = None, at_least: int = 1) -> int:
        """The whole number that `key` states; `default`, or what transformers fills in, where it is left out."""
        value = self.values.get(key, DEFAULTS.get(self.family, {}).get(key))
        if value is None:
            value = default
        if value is None:
            advice = "; or give parameters" if key.endswith("intermediate_size") else ""
            raise ValueError(
                f"{self.where}: {key} is missing; a {self.family} config states {_meaning(key)} there{advice}"
            )
        most = MOST_OF.get(key, arguments.MOST)
        return arguments.count(f"{self.where}: {key}", _meaning(key), value, at_least=at_least, most=most)

    def optional_count(self, key: str) -> int | None:
        return None if self.values.get(key) is None else self.count(key)

    def has(self, key: str) -> bool:
        """Whether the config states `key`, or transformers fills it in; null is a statement that there is none."""
        return self.values.get(key, DEFAULTS.get(self.family, {}).get(key)) is not None

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"{self.where}: {key} is true or false, but got {arguments.shown(value)}")
        return default if value is None else value

    def layer_list(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise TypeError(f"{self.where}: {key} is a list, but got {arguments.shown(value)}")
        return list(value)

    def first_of(self, keys: Sequence[str]) -> str:
        """The one of `keys` that the config has; two that differ contradict each other."""
        present = [key for key in keys if self.values.get(key) is not None]
        if len({self.count(key) for key in present}) > 1:
            raise ValueError(f"{self.where}: {' and '.join(present)} contradict each other")
        if not present:
            raise ValueError(f"{self.where}: {keys[0]} is missing; a {self.family} config states it")
        return present[0]

    def _family(self, whole: Mapping[str, Any], families: Sequence[str]) -> str:
        named = [config.get("model_type") for config in (self.values, whole) if config.get("model_type") is not None]
        for name in named:
            if isinstance(name, str) and name in families:
                return name
        if not named:
            raise ValueError(f"{self.where}: model_type is missing; it names the family, such as 'llama'")
        raise ValueError(
            f"{self.where}: model_type {arguments.shown(named[0])} is not known; known are {', '.join(families)}"
        )

    def _refuse_two_answers(self, whole: Mapping[str, Any], text: Mapping[str, Any]) -> None:
        for key in MEANINGS:
            if None not in (whole.get(key), text.get(key)) and whole[key] != text[key]:
                raise ValueError(f"{self.where}: {key} is {whole[key]!r} outside and {text[key]!r} inside text_config")


def _open(config: Mapping[str, Any] | str | Path) -> tuple[str, Mapping[str, Any]]:
    where = "config"
    if isinstance(config, (str, Path)):
        path = Path(config)
        where = str(path / "config.json" if _is_folder(path) else path)
        try:
            config = json.loads(Path(where).read_text(encoding="utf-8"))
        except OSError as fault:
            raise ValueError(f"{where[:200]} cannot be read: {fault.strerror}") from None
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"{where} is not JSON: {fault}") from None
    if not isinstance(config, Mapping):
        raise TypeError(f"{where} must be a config.json's mapping or a path to one, but got {arguments.shown(config)}")
    return where, config


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file system takes; reading it says so
        return False


def _meaning(key: str) -> str:
    return MEANINGS.get(key, "a count")
