"""The shape of a Llama-style decoder, read from the config.json that lies beside its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmserving import arguments

NEEDED = {
    "vocab_size": "the number of tokens in the vocabulary",
    "hidden_size": "the width of the model",
    "intermediate_size": "the width of the feed-forward network",
    "num_hidden_layers": "the number of layers",
    "num_attention_heads": "the number of query heads",
    "max_position_embeddings": "the context that the model was trained at",
}
KEYS = {
    "vocab_size": "vocab_size",
    "width": "hidden_size",
    "ffn": "intermediate_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "context": "max_position_embeddings",
    "rope_theta": "rope_theta",
    "norm_eps": "rms_norm_eps",
}
THETA, EPS = 10_000.0, 1e-5  # where a config leaves them out
ROPE = ("rope_theta", "rope_type", "partial_rotary_factor")
TRICKS = ("rope_scaling", "attention_bias", "mlp_bias", "sliding_window", "quantization_config")


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes are counts; `context` is the number of tokens that a window had in training."""

    vocab_size: int
    width: int
    ffn: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    context: int
    rope_theta: float = THETA
    norm_eps: float = EPS
    tied: bool = True
    name: str = "a Llama-style model"

    def __post_init__(self) -> None:
        _check({field: getattr(self, field) for field in KEYS}, {field: field for field in KEYS}, "")

    @classmethod
    def from_json(cls, path: Path) -> DecoderConfig:
        """From a Hugging Face config.json. ValueError naming the key that is missing or means another architecture."""
        try:
            values: Any = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{path} is no JSON object, but {arguments.shown(values)}")
        for key, meaning in NEEDED.items():
            if key not in values:
                raise ValueError(f"{path} has no {key}, {meaning}")
        rope = _rope(values, path)
        for key, wanted in {"model_type": "llama", "hidden_act": "silu", "partial_rotary_factor": 1}.items():
            for table in (values, rope):
                if table.get(key, wanted) not in (None, wanted):
                    raise ValueError(f"{path}: {key} must be {wanted!r} here, but got {arguments.shown(table[key])}")
        for key in TRICKS:
            if values.get(key):
                raise ValueError(
                    f"{path}: this decoder knows no {key}, but the config sets {arguments.shown(values[key])}"
                )
        sizes: dict[str, Any] = {field: values.get(key) for field, key in KEYS.items()}
        sizes["rope_theta"] = rope.get("rope_theta", values.get("rope_theta", THETA))
        sizes["norm_eps"] = values.get("rms_norm_eps", EPS)
        sizes["kv_heads"] = sizes["kv_heads"] or sizes["heads"]
        if not sizes["head_dim"]:
            sizes["head_dim"] = _head_dim(sizes["width"], sizes["heads"], str(path))
        _check(sizes, KEYS, f"{path}: ")
        sizes |= {field: float(sizes[field]) for field in ("rope_theta", "norm_eps")}
        tied, name = bool(values.get("tie_word_embeddings", False)), values.get("_name_or_path") or path.parent.name
        return cls(**sizes, tied=tied, name=name)


def _check(sizes: Mapping[str, Any], names: Mapping[str, str], where: str) -> None:
    """ValueError or TypeError for what no decoder can have, under the name that it has where it is from."""
    for field in ("vocab_size", "width", "ffn", "layers", "heads", "kv_heads", "head_dim", "context"):
        arguments.count(where + names[field], "a size of the model", sizes[field])
    arguments.amount(where + names["rope_theta"], "the base of RoPE's turns", sizes["rope_theta"])
    arguments.amount(where + names["norm_eps"], "what keeps a norm from dividing by 0", sizes["norm_eps"])
    heads, kv_heads, head_dim = sizes["heads"], sizes["kv_heads"], sizes["head_dim"]
    if heads % kv_heads:
        raise ValueError(
            f"{where}{names['heads']} must be a multiple of {names['kv_heads']}, but got {heads} and {kv_heads}"
        )
    if head_dim % 2:
        raise ValueError(
            f"{where}{names['head_dim']} must be even, since RoPE turns pairs of elements, but got {head_dim}"
        )


def _rope(values: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The table where newer checkpoints have RoPE's settings; {} in older ones. ValueError for turns that we do not make."""
    rope = values.get("rope_parameters") or {}
    if not isinstance(rope, dict):
        raise ValueError(f"{path}: rope_parameters is a table of RoPE's settings, but got {arguments.shown(rope)}")
    kind = rope.get("rope_type", "default")
    if kind != "default":
        raise ValueError(f"{path}: this decoder knows no rope_type {arguments.shown(kind)} in rope_parameters")
    for key in rope:
        if key not in ROPE:
            raise ValueError(f"{path}: this decoder knows no {key} in rope_parameters")
    theta = values.get("rope_theta", rope.get("rope_theta"))
    if rope.get("rope_theta", theta) != theta:
        raise ValueError(f"{path}: rope_theta is {theta}, and {rope['rope_theta']} in rope_parameters; leave one")
    return rope


def _head_dim(width: Any, heads: Any, path: str) -> int:
    """What each head has where the config does not say."""
    wide = arguments.count(f"{path}: hidden_size", "the width of the model", width)
    many = arguments.count(f"{path}: num_attention_heads", "the number of query heads", heads)
    if wide % many:
        raise ValueError(
            f"{path}: hidden_size must be a multiple of num_attention_heads where no head_dim is given, but got {wide} and {many}"
        )
    return wide // many
