"""Move the tokens and the requests, and see the KV cache grow under the end of the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from llmserving import arguments
from llmserving.explorers.choices import checked_names
from llmserving.explorers.controls import CONTROLS, Control
from llmserving.explorers.controls import checked_start as checked_quantity
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures.kv_growth import KvGrowth, kv_growth
from llmserving.kv_cache import kv_bytes
from llmserving.planner import weight_bytes
from llmserving.units import GB

OF_GROWTH: Mapping[str, Control] = {
    **{name: CONTROLS[name] for name in ("B", "L", "d_model", "p", "parameters", "weight_bits", "memory_gb")},
    "S": replace(CONTROLS["S"], stops=(0, *(128 * n for n in range(1, 33)))),
    "max_len": Control("Longest, in tokens", "the tokens that a request may reach", (1024, 2048, 4096), "{:,}".format),
}


class GrowthExplorer(LiveExplorer):
    """The growth of a batch, and where it is now; `.growth` is what the picture shows."""

    growth: KvGrowth

    def look(self, value: dict[str, Any]) -> View:
        one_token = kv_bytes(value["B"], 1, value["L"], value["d_model"], value["p"])
        memory, weights = round(value["memory_gb"] * GB), weight_bytes(value["parameters"], value["weight_bits"])
        self.growth = KvGrowth(memory, weights, one_token, value["max_len"])
        figure = kv_growth(self.growth, value["S"])
        return View(figure, _sentence(self.growth, value), _arithmetic(self.growth, value))


def growth_explorer(
    *,
    B: Any = 16,
    S: Any = 512,
    max_len: Any = 4096,
    L: Any = 40,
    d_model: Any = 5120,
    p: Any = 2,
    parameters: Any = 13e9,
    weight_bits: Any = 16,
    memory_gb: Any = 80,
    controls: Iterable[str] = ("B", "S", "max_len"),
) -> GrowthExplorer:
    """An explorer of a cache that grows with S, the tokens of each request, up to `max_len`; the rest as `hbm_explorer`."""
    start = {
        "B": B, "S": S, "max_len": max_len, "L": L, "d_model": d_model, "p": p,
        "parameters": parameters, "weight_bits": weight_bits, "memory_gb": memory_gb,
    }  # fmt: skip
    shown = checked_names(controls, OF_GROWTH)
    widgets = {name: OF_GROWTH[name].widget(_checked(name, value)) for name, value in start.items()}
    return GrowthExplorer(widgets, shown)


def _checked(name: str, value: Any) -> float:
    if name == "max_len":
        return arguments.count(name, OF_GROWTH[name].meaning, value)
    if name == "S":
        return arguments.count(name, OF_GROWTH[name].meaning, value, at_least=0)
    return checked_quantity(name, value)


def _sentence(growth: KvGrowth, value: dict[str, Any]) -> str:
    budget, size = growth.at(value["S"]), growth.reserved.size
    many = value["B"] > 1
    who = f"{value['B']:,} requests hold" if many else "The request holds"
    now = f"{who} {size(budget.kv_bytes)} of KV cache after {value['S']:,} tokens{' each' * many}."
    ahead = f"Reserved for {growth.max_len:,} tokens{' each' * many} it is {size(growth.reserved.kv_bytes)} at once."
    if growth.reserved.fits:
        return f"{now} {ahead} Either way it fits."
    return f"{now} {ahead} The memory is full at {growth.full_at:,} tokens{' each' * many}."


def _arithmetic(growth: KvGrowth, value: dict[str, Any]) -> tuple[str, str]:
    factors = " × ".join(f"{value[name]:,}" for name in ("B", "L", "d_model", "p"))
    budget = growth.at(value["S"])
    return (
        f"One more token of each request: 2 × B × L × d_model × p = 2 × {factors} = {growth.step_bytes:,} bytes",
        f"Times {value['S']:,} tokens: {budget.kv_bytes:,} bytes; beside them {growth.weight_bytes:,} bytes of weights",
    )
