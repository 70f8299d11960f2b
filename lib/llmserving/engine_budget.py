"""Where a GPU's memory went when a real engine started: the lines of its log that the KV cache is what is left of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from llmserving import data
from llmserving.engine_logs import ENGINE_LOGS, EngineLog

_NOTED = re.compile(r"weights ([\d.]+) GiB, act ([\d.]+), non-torch ([\d.]+), cudagraph ([\d.]+)")
_REPORTED = re.compile(r"([\d.]+) GiB")


@dataclass(frozen=True)
class EngineBudget:
    """One engine's start, of one GPU, in GiB as printed. log: the same start as `ENGINE_LOGS` has it, with blocks and tokens.

    activations_gib: what profiling sets aside. other_gib: what PyTorch does not see. graphs_gib: CUDA graphs, which are
    captured after the cache is laid out and so take nothing from it.
    """

    log: EngineLog
    reported_gib: float
    utilization: float
    weights_gib: float
    activations_gib: float
    other_gib: float
    graphs_gib: float

    @property
    def budget_gib(self) -> float:
        """What the engine may use before it captures graphs."""
        return self.reported_gib * self.utilization

    @property
    def left_gib(self) -> float:
        """What the KV cache gets by these lines, each of which is rounded to two decimals."""
        return self.budget_gib - self.weights_gib - self.activations_gib - self.other_gib

    @property
    def printed_gib(self) -> float:
        """What the engine itself says that the KV cache gets."""
        return float(self.log.printed_gib or 0)


def _budgets() -> Iterator[tuple[str, EngineBudget]]:
    for row in data.rows("engine_logs.csv"):
        noted, reported = _NOTED.search(row["notes"]), _REPORTED.search(row["gpu"])
        if noted and reported:
            sizes = (float(size) for size in noted.groups())
            yield (
                row["id"],
                EngineBudget(ENGINE_LOGS[row["id"]], float(reported[1]), float(row["gpu_mem_util"]), *sizes),
            )


ENGINE_BUDGETS: dict[str, EngineBudget] = dict(_budgets())
"""The logs that print every line of the budget, by the id of their row."""
