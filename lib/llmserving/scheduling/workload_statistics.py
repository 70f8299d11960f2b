"""How long a workload's prompts and outputs are and how fast its requests come, and what real traces have of that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from llmserving import data
from llmserving.presets import Presets
from llmserving.scheduling.request import Workload, checked

PROBABILITIES = (0.0, 0.5, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class LengthStatistics:
    """Tokens of a workload's prompts, or of its outputs. A quantile is the smallest length that at least that part of
    the requests do not exceed: always a length that occurs, never one interpolated between two.
    """

    mean: float
    min: int
    p50: int
    p90: int
    p95: int
    p99: int
    max: int

    @property
    def quantiles(self) -> tuple[int, ...]:
        """Tokens at each of PROBABILITIES."""
        return self.min, self.p50, self.p90, self.p95, self.p99, self.max


@dataclass(frozen=True)
class WorkloadStatistics:
    """rate_per_s: requests after the first, for each second from the first to the last; infinite if all come at once."""

    name: str
    requests: int
    rate_per_s: float
    prompt: LengthStatistics
    output: LengthStatistics
    source: str = ""
    licence: str = ""
    date: str = ""

    def explain(self) -> str:
        """The figures as a small table of text, in tokens."""
        names = [field.name for field in fields(LengthStatistics)]
        rows = [["tokens", *names]]
        for side, lengths in (("prompt", self.prompt), ("output", self.output)):
            rows.append([side, f"{lengths.mean:,.1f}", *(f"{tokens:,}" for tokens in lengths.quantiles)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{row[0]:<{widths[0]}}" + _right(row[1:], widths[1:]) for row in rows]
        pace = f"{self.rate_per_s:,.2f} a second" if math.isfinite(self.rate_per_s) else "all at once"
        return "\n".join([f"{self.name}: {self.requests:,} requests, {pace}", *lines])


def statistics(workload: Workload) -> WorkloadStatistics:
    """What the workload is like; it needs one request at least."""
    workload = checked(workload)
    if not len(workload):
        raise ValueError(f"{workload.name} has no requests, so its lengths have no mean; give at least one")
    span_s = workload[-1].arrival_s - workload[0].arrival_s
    return WorkloadStatistics(
        name=workload.name,
        requests=len(workload),
        rate_per_s=(len(workload) - 1) / span_s if span_s > 0 else math.inf,
        prompt=_lengths(workload.prompt_tokens),
        output=_lengths(workload.output_tokens),
    )


def _lengths(tokens: NDArray[np.int64]) -> LengthStatistics:
    quantiles = np.quantile(tokens, PROBABILITIES, method="inverted_cdf")
    return LengthStatistics(float(tokens.mean()), *(int(quantile) for quantile in quantiles))


def _right(cells: list[str], widths: list[int]) -> str:
    return "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _from_row(row: Mapping[str, str]) -> WorkloadStatistics:
    def lengths(side: str) -> LengthStatistics:
        mean, *quantiles = (row[f"{side}_{field.name}"] for field in fields(LengthStatistics))
        return LengthStatistics(float(mean), *(int(tokens) for tokens in quantiles))

    return WorkloadStatistics(
        name=row["name"],
        requests=int(row["requests"]),
        rate_per_s=float(row["rate_per_s"]),
        prompt=lengths("prompt"),
        output=lengths("output"),
        source=row["source"],
        licence=row["licence"],
        date=row["date"],
    )


def _load() -> Presets[WorkloadStatistics]:
    published = {row["name"]: _from_row(row) for row in data.rows("workloads.csv")}
    return Presets("workload", published, {"conv": published["conversation"]})


PUBLISHED: Presets[WorkloadStatistics] = _load()
"""Statistics of real traces by kind, "conversation" and "code"; data/workloads.csv has their sources."""
