"""Move a control and see where a GPU's memory goes, as an engine counts it or as the course does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving.explorers.choices import checked_names, widgets
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures import budget_bars
from llmserving.memory_plan import MemoryPlan
from llmserving.planner import plan

CONTROLS = (
    "model", "gpu", "weight_dtype", "kv_dtype", "context", "requests", "tensor_parallel", "gpu_memory_utilization",
    "view",
)  # fmt: skip


class MemoryExplorer(LiveExplorer):
    """The stacked bar of a plan with its arithmetic; `.plan` is the plan on the screen, None where it was refused."""

    plan: MemoryPlan | None

    def look(self, value: dict[str, Any]) -> View:
        self.plan = None
        self.plan = plan(**value)
        return View(budget_bars(self.plan), self.plan.verdict, ())


def memory_explorer(
    model: Any = "llama-3.1-8b",
    gpu: Any = "h100-80gb",
    *,
    weight_dtype: str = "fp16",
    kv_dtype: str = "fp16",
    context: Any = 4096,
    requests: Any = 16,
    tensor_parallel: Any = 1,
    gpu_memory_utilization: Any = 0.9,
    view: str = "engine",
    controls: Iterable[str] = CONTROLS,
) -> MemoryExplorer:
    """An explorer of `plan` that starts at these values and shows the controls named, by default all of them.

    model and gpu are names or objects. A quantity whose control is not shown stays at its start. TypeError or ValueError
    names the argument, what it got and what would be right.
    """
    start = {
        "model": model, "gpu": gpu, "weight_dtype": weight_dtype, "kv_dtype": kv_dtype, "context": context,
        "requests": requests, "tensor_parallel": tensor_parallel, "gpu_memory_utilization": gpu_memory_utilization,
        "view": view,
    }  # fmt: skip
    shown = checked_names(controls, CONTROLS)
    return MemoryExplorer(widgets(start), shown)
