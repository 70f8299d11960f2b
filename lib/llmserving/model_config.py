"""Turns a Hugging Face config.json into a ModelSpec; what is unknown or contradictory is refused, naming the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmserving import arguments
from llmserving.config_reader import ConfigReader
from llmserving.config_windows import EVERY_LAYER_SLIDES, FROM_A_LAYER_ON, window_fields
from llmserving.model_parameters import EXPERT_KEYS, USED_EXPERT_KEYS, count_parameters, sparse_layers
from llmserving.model_spec import ModelSpec

TIED = ("gemma", "gemma2", "gemma3", "gemma3_text")
LATENT = ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2")
FAMILIES = ("llama", "granite", "phi", *EVERY_LAYER_SLIDES, *FROM_A_LAYER_ON, *TIED, *LATENT, "gpt_oss", "llama4",
            "llama4_text")  # fmt: skip


def read_config(config: Mapping[str, Any] | str | Path, *, name: str | None = None,
                parameters: float | None = None) -> ModelSpec:  # fmt: skip
    """The model that a config.json describes: a mapping, or a path to the file or to its folder.

    A config does not state its parameters: they are counted from the shapes (model_parameters.py), or are yours.
    `name` is the config's _name_or_path where you give none. ValueError or TypeError naming the key at fault.
    """
    reader = ConfigReader(config, FAMILIES)
    heads = reader.count("num_attention_heads")
    kv_heads = reader.count("num_key_value_heads", default=heads)
    _refuse_a_foreign_latent(reader)
    if not reader.is_latent and heads % kv_heads:
        raise ValueError(
            f"{reader.where}: num_key_value_heads {kv_heads} contradicts num_attention_heads {heads}, which must be a "
            "multiple of it"
        )
    tied = reader.flag("tie_word_embeddings", default=reader.family in TIED)
    head_dim = _head_dim(reader, heads)
    experts, experts_per_token = _experts(reader)
    total, active = _parameters(reader, head_dim, tied, parameters)
    return ModelSpec(
        name=reader.values.get("_name_or_path") or reader.family if name is None else name,
        layers=reader.count("num_hidden_layers"),
        attention_heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        hidden_size=reader.count("hidden_size"),
        vocab_size=reader.count("vocab_size"),
        parameters=total,
        active_parameters=active,
        experts=experts,
        experts_per_token=experts_per_token,
        latent_rank=reader.count("kv_lora_rank") if reader.is_latent else None,
        latent_rope_dim=reader.count("qk_rope_head_dim") if reader.is_latent else None,
        indexer_dim=reader.optional_count("index_head_dim"),
        tied_embeddings=tied,
        source=reader.where,
        **window_fields(reader),
    )


def _experts(reader: ConfigReader) -> tuple[int | None, int | None]:
    if not sparse_layers(reader):
        return None, None
    key, used_key = reader.first_of(EXPERT_KEYS), reader.first_of(USED_EXPERT_KEYS)
    experts, used = reader.count(key), reader.count(used_key)
    if used > experts:
        raise ValueError(f"{reader.where}: {used_key} {used} contradicts {key} {experts}, which is less")
    return experts, used


def _head_dim(reader: ConfigReader, heads: int) -> int:
    if reader.is_latent:
        return reader.count("v_head_dim")
    width = reader.count("hidden_size")
    if width % heads == 0:
        return reader.count("head_dim", default=width // heads)
    try:
        return reader.count("head_dim")
    except ValueError:
        raise ValueError(
            f"{reader.where}: head_dim is missing, and hidden_size {width} is no multiple of {heads} "
            "num_attention_heads; one of the three is wrong"
        ) from None


def _refuse_a_foreign_latent(reader: ConfigReader) -> None:
    if reader.family in LATENT:
        reader.count("kv_lora_rank")
        return
    for key in ("kv_lora_rank", "index_head_dim"):
        if reader.values.get(key) is not None:
            raise ValueError(f"{reader.where}: {key} contradicts model_type {reader.family!r}, which caches no latent")


def _parameters(reader: ConfigReader, head_dim: int, tied: bool, given: float | None) -> tuple[int, int]:
    if given is None:
        return count_parameters(reader, head_dim=head_dim, tied=tied)
    total = arguments.count("parameters", "the number of weights", given, whole_floats=True)
    if not sparse_layers(reader):
        return total, total
    counted, active = count_parameters(reader, head_dim=head_dim, tied=tied)
    if total <= counted - active:
        raise ValueError(
            f"parameters {total:,} contradicts the config, whose experts at rest alone are {counted - active:,} weights"
        )
    return total, total - (counted - active)
