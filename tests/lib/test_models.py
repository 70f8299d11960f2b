"""A model is one row of data; a spec that contradicts itself is refused, and a wrong name gets the nearest ones."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from datetime import date
from typing import Any

import pytest
from llmserving import data
from llmserving.hardware import GPUS
from llmserving.models import MODELS, ModelSpec
from llmserving.presets import Presets, UnknownNameError

LLAMA = MODELS["llama-3.1-8b"]
SCOUT, LATENT, MIXTRAL = MODELS["llama-4-scout"], MODELS["deepseek-v3"], MODELS["mixtral-8x7b"]


def test_llama_3_1_8b_is_what_its_config_says() -> None:
    assert (LLAMA.layers, LLAMA.attention_heads, LLAMA.kv_heads, LLAMA.head_dim) == (32, 32, 8, 128)
    assert (LLAMA.hidden_size, LLAMA.vocab_size, LLAMA.parameters) == (4096, 128256, 8_030_261_248)
    assert LLAMA.active_parameters == LLAMA.parameters
    assert not LLAMA.is_latent
    assert not any(LLAMA.windowed)


def test_the_course_s_own_models_are_there() -> None:
    small, large = MODELS["course-32-layer"], MODELS["course-13b"]
    assert (small.layers, small.hidden_size, small.attention_heads, small.kv_heads) == (32, 4096, 32, 32)
    assert (large.layers, large.hidden_size, large.attention_heads, large.parameters) == (40, 5120, 40, 13_000_000_000)


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_every_row_has_a_source_and_a_date(model: ModelSpec) -> None:
    assert model.source
    assert date.fromisoformat(model.date) <= date(2026, 11, 29)


@pytest.mark.parametrize("row", data.rows("models.csv"), ids=lambda row: row["name"])
def test_yes_and_nothing_are_the_only_marks_in_the_table(row: dict[str, str]) -> None:
    assert row["tied_embeddings"] in ("yes", "")
    assert row["inferred"] in ("yes", "")


def test_aliases_name_models_and_say_where_they_are_spelled_so() -> None:
    for row in data.rows("model_aliases.csv"):
        assert row["source"]
        assert row["inferred"] in ("yes", "no")
        assert replace(MODELS[row["alias"]], inferred=False) == replace(MODELS[row["name"]], inferred=False)


@pytest.mark.parametrize(
    "spelling",
    ["meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct", "LLAMA-3.1-8B", "meta-llama/Meta-Llama-3.1-8B"],
)
def test_a_model_is_found_by_hugging_face_s_spelling_in_any_case(spelling: str) -> None:
    assert MODELS[spelling] is LLAMA
    assert spelling in MODELS


def test_a_spelling_whose_model_was_only_inferred_keeps_that_mark() -> None:
    assert MODELS["Qwen2.5-0.5B-class (inferred: 196608 B/block)"].inferred
    assert MODELS["Qwen-family 9B? TP2"].inferred
    assert not MODELS["qwen2.5-0.5b"].inferred


def test_iterating_gives_each_model_once_by_its_own_name() -> None:
    assert list(MODELS) == [model.name for model in MODELS.values()]
    assert len(set(MODELS)) == len(MODELS) > 60


@pytest.mark.parametrize("error", [KeyError, ValueError])
def test_an_unknown_name_gets_the_nearest_ones(error: type[Exception]) -> None:
    with pytest.raises(error) as refusal:
        MODELS["lama-3.1-8b"]
    assert str(refusal.value).startswith("there is no model 'lama-3.1-8b'; the nearest are 'llama-3.1-8b', ")
    assert "lama-3.1-8b" not in MODELS
    assert MODELS.get("lama-3.1-8b") is None


@pytest.mark.parametrize("name", ["", "zzz", "🦙", "x" * 10_000])
def test_any_text_that_is_no_name_gets_a_short_sentence(name: str) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        MODELS[name]
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("name", [None, 8, 8.0, ["llama-3.1-8b"], LLAMA])
def test_what_is_no_text_is_no_name(name: Any) -> None:
    with pytest.raises(TypeError, match="a model is named by text such as 'llama-3.1-8b'"):
        MODELS[name]
    assert name not in MODELS


def test_one_spelling_cannot_mean_two_models() -> None:
    with pytest.raises(ValueError, match=r"model 'a/B' is spelled like 'b', but is not the same"):
        Presets("model", {"b": 1}, {"a/B": 2})


def test_a_model_cannot_be_changed_but_replaced() -> None:
    with pytest.raises(FrozenInstanceError):
        LLAMA.layers = 33  # type: ignore[misc]
    assert replace(LLAMA, layers=33).layers == 33
    assert hash(LLAMA) == hash(replace(LLAMA))


@pytest.mark.parametrize(
    ("name", "weights"), [("llama-3.1-8b", 2 * 128256 * 4096), ("gemma-7b", 256000 * 3072), ("opt-13b", 50272 * 5120)]
)
def test_tied_embeddings_are_one_matrix_and_untied_two(name: str, weights: int) -> None:
    assert MODELS[name].embedding_parameters == weights


@pytest.mark.parametrize(
    ("name", "full", "first_full"),
    [
        ("gemma-2-27b", 23, 1),
        ("gemma-3-27b", 10, 5),
        ("gemma-3-1b", 4, 5),
        ("gpt-oss-20b", 12, 1),
        ("llama-4-scout", 12, 3),
    ],
)
def test_layers_without_a_window_stand_evenly_between_those_with_one(name: str, full: int, first_full: int) -> None:
    model = MODELS[name]
    without = [layer for layer, windowed in enumerate(model.windowed) if not windowed]
    assert len(without) == full == model.layers - model.window_layers
    assert without == [first_full + stretch * (first_full + 1) for stretch in range(full)]


def test_every_layer_may_have_a_window() -> None:
    assert all(MODELS["mistral-7b-v0.1"].windowed)


def test_windows_may_stand_where_a_config_puts_them() -> None:
    odd = replace(SCOUT, window_layers=2, window_positions=[0, 5])  # type: ignore[arg-type]
    assert [layer for layer, windowed in enumerate(odd.windowed) if windowed] == [0, 5]
    assert odd.window_positions == (0, 5)


def test_a_latent_is_one_vector_a_token() -> None:
    assert LATENT.is_latent
    assert LATENT.latent_dim == 512 + 64
    assert LLAMA.latent_dim == 0


COUNT_FIELDS = [
    "layers",
    "attention_heads",
    "kv_heads",
    "head_dim",
    "hidden_size",
    "vocab_size",
    "parameters",
    "experts",
]


@pytest.mark.parametrize("field", [*COUNT_FIELDS, "window", "window_layers", "latent_rank", "active_parameters"])
@pytest.mark.parametrize("value", [0, -1, 2.5, float("nan"), float("inf"), True, "32", [32]], ids=repr)
def test_a_size_that_is_no_count_is_refused_by_its_field_s_name(field: str, value: Any) -> None:
    model = {"window": SCOUT, "window_layers": SCOUT, "latent_rank": LATENT, "experts": MIXTRAL}.get(field, LLAMA)
    with pytest.raises((TypeError, ValueError), match=f"^{field} is the "):
        replace(model, **{field: value})


def test_whole_floats_count_parameters_and_nothing_else() -> None:
    assert replace(LLAMA, parameters=13e9, active_parameters=None).parameters == 13_000_000_000  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="write 32 without the decimal point"):
        replace(LLAMA, layers=32.0)  # type: ignore[arg-type]


CONTRADICTIONS: list[tuple[ModelSpec, dict[str, Any], str]] = [
    (LLAMA, {"kv_heads": 5}, "32 query heads cannot share 5 KV heads evenly"),
    (LLAMA, {"kv_heads": 64}, "attention_heads must be a multiple of kv_heads"),
    (LLAMA, {"latent_rank": 512}, "latent_rank and latent_rope_dim belong together"),
    (LLAMA, {"experts": 8}, "experts and experts_per_token belong together"),
    (LLAMA, {"window": 4096}, "window and window_kind belong together"),
    (LLAMA, {"window_layers": 3}, "window_layers need a window"),
    (LLAMA, {"window": 8, "window_kind": "sliding", "window_layers": 33}, "33 of 32 layers cannot have a window"),
    (SCOUT, {"window_kind": "local"}, "window_kind is one of sliding, chunked, but got 'local'"),
    (SCOUT, {"window_positions": (1, 2)}, "window_positions must name 36 different layers from 0 to 47"),
    (SCOUT, {"window_layers": 2, "window_positions": (1, 48)}, "window_positions must name 2 different layers"),
    (MIXTRAL, {"experts_per_token": 9}, "a token cannot go to 9 of 8 experts"),
    (MIXTRAL, {"active_parameters": 10**12}, "exceed all 46,702,792,704"),
    (LLAMA, {"active_parameters": 10**9}, "without experts every token passes all parameters"),
    (LLAMA, {"vocab_size": 10**9}, "the embeddings alone are 8,192,000,000,000 weights"),
    (LLAMA, {"indexer_dim": 128}, "indexer_dim belongs to a model with a latent"),
    (LATENT, {"window": 8, "window_kind": "sliding", "window_layers": 3}, "a latent with a window"),
]


@pytest.mark.parametrize(("model", "changes", "sentence"), CONTRADICTIONS, ids=[row[2] for row in CONTRADICTIONS])
def test_a_spec_that_contradicts_itself_is_refused(model: ModelSpec, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        replace(model, **changes)
    assert str(refusal.value).startswith(f"{model.name}: ")


@pytest.mark.parametrize(
    ("field", "value"), [("name", ""), ("name", None), ("tied_embeddings", 1), ("inferred", "yes")]
)
def test_names_are_text_and_marks_are_truth_values(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{field} is "):
        replace(LLAMA, **{field: value})


def test_a_table_with_a_cell_too_few_or_too_many_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    for cells in ("1", "1,2,3"):
        (tmp_path / "odd.csv").write_text(f"a,b\n{cells}\n")
        with pytest.raises(ValueError, match=r"odd\.csv, line 2: it has not the 2 cells of the header"):
            data.rows("odd.csv")


@pytest.mark.parametrize(
    "positions", [7, True, 2.5, "0, 2", b"02", (), (0, 2.5), (0, -1), (0, None), (0, True)], ids=repr
)
def test_window_positions_are_layers_counted_from_0(positions: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match="^window_positions is .*the layers that have a window, counted from 0"
    ):
        replace(LLAMA, window=64, window_layers=2, window_kind="sliding", window_positions=positions)


@pytest.mark.parametrize("layers", ["", None, [], 2.0, False], ids=repr)
def test_window_layers_are_a_count_even_where_there_is_no_window(layers: Any) -> None:
    with pytest.raises(TypeError, match="^window_layers is the number of layers that have a window"):
        replace(LLAMA, window_layers=layers)


def changed(row: Any, field: str, value: Any) -> Any:
    return replace(row, **{field: value})


def test_numbers_that_no_model_has_are_refused_before_a_list_is_made_of_them() -> None:
    for field in ("layers", "attention_heads", "hidden_size"):
        with pytest.raises(ValueError, match=f"^{field} is the .* is more than any can have"):
            changed(LLAMA, field, 10**41)


@pytest.mark.parametrize("field", ["source", "date"])
def test_where_a_row_comes_from_is_text(field: str) -> None:
    for row in (LLAMA, GPUS["h100-80gb"]):
        with pytest.raises(TypeError, match=f"^{field} is a text, but got 7"):
            changed(row, field, 7)
