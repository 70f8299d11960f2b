"""Move a control and see how many tokens a second decode gives, how long each waits, and which wall it meets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from llmserving.explorers.choices import checked_names, widgets
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures import batch_curve
from llmserving.planner import plan
from llmserving.roofline import critical_batch, predict_decode
from llmserving.step_prediction import StepPrediction
from llmserving.units import format_number, format_seconds

CONTROLS = ("model", "gpu", "weight_dtype", "kv_dtype", "context", "tensor_parallel")
BATCHES = tuple(2**k for k in range(11))


class BatchExplorer(LiveExplorer):
    """Tokens a second and time per token against the batch, up to what fits into memory and beyond."""

    def look(self, value: dict[str, Any]) -> View:
        made = plan(**value)
        steps = [predict_decode(batch=batch, **value) for batch in sorted({*BATCHES, made.max_requests} - {0})]
        critical = critical_batch(**value)
        figure = batch_curve(steps, critical_batch=critical, most_requests=made.requests_in_cache or None)
        fullest = next((step for step in steps if step.batch == made.max_requests), None)
        return View(figure, _sentence(fullest, critical), tuple((fullest or steps[0]).explain().split("\n")))


def batch_explorer(
    model: Any = "llama-3.1-8b",
    gpu: Any = "h100-80gb",
    *,
    weight_dtype: str = "fp16",
    kv_dtype: str = "fp16",
    context: Any = 4096,
    tensor_parallel: Any = 1,
    controls: Iterable[str] = CONTROLS,
) -> BatchExplorer:
    """An explorer of `predict_decode` over the batch; arguments as of `memory_explorer`."""
    start = {
        "model": model, "gpu": gpu, "weight_dtype": weight_dtype, "kv_dtype": kv_dtype, "context": context,
        "tensor_parallel": tensor_parallel,
    }  # fmt: skip
    shown = checked_names(controls, CONTROLS)
    return BatchExplorer(widgets(start), shown)


def _sentence(fullest: StepPrediction | None, critical: float) -> str:
    wall = "Decode is memory-bound at every batch."
    if math.isfinite(critical):
        wall = f"Decode is memory-bound below batch {format_number(critical)}."
    if fullest is None:
        return f"Not one request fits into the memory. {wall}"
    return (
        f"At most {fullest.batch:,} requests run at once: {format_number(fullest.tokens_per_s)} tokens a second, one every "
        f"{format_seconds(fullest.seconds)} for each. {wall}"
    )
