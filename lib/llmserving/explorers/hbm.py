"""Move a slider and see whether the weights and the KV cache still fit into one GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving.explorers.controls import CONTROLS, checked_names, checked_start
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures import HbmBudget, hbm_bar
from llmserving.kv_cache import kv_bytes
from llmserving.planner import weight_bytes
from llmserving.units import GB

CACHE_NAMES = ("B", "S", "L", "d_model", "p")


class HbmExplorer(LiveExplorer):
    """Controls, the bar of GPU memory, and the same in words; `.budget` is what the bar shows."""

    budget: HbmBudget

    def look(self, value: dict[str, Any]) -> View:
        self.budget = HbmBudget(
            memory_bytes=round(value["memory_gb"] * GB),
            weight_bytes=weight_bytes(value["parameters"], value["weight_bits"]),
            kv_bytes=kv_bytes(**{name: value[name] for name in CACHE_NAMES}),
        )
        figure = hbm_bar(self.budget.memory_bytes, self.budget.weight_bytes, self.budget.kv_bytes)
        return View(figure, _sentence(self.budget), _arithmetic(self.budget, value))


def hbm_explorer(
    *,
    B: Any = 4,
    S: Any = 2048,
    L: Any = 40,
    d_model: Any = 5120,
    p: Any = 2,
    parameters: Any = 13e9,
    weight_bits: Any = 16,
    memory_gb: Any = 80,
    controls: Iterable[str] = tuple(CONTROLS),
) -> HbmExplorer:
    """An explorer that starts at these numbers and shows the controls named, by default all of them.

    B: requests. S: cached tokens a request. L: layers. d_model: hidden size. p: bytes a cached element. parameters:
    number of weights. weight_bits: bits a weight. memory_gb: the GPU's memory in GB. A quantity whose control is not
    shown stays at its start. TypeError or ValueError names the argument, what it got and what would be right.
    """
    shown = checked_names(controls)
    start = {
        "B": B, "S": S, "L": L, "d_model": d_model, "p": p,
        "parameters": parameters, "weight_bits": weight_bits, "memory_gb": memory_gb,
    }  # fmt: skip
    widgets = {name: CONTROLS[name].widget(checked_start(name, value)) for name, value in start.items()}
    return HbmExplorer(widgets, shown)


def _sentence(budget: HbmBudget) -> str:
    if budget.fits:
        return budget.verdict
    sizes = (budget.size(n) for n in (budget.kv_bytes, budget.weight_bytes, budget.memory_bytes))
    return "{} The KV cache is {}, the weights are {}, and the GPU has {}.".format(budget.verdict, *sizes)


def _arithmetic(budget: HbmBudget, value: dict[str, Any]) -> tuple[str, str]:
    """How the two sizes come about, with the numbers of the moment in the formulas."""
    cache = " × ".join(f"{value[name]:,}" for name in CACHE_NAMES)
    weights = f"{value['parameters']:,} × {value['weight_bits']} / 8"
    return (
        f"KV cache: 2 × {' × '.join(CACHE_NAMES)} = 2 × {cache} = {budget.kv_bytes:,} bytes",
        f"Weights: parameters × bits / 8 = {weights} = {budget.weight_bytes:,} bytes",
    )
