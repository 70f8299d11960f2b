"""A Hugging Face config.json gives the model that the table has, weights counted from its shapes included."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llmserving.models import MODELS, ModelSpec

CONFIGS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "model_configs.json").read_text())
BESIDE_THE_LANGUAGE_MODEL = {
    "llama-4-scout": 871_932_416, "pixtral-12b": 434_957_312, "kimi-vl-a3b": 447_547_568,
    "gemma-3-4b": 419_816_304, "gemma-3-12b": 421_290_864, "gemma-3-27b": 423_060_336,
}  # fmt: skip
"""Weights that see images: in the published count, but not in the language model's config."""


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_gives_the_model_of_the_table(name: str) -> None:
    read, known = ModelSpec.from_config(CONFIGS[name], name=name), MODELS[name]
    beside = BESIDE_THE_LANGUAGE_MODEL.get(name, 0)
    assert read.parameters + beside == known.parameters
    assert (read.active_parameters or 0) + beside == known.active_parameters
    same = {"parameters": 10**13, "active_parameters": 10**13, "experts": 1, "experts_per_token": 1}
    assert replace(read, source="", **same) == replace(known, source="", date="", **same)  # type: ignore[arg-type]
    assert (read.experts, read.experts_per_token) == (known.experts, known.experts_per_token)


def test_a_config_is_read_from_a_file_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**CONFIGS["llama-3.1-8b"], "_name_or_path": "mine"}))
    for path in (tmp_path, tmp_path / "config.json", str(tmp_path)):
        model = ModelSpec.from_config(path)
        assert (model.name, model.parameters) == ("mine", 8_030_261_248)
        assert model.source.endswith("config.json")


def test_parameters_may_be_given_instead_of_counted() -> None:
    without_shapes = {key: value for key, value in CONFIGS["llama-3.1-8b"].items() if key != "intermediate_size"}
    assert ModelSpec.from_config(without_shapes, parameters=8e9).parameters == 8_000_000_000
    with pytest.raises(ValueError, match=r"config: intermediate_size is missing.*or give parameters"):
        ModelSpec.from_config(without_shapes)
    mixtral = ModelSpec.from_config(CONFIGS["mixtral-8x7b"], parameters=47e9)
    assert mixtral.parameters - (mixtral.active_parameters or 0) == 6 * 32 * 3 * 4096 * 14336


def config(name: str, **changes: Any) -> dict[str, Any]:
    return {**CONFIGS[name], **changes}


def test_what_a_config_leaves_out_has_the_family_s_meaning() -> None:
    assert ModelSpec.from_config(CONFIGS["codellama-7b"]).kv_heads == 32  # no num_key_value_heads: one for each head
    assert ModelSpec.from_config(CONFIGS["gemma-3-4b"]).head_dim == 256
    assert ModelSpec.from_config(config("llama-3.1-8b", num_key_value_heads=None)).kv_heads == 32
    left_out = {key: value for key, value in CONFIGS["mistral-7b-v0.3"].items() if key != "sliding_window"}
    assert ModelSpec.from_config(left_out).window == 4096
    assert ModelSpec.from_config(CONFIGS["mistral-7b-v0.3"]).window is None  # null says that there is none


def test_windows_start_at_a_layer_or_are_listed() -> None:
    qwen = ModelSpec.from_config(
        config("qwen2.5-7b", use_sliding_window=True, sliding_window=4096, max_window_layers=20)
    )
    assert (qwen.window, qwen.window_kind, qwen.window_layers) == (4096, "sliding", 8)
    assert qwen.windowed == (*[False] * 20, *[True] * 8)
    kinds = ["sliding_attention"] * 5 + ["full_attention"] * 31
    listed = ModelSpec.from_config(config("qwen3-8b", use_sliding_window=True, sliding_window=1024, layer_types=kinds))
    assert listed.window_positions == (0, 1, 2, 3, 4)
    assert ModelSpec.from_config(config("gemma-3-1b", num_hidden_layers=11)).windowed.index(False) == 5


def test_a_window_as_long_as_the_longest_context_is_none() -> None:
    assert ModelSpec.from_config(config("phi-4", sliding_window=262144, max_position_embeddings=131072)).window is None
    assert ModelSpec.from_config(config("phi-4", sliding_window=2047, max_position_embeddings=4096)).window == 2047


def test_llama_4_may_list_the_layers_without_positions() -> None:
    text = {**CONFIGS["llama-4-scout"]["text_config"], "no_rope_layers": [0] * 40 + [1] * 8}
    assert ModelSpec.from_config({"model_type": "llama4", "text_config": text}).window_layers == 8


def test_some_layers_of_a_mixture_may_be_dense() -> None:
    every_second = ModelSpec.from_config(config("qwen3-30b-a3b", decoder_sparse_step=2))
    assert every_second.parameters < MODELS["qwen3-30b-a3b"].parameters
    dense = ModelSpec.from_config(config("qwen3-30b-a3b", mlp_only_layers=list(range(48))))
    assert dense.experts is None


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("llama-3.1-8b", {"model_type": "rwkv7"}, ValueError, "model_type 'rwkv7' is not known; known are llama, "),
    ("llama-3.1-8b", {"model_type": None}, ValueError, "model_type is missing"),
    ("llama-3.1-8b", {"num_hidden_layers": None}, ValueError, "num_hidden_layers is missing; a llama config states the"),
    ("llama-3.1-8b", {"num_hidden_layers": 0}, ValueError, "num_hidden_layers is the number of layers and must be at"),
    ("llama-3.1-8b", {"num_hidden_layers": 32.0}, TypeError, "num_hidden_layers is the number of layers, a whole number"),
    ("llama-3.1-8b", {"vocab_size": True}, TypeError, "vocab_size is the number of tokens in the vocabulary"),
    ("llama-3.1-8b", {"hidden_size": float("nan")}, ValueError, "hidden_size is the width of the model, but got NaN"),
    ("llama-3.1-8b", {"num_key_value_heads": 5}, ValueError, "num_key_value_heads 5 contradicts num_attention_heads 32"),
    ("llama-3.1-8b", {"hidden_size": 4100}, ValueError, "head_dim is missing, and hidden_size 4100 is no multiple of 32"),
    ("llama-3.1-8b", {"kv_lora_rank": 512}, ValueError, "kv_lora_rank contradicts model_type 'llama'"),
    ("llama-3.1-8b", {"sliding_window": 4096}, ValueError, "sliding_window contradicts model_type 'llama'"),
    ("llama-3.1-8b", {"tie_word_embeddings": "no"}, TypeError, "tie_word_embeddings is true or false, but got 'no'"),
    ("deepseek-v3", {"kv_lora_rank": None}, ValueError, "kv_lora_rank is missing"),
    ("mixtral-8x7b", {"num_experts": 16}, ValueError, "num_local_experts and num_experts contradict each other"),
    ("mixtral-8x7b", {"num_local_experts": None}, ValueError, "num_local_experts is missing"),
    ("mixtral-8x7b", {"num_experts_per_tok": 9}, ValueError, "num_experts_per_tok 9 contradicts num_local_experts 8"),
    ("gpt-oss-20b", {"layer_types": ["full_attention"]}, ValueError, "layer_types names 1 layers, num_hidden_layers 24"),
    ("gpt-oss-20b", {"layer_types": ["linear_attention"] * 24}, ValueError, "layer_types has linear_attention; known"),
    ("gpt-oss-20b", {"layer_types": "full_attention"}, TypeError, "layer_types is a list, but got 'full_attention'"),
    ("gpt-oss-20b", {"layer_types": ["chunked_attention", "sliding_attention"] * 12, "attention_chunk_size": 8},
     ValueError, "layer_types mixes sliding and chunked layers"),
    ("gpt-oss-20b", {"sliding_window": None}, ValueError, "sliding_window is null"),
    ("gemma-3-27b", {"num_hidden_layers": 61}, ValueError, "num_hidden_layers is 61 outside and 62 inside text_config"),
    ("gpt-oss-20b", {"layer_types": [["full_attention"]] * 24}, ValueError, "layer_types has ['full_attention']; known are"),
    ("gpt-oss-20b", {"num_experts_per_tok": 4, "experts_per_token": 2}, ValueError,
     "num_experts_per_tok and experts_per_token contradict each other"),
    ("llama-3.1-8b", {"num_local_experts": 8}, ValueError, "num_local_experts contradicts model_type 'llama', which has no"),
    ("llama-3.1-8b", {"index_head_dim": 128}, ValueError, "index_head_dim contradicts model_type 'llama'"),
    ("llama-3.1-8b", {"layer_types": ["sliding_attention"] * 32, "sliding_window": 1024}, ValueError,
     "layer_types contradicts model_type 'llama', which has no window"),
    ("llama-3.1-8b", {"num_hidden_layers": 10**12}, ValueError, "num_hidden_layers is the number of layers, but 1000000000000"),
    ("llama-3.1-8b", {"model_type": ["llama"]}, ValueError, "model_type ['llama'] is not known"),
    ("deepseek-v3", {"first_k_dense_replace": 62}, ValueError, "first_k_dense_replace 62 contradicts num_hidden_layers 61"),
    ("qwen2.5-7b", {"use_sliding_window": True, "sliding_window": None}, ValueError,
     "use_sliding_window is true, but sliding_window states no window"),
    ("qwen2.5-7b", {"use_sliding_window": False, "sliding_window": 64, "layer_types": ["sliding_attention"] * 28}, ValueError,
     "layer_types has sliding layers, but use_sliding_window is false"),
    ("gemma-3-1b", {"sliding_window_pattern": 4, "layer_types": ["full_attention"] * 26}, ValueError,
     "layer_types contradicts sliding_window_pattern 4"),
    ("gemma-3-1b", {"sliding_window_pattern": 4, "_sliding_window_pattern": 6}, ValueError,
     "sliding_window_pattern and _sliding_window_pattern contradict each other"),
    ("gemma-3-27b", {"text_config": [1]}, TypeError, "text_config is a config of its own, but got [1]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "error", "sentence"), REFUSED, ids=[row[3][:40] for row in REFUSED])
def test_an_unknown_or_contradictory_config_is_refused_naming_the_key(
    name: str, changes: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=re.escape(f"config: {sentence}")):
        ModelSpec.from_config(config(name, **changes))


def test_no_rope_layers_must_name_every_layer() -> None:
    text = {**CONFIGS["llama-4-scout"]["text_config"], "no_rope_layers": [1]}
    with pytest.raises(ValueError, match="no_rope_layers names 1 layers, num_hidden_layers 48"):
        ModelSpec.from_config({"model_type": "llama4", "text_config": text})


@pytest.mark.parametrize("nothing", [None, 7, ["config.json"]])
def test_what_is_no_config_is_refused(nothing: Any) -> None:
    with pytest.raises(TypeError, match=r"config must be a config\.json's mapping or a path to one"):
        ModelSpec.from_config(nothing)


def test_a_file_that_is_no_json_or_no_mapping_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    broken.write_text("{")
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        ModelSpec.from_config(broken)
    broken.write_text("[]")
    with pytest.raises(TypeError, match="mapping"):
        ModelSpec.from_config(broken)


def test_layers_without_positions_are_listed_as_0_and_1_or_come_every_so_often() -> None:
    text = CONFIGS["llama-4-scout"]["text_config"]
    for listed in (["x"] * 48, [2] * 48, [0.5] * 48):
        with pytest.raises(ValueError, match="no_rope_layers has a 1 for each layer with positions and a 0"):
            ModelSpec.from_config({"model_type": "llama4", "text_config": {**text, "no_rope_layers": listed}})
    every_sixth = {**text, "no_rope_layers": [], "no_rope_layer_interval": 6}
    assert ModelSpec.from_config({"model_type": "llama4", "text_config": every_sixth}).window_layers == 40


def test_a_pattern_may_be_written_either_way() -> None:
    for key in ("sliding_window_pattern", "_sliding_window_pattern"):
        given = {**config("gemma-3-1b", sliding_window_pattern=None, layer_types=None), key: 2}
        assert ModelSpec.from_config(given).window_layers == 13


def test_kv_heads_left_out_are_the_family_s_own_or_one_a_query_head() -> None:
    def without(name: str) -> dict[str, Any]:
        return {key: value for key, value in config(name).items() if key != "num_key_value_heads"}

    assert ModelSpec.from_config(without("llama-3.1-8b")).kv_heads == 32
    assert ModelSpec.from_config(without("mistral-7b-v0.1")).kv_heads == 8
    assert ModelSpec.from_config(config("mistral-7b-v0.1", num_key_value_heads=None)).kv_heads == 32


def test_fewer_parameters_than_the_experts_at_rest_are_refused() -> None:
    with pytest.raises(ValueError, match="^parameters 3,000,000,000 contradicts the config, whose experts at rest"):
        ModelSpec.from_config(config("gpt-oss-20b"), parameters=3e9)


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    for missing in (tmp_path / "none.json", tmp_path, "x" * 10_000, "nul\0byte"):
        with pytest.raises(ValueError, match="none.json|config.json|xxx|nul"):
            ModelSpec.from_config(missing)
    binary = tmp_path / "config.json"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        ModelSpec.from_config(binary)
