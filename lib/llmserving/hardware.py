"""GPUs as a server sees them: the memory that the card reports, how fast it is read, how fast the card computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from llmserving import arguments, data
from llmserving.presets import Presets
from llmserving.units import GiB

PEAK_COLUMNS = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4", "fp4")


@dataclass(frozen=True)
class Gpu:
    """One accelerator. An "80 GB" card is sold as 80e9 bytes and reports more or less than that: plan with the report.

    memory_bytes: what the card reports to the engine, as its logs print it in GiB. bandwidth_bytes_per_s: of the
    memory, decimal, as the vendor quotes it. peak_flops: dense FLOP/s (or integer operations/s) by dtype, without the
    doubling that vendors quote for sparse matrices.
    """

    name: str
    memory_bytes: int
    sold_bytes: int
    bandwidth_bytes_per_s: float
    peak_flops: Mapping[str, float]
    source: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise TypeError(
                f"name is what the GPU is called, such as 'h100-80gb', but got {arguments.shown(self.name)}"
            )
        for field in ("source", "date"):
            arguments.text(field, getattr(self, field))
        for field, meaning in (
            ("memory_bytes", "the memory that the card reports, in bytes"),
            ("sold_bytes", "the memory that the card is sold with, in bytes"),
        ):
            object.__setattr__(self, field, arguments.count(field, meaning, getattr(self, field), whole_floats=True))
        arguments.amount(
            "bandwidth_bytes_per_s", "the bandwidth of the memory, in bytes a second", self.bandwidth_bytes_per_s
        )
        if not isinstance(self.peak_flops, Mapping) or not self.peak_flops:
            raise TypeError(
                "peak_flops is a mapping of a dtype to FLOP/s, such as {'bf16': 989.5e12}, with one at least"
            )
        for dtype, flops in self.peak_flops.items():
            if not (isinstance(dtype, str) and dtype):
                raise TypeError(f"peak_flops names dtypes such as 'bf16', but got {arguments.shown(dtype)}")
            arguments.amount(f"peak_flops[{dtype!r}]", f"the operations a second in {dtype}", flops)
        object.__setattr__(self, "peak_flops", MappingProxyType(dict(self.peak_flops)))

    def __hash__(self) -> int:
        return hash((self.name, self.memory_bytes))

    def __reduce__(self) -> tuple[type[Gpu], tuple[object, ...]]:
        """A read-only view cannot be copied or pickled; its content can."""
        given = (self.name, self.memory_bytes, self.sold_bytes, self.bandwidth_bytes_per_s)
        return Gpu, (*given, dict(self.peak_flops), self.source, self.date)


def _from_row(row: Mapping[str, str]) -> Gpu:
    return Gpu(
        name=row["name"],
        memory_bytes=int(Fraction(row["reported_gib"]) * GiB),
        sold_bytes=int(Fraction(row["sold_gb"]) * 10**9),
        bandwidth_bytes_per_s=float(row["bandwidth_bytes_per_s"]),
        peak_flops={dtype: float(row[dtype]) for dtype in PEAK_COLUMNS if row[dtype]},
        source=row["source"],
        date=row["date"],
    )


def _load() -> Presets[Gpu]:
    gpus = {row["name"]: _from_row(row) for row in data.rows("gpus.csv")}
    return Presets("GPU", gpus, {row["alias"]: gpus[row["name"]] for row in data.rows("gpu_aliases.csv")})


GPUS: Presets[Gpu] = _load()
"""Accelerators by name, and by other spellings (data/gpu_aliases.csv)."""
