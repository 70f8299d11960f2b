"""A real language model, small enough for a laptop: it generates, is served in batches, quantized and measured.

Importing this needs no torch. Most names load it when they are first used; where it is not installed they raise
ModelMissing, which says how to get it.

A model
    by name or from a directory: load LanguageModel OWN SMOLLM2 has_smollm2 ModelMissing
    what it computes: Decoder DecoderConfig
Generating
    one request, token by token: generate Piece
    several, batched continuously: serve Server GenerationRequest
    where keys and values are kept: PagedKvCache ContiguousKvCache KvCache
Quantizing
    schemes by name: SCHEMES scheme; of your own: Scheme DecoderScheme shared_copy
    a model under a scheme: quantized; one with outliers to try it on: with_outliers
    what calibrated schemes look at: calibration_for Calibration inputs_of calibration_text
Measuring
    how surprised a model is by a text, and how surely: perplexity Perplexity held_out_text
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from llmserving.tinylm.missing import OWN, SMOLLM2, ModelMissing, has_smollm2, need
from llmserving.tinylm.texts import calibration_text, held_out_text

if TYPE_CHECKING:
    from llmserving.tinylm.calibration import Calibration, calibration_for, inputs_of
    from llmserving.tinylm.config import DecoderConfig
    from llmserving.tinylm.contiguous_cache import ContiguousKvCache
    from llmserving.tinylm.generation import GenerationRequest, Piece, generate
    from llmserving.tinylm.kv_cache import KvCache
    from llmserving.tinylm.model import Decoder
    from llmserving.tinylm.outliers import with_outliers
    from llmserving.tinylm.paged_cache import PagedKvCache
    from llmserving.tinylm.registry import SCHEMES, scheme
    from llmserving.tinylm.schemes import DecoderScheme, Scheme, quantized, shared_copy
    from llmserving.tinylm.scoring import perplexity
    from llmserving.tinylm.serving import Server, serve
    from llmserving.tinylm.surprise import Perplexity
    from llmserving.tinylm.weights import LanguageModel, load

__all__ = [
    "OWN", "SCHEMES", "SMOLLM2", "Calibration", "ContiguousKvCache", "Decoder", "DecoderConfig", "DecoderScheme",
    "GenerationRequest", "KvCache", "LanguageModel", "ModelMissing", "PagedKvCache", "Perplexity", "Piece", "Scheme",
    "Server", "calibration_for", "calibration_text", "generate", "has_smollm2", "held_out_text", "inputs_of", "load",
    "perplexity", "quantized", "scheme", "serve", "shared_copy", "with_outliers",
]  # fmt: skip

HOMES = {
    "calibration": ("Calibration", "calibration_for", "inputs_of"),
    "config": ("DecoderConfig",),
    "contiguous_cache": ("ContiguousKvCache",),
    "generation": ("GenerationRequest", "Piece", "generate"),
    "kv_cache": ("KvCache",),
    "model": ("Decoder",),
    "outliers": ("with_outliers",),
    "paged_cache": ("PagedKvCache",),
    "registry": ("SCHEMES", "scheme"),
    "schemes": ("DecoderScheme", "Scheme", "quantized", "shared_copy"),
    "scoring": ("perplexity",),
    "serving": ("Server", "serve"),
    "surprise": ("Perplexity",),
    "weights": ("LanguageModel", "load"),
}


def __getattr__(name: str) -> Any:
    for home, names in HOMES.items():
        if name in names:
            need("torch")
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """With the names that are not loaded yet, so that they are found by TAB."""
    return sorted({*globals(), *__all__})
