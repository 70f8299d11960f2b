"""The models that the library knows by name: a row each in data/models.csv, with its source and the day that was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llmserving import data
from llmserving.model_spec import COUNTS, ModelSpec
from llmserving.presets import Presets

__all__ = ["MODELS", "ModelSpec"]


def _from_row(row: Mapping[str, str]) -> ModelSpec:
    counts: dict[str, Any] = {field: int(row[field]) for field in COUNTS if row[field]}
    return ModelSpec(
        name=row["name"], window_layers=int(row["window_layers"] or 0), window_kind=row["window_kind"] or None,
        tied_embeddings=row["tied_embeddings"] == "yes", inferred=row["inferred"] == "yes",
        source=row["source"], date=row["date"], **counts,
    )  # fmt: skip


def _load() -> Presets[ModelSpec]:
    models = {row["name"]: _from_row(row) for row in data.rows("models.csv")}
    aliases = {}
    for row in data.rows("model_aliases.csv"):
        model = models[row["name"]]
        aliases[row["alias"]] = replace(model, inferred=True) if row["inferred"] == "yes" else model
    return Presets("model", models, aliases)


MODELS: Presets[ModelSpec] = _load()
"""Models by name, and by the spellings of Hugging Face and of the engine logs (data/model_aliases.csv)."""
