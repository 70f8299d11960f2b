"""What real engines printed when they started, collected on 2026-11-29, and what this library says of the same memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from llmserving import data
from llmserving.kv_cache import kv_bytes_for_request
from llmserving.kv_layout import KvLayout, kv_layout
from llmserving.kv_pool import KvPool, cpu_blocks, kv_pool
from llmserving.models import MODELS, ModelSpec
from llmserving.units import GiB

PRINTED_ROUNDING = Fraction(1, 200)  # engines print two decimals, of GiB and of concurrency
V0_SWAP_GIB = 4  # vLLM V0's default, where a log does not say


@dataclass(frozen=True)
class Check:
    """One printed number between the least and the most that the printed memory, which was rounded, allows."""

    what: str
    printed: Fraction
    least: Fraction | float
    most: Fraction | float

    @property
    def holds(self) -> bool:
        return self.least <= self.printed <= self.most


@dataclass(frozen=True)
class EngineLog:
    """One row of data/engine_logs.csv: one engine's start, by the id and source given there."""

    id: str
    source: str
    spelling: str
    kind: str
    kv_dtype: str
    tensor_parallel: int
    pipeline_parallel: int
    block_size: int
    printed_gib: Fraction | None
    swap_gib: int | None
    blocks: int | None
    tokens: int | None
    cpu_blocks: int | None
    max_model_len: int | None
    max_concurrency: Fraction | None
    padded_latent: int | None
    model_is_inferred: bool
    notes: str

    @property
    def model(self) -> ModelSpec:
        return MODELS[self.spelling]

    @property
    def layout(self) -> KvLayout:
        return kv_layout(
            self.model, self.kv_dtype, self.tensor_parallel, self.pipeline_parallel, self.block_size, self.padded_latent
        )

    def pool(self, rounding: Fraction = Fraction(0)) -> KvPool:
        """The pool of the printed memory, give or take `rounding` GiB."""
        if self.printed_gib is None:
            raise ValueError(f"{self.id} prints no GPU memory: {self.notes}")
        return kv_pool(
            self.model, (self.printed_gib + rounding) * GiB, self.kv_dtype, self.tensor_parallel,
            self.pipeline_parallel, self.block_size, self.padded_latent,
        )  # fmt: skip

    def checks(self) -> Iterator[Check]:
        """Every number that the log prints and this library can say, with the bounds that it must lie in."""
        if self.kind == "needed GiB" and self.printed_gib is not None:
            needed = Fraction(self._needed_bytes(), GiB)
            yield Check("GiB needed", self.printed_gib, needed - PRINTED_ROUNDING, needed + PRINTED_ROUNDING)
        elif self.printed_gib is not None:
            least, most = self.pool(-PRINTED_ROUNDING), self.pool(PRINTED_ROUNDING)
            if self.blocks is not None:
                yield _exactly("blocks", self.blocks, least.blocks, most.blocks)
            if self.tokens is not None:
                estimated = self.kind == "available->est max len"
                bounds = [(pool.longest_request() or 0) if estimated else pool.tokens for pool in (least, most)]
                yield _exactly("tokens", self.tokens, *bounds)
        if self.blocks is not None and self.tokens is not None:
            yield _exactly("tokens of the blocks", self.tokens, KvPool(self.layout, self.blocks).tokens)
        if self.cpu_blocks is not None and self.swap_gib is not None:
            yield _exactly("CPU blocks", self.cpu_blocks, self.predicted_cpu_blocks())
        if self.max_concurrency is not None and self.max_model_len is not None:
            concurrency = Fraction(self._printed_pool().max_concurrency(self.max_model_len))
            yield Check(
                "concurrency", self.max_concurrency, concurrency - PRINTED_ROUNDING, concurrency + PRINTED_ROUNDING
            )

    def predicted_cpu_blocks(self) -> int:
        """Blocks of the host memory that the log names, or of V0's default."""
        return cpu_blocks(
            (self.swap_gib or V0_SWAP_GIB) * GiB, self.model, self.kv_dtype, self.tensor_parallel,
            self.pipeline_parallel, self.block_size, self.padded_latent,
        )  # fmt: skip

    def _needed_bytes(self) -> int:
        return kv_bytes_for_request(
            self.model, self.max_model_len, self.kv_dtype, self.tensor_parallel, self.pipeline_parallel, self.block_size
        )

    def _printed_pool(self) -> KvPool:
        if self.blocks is not None:
            return KvPool(self.layout, self.blocks)
        if self.tokens is None:
            raise ValueError(f"{self.id} prints neither blocks nor tokens: {self.notes}")
        return KvPool(self.layout, self.tokens // self.block_size * self.layout.groups)


def _exactly(what: str, printed: int, least: int, most: int | None = None) -> Check:
    return Check(what, Fraction(printed), Fraction(least), Fraction(least if most is None else most))


def _from_row(row: dict[str, str]) -> EngineLog:
    memory, notes = row["kv_gib_available"], row["notes"]
    swapped = re.search(r"CPU blocks (\d+)(?: = (\d+) ?GiB)?", notes)
    padded = re.search(r"padded latent \d+->(\d+)", notes)
    packed = "fp8_ds_mla" in row["model"]
    swap = memory.removeprefix("swap ") if memory.startswith("swap ") else swapped and (swapped[2] or str(V0_SWAP_GIB))
    return EngineLog(
        id=row["id"],
        source=row["source"],
        spelling=row["model"],
        kind=row["check_kind"],
        kv_dtype="fp8_ds_mla" if packed else {"1": "fp8", "2": "fp16", "4": "fp32"}[row["kv_bytes_per_elem"]],
        tensor_parallel=int(row["tp"]),
        pipeline_parallel=int(row["L"]) // int(row["layers_on_rank"]),
        block_size=int(row["block_size"]),
        printed_gib=None if not memory or memory.startswith("swap") else Fraction(memory),
        swap_gib=int(swap) if swap else None,
        blocks=_whole(row["gpu_blocks"]),
        tokens=_whole(row["kv_tokens"]),
        cpu_blocks=int(swapped[1]) if swapped else None,
        max_model_len=_whole(row["max_model_len"]),
        max_concurrency=Fraction(row["max_concurrency"]) if row["max_concurrency"] else None,
        padded_latent=int(padded[1]) if padded else None,
        model_is_inferred=row["model_identity"].startswith("inferred"),
        notes=notes,
    )


def _whole(text: str) -> int | None:
    return int(text) if text else None


ENGINE_LOGS: dict[str, EngineLog] = {row["id"]: _from_row(row) for row in data.rows("engine_logs.csv")}
NOT_REPRODUCED: dict[str, str] = {row["id"]: row["reason"] for row in data.rows("engine_logs_not_reproduced.csv")}
"""Id -> why its memory does not give its tokens."""
