"""What one token takes in the cache by what was printed or kept: bytes between two bounds, to hold a function against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from llmserving.engine_logs import ENGINE_LOGS, NOT_REPRODUCED, PRINTED_ROUNDING, EngineLog
from llmserving.kv_formats import BYTES_PER_ELEMENT
from llmserving.model_spec import ModelSpec
from llmserving.models import MODELS
from llmserving.tinylm.missing import ModelMissing, need
from llmserving.units import GiB

Attention = Literal["multi-head", "grouped-query", "multi-query", "latent"]

# A log of each kind that the collection has, and a model for the one that it lacks.
LOG_OF: Mapping[Attention, str] = {"multi-head": "LLMD-01", "grouped-query": "LLMD-18", "latent": "LLMD-02"}
MULTI_QUERY = "gemma-2b"


@dataclass(frozen=True)
class Reading:
    """name: what it was read off, such as a log's id. least, most: bytes a token, as far as the rounding settles them."""

    name: str
    model: ModelSpec
    bits: int
    least: Fraction
    most: Fraction
    source: Literal["recorded", "live"]

    @property
    def attention(self) -> Attention:
        return attention_of(self.model)

    @property
    def arguments(self) -> dict[str, int | None]:
        return arguments_of(self.model, self.bits)

    @property
    def middle(self) -> Fraction:
        return (self.least + self.most) / 2


def attention_of(model: ModelSpec) -> Attention:
    """What a model keeps for a token: by its latent, or by how many KV heads it has for its query heads."""
    if model.is_latent:
        return "latent"
    if model.kv_heads == model.attention_heads:
        return "multi-head"
    return "multi-query" if model.kv_heads == 1 else "grouped-query"


def arguments_of(model: ModelSpec, bits: int) -> dict[str, int | None]:
    """A model and the bits of a cached element, as the function of LAB2.1 takes them."""
    return {
        "layers": model.layers,
        "query_heads": model.attention_heads,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "bits": bits,
        "latent_dim": model.latent_dim if model.is_latent else None,
    }


def read(log: EngineLog) -> Reading:
    """Bytes a token by the memory and the tokens that an engine on one GPU printed.

    The memory is rounded to two decimals, and the tokens are those of whole blocks. ValueError where either is missing, or
    where the memory is that of several GPUs.
    """
    if log.printed_gib is None or log.tokens is None or log.kind != "kv_bytes->tokens":
        raise ValueError(f"{log.id} prints no memory with the tokens that it holds: {log.notes}")
    if log.tensor_parallel > 1 or log.pipeline_parallel > 1:
        raise ValueError(f"{log.id} is of several GPUs, and a token's bytes are spread over them")
    bits = int(8 * BYTES_PER_ELEMENT.get(log.kv_dtype, Fraction(1)))  # a packed latent is FP8 but for what is beside it
    least = (log.printed_gib - PRINTED_ROUNDING) * GiB / (log.tokens + log.block_size)
    return Reading(log.id, log.model, bits, least, (log.printed_gib + PRINTED_ROUNDING) * GiB / log.tokens, "recorded")


def all_readings() -> list[Reading]:
    """Every log of one GPU that prints memory and tokens and names its model."""
    return [
        read(log)
        for log in ENGINE_LOGS.values()
        if log.kind == "kv_bytes->tokens"
        and log.printed_gib is not None
        and log.tensor_parallel == log.pipeline_parallel == 1
        and not log.model_is_inferred
        and log.id not in NOT_REPRODUCED
    ]


def one_of_each() -> tuple[list[Reading], str]:
    """A reading for each kind of attention, and a sentence on what is missing here, or "".

    No log of the collection is of a multi-query model, so its place is taken by a decoder that runs here.
    """
    logs = {kind: read(ENGINE_LOGS[log_id]) for kind, log_id in LOG_OF.items()}
    try:
        decoder, missing = [decoder_here(MULTI_QUERY)], ""
    except ModelMissing as error:
        decoder, missing = [], f"No multi-query model is shown: {error}"
    return [logs["multi-head"], logs["grouped-query"], *decoder, logs["latent"]], missing


def decoder_here(name: str) -> Reading:
    """What a decoder with the layers and heads of that model, and random weights, hands to its cache on this machine."""
    need("torch")
    from llmserving.tinylm.keeping import kept_bytes_per_token

    model = MODELS[name]
    kept = Fraction(kept_bytes_per_token(model))
    return Reading("decoder here", model, 16, kept, kept, "live")
