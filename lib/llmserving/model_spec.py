"""One model as a server sees it: how many layers, heads and parameters, and which layers remember everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmserving import arguments
from llmserving.spec_checks import WINDOW_LAYERS, checked_positions, refuse_contradictions, refuse_impossible_windows

COUNTS = {
    "layers": "the number of layers",
    "attention_heads": "the number of query heads",
    "kv_heads": "the number of heads that keys and values are cached for",
    "head_dim": "the number of elements of one head",
    "hidden_size": "the width of the model",
    "vocab_size": "the number of tokens in the vocabulary",
    "parameters": "the number of weights",
    "active_parameters": "the number of weights that one token passes",
    "experts": "the number of routed experts a layer",
    "experts_per_token": "the number of experts a token is routed to",
    "latent_rank": "the number of elements of the latent that a token's keys and values are rebuilt from",
    "latent_rope_dim": "the number of elements with a position, cached beside the latent",
    "indexer_dim": "the number of elements that the sparse-attention indexer caches a token and layer",
    "window": "the number of tokens that a windowed layer looks back",
}
WHOLE_FLOATS = ("parameters", "active_parameters")
MOST_OF = {"layers": 10**5, "attention_heads": 10**5}  # lists are made of them


@dataclass(frozen=True)
class ModelSpec:
    """One model. Sizes are counts of elements, never bytes; None means that the model has no such thing.

    head_dim is stated, never derived: gemma-7b has 16 heads of 256 in a width of 3072. Of a model with a latent (MLA),
    head_dim is one head's value, kv_heads is what its config says, and neither is cached. `active_parameters` of a
    dense model are all of them. `window_layers` of the layers look back `window` tokens ("sliding") or to the start of
    their chunk ("chunked"); `window_positions` names them, counted from 0, where they are not spread evenly.
    """

    name: str
    layers: int
    attention_heads: int
    kv_heads: int
    head_dim: int
    hidden_size: int
    vocab_size: int
    parameters: int
    active_parameters: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    latent_rank: int | None = None
    latent_rope_dim: int | None = None
    indexer_dim: int | None = None
    window: int | None = None
    window_layers: int = 0
    window_kind: str | None = None
    window_positions: tuple[int, ...] | None = None
    tied_embeddings: bool = False
    source: str = ""
    date: str = ""
    inferred: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise TypeError(
                f"name is what the model is called, such as 'llama-3.1-8b', but got {arguments.shown(self.name)}"
            )
        for field in ("source", "date"):
            arguments.text(field, getattr(self, field))
        for field in ("tied_embeddings", "inferred"):
            if not isinstance(getattr(self, field), bool):
                raise TypeError(f"{field} is True or False, but got {arguments.shown(getattr(self, field))}")
        if self.active_parameters is None:
            object.__setattr__(self, "active_parameters", self.parameters)
        for field, meaning in COUNTS.items():
            value = getattr(self, field)
            optional = ModelSpec.__dataclass_fields__[field].default is None
            if value is not None or not optional:
                whole_floats, most = field in WHOLE_FLOATS, MOST_OF.get(field, arguments.MOST)
                number = arguments.count(field, meaning, value, whole_floats=whole_floats, most=most)
                object.__setattr__(self, field, number)
        windowed = arguments.count("window_layers", WINDOW_LAYERS, self.window_layers, at_least=0)
        object.__setattr__(self, "window_layers", windowed)
        object.__setattr__(self, "window_positions", checked_positions(self.window_positions))
        refuse_contradictions(self)
        refuse_impossible_windows(self)

    @property
    def is_latent(self) -> bool:
        """Whether a token is cached as one latent (MLA) and not as keys and values a head."""
        return self.latent_rank is not None

    @property
    def latent_dim(self) -> int:
        """Elements cached a token and layer by a model with a latent, 0 by any other."""
        return (self.latent_rank or 0) + (self.latent_rope_dim or 0)

    @property
    def embedding_parameters(self) -> int:
        """Weights of the token embedding, and of the output head where that is a matrix of its own."""
        return self.vocab_size * self.hidden_size * (1 if self.tied_embeddings else 2)

    @property
    def windowed(self) -> tuple[bool, ...]:
        """For every layer, whether it has a window: as stated, or one full layer at the end of each even stretch."""
        if self.window_positions is not None:
            return tuple(layer in self.window_positions for layer in range(self.layers))
        return evenly_windowed(self.layers, self.window_layers)

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | str | Path, *, name: str | None = None,
                    parameters: float | None = None) -> ModelSpec:  # fmt: skip
        """The model that a Hugging Face config.json describes, given as a mapping or as a path; see model_config.py."""
        from llmserving.model_config import read_config

        return read_config(config, name=name, parameters=parameters)


def evenly_windowed(layers: int, window_layers: int) -> tuple[bool, ...]:
    """For every layer, whether it has a window, where each even stretch ends in one layer without."""
    full = layers - window_layers
    ends = {(layers // full) * (stretch + 1) - 1 for stretch in range(full)}
    return tuple(layer not in ends for layer in range(layers))
