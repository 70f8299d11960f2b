"""Decode predicted for a small model on a measured machine: the bound of its roof, and the sum of measured operations.

The bound is what no program can beat: each operation takes as long as its bytes or its FLOPs need, and nothing else takes
time. Real kernels reach about half of it, which the calibrated prediction knows, for it has measured them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.calibration import Calibration
from llmserving.bandwidth.decode_work import DecodeModel
from llmserving.step_prediction import Roof
from llmserving.step_work import Work
from llmserving.units import format_bytes, format_rate, format_seconds


@dataclass(frozen=True)
class PredictedPart:
    """One kind of operation in a step, all `count` of them together. calibrated_seconds: None where it was not measured."""

    name: str
    count: int
    work: Work
    raw_seconds: float
    calibrated_seconds: float | None


@dataclass(frozen=True)
class DecodePrediction:
    """One step of `batch` requests with `context` tokens each. rest_seconds: norms, rotations, and what Python needs.

    cpu_time: the calibration had CPU times among its own, for want of undisturbed samples.
    """

    model: DecodeModel
    batch: int
    context: int
    roof: Roof
    parts: tuple[PredictedPart, ...]
    rest_seconds: float | None
    cpu_time: bool = False

    @property
    def raw_seconds(self) -> float:
        """The lower bound: the step's parts take turns, each as fast as the roof allows."""
        return sum(part.raw_seconds for part in self.parts)

    @property
    def calibrated_seconds(self) -> float | None:
        """The sum of what was measured of each part and of the rest; None where one of them was not."""
        times = [*(part.calibrated_seconds for part in self.parts), self.rest_seconds]
        known = [seconds for seconds in times if seconds is not None]
        return sum(known) if len(known) == len(times) else None

    @property
    def raw_tokens_per_s(self) -> float:
        return self.batch / self.raw_seconds

    def explain(self) -> str:
        """Part by part, the bound and what was measured."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"decode of {self.batch} × {self.context:,} tokens, {self.model.dtype}: "
            f"{format_bytes(self.model.step_bytes(self.batch, self.context))} to read at "
            f"{format_rate(self.roof.bandwidth_bytes_per_s)}"
        )
        yield f"{'':18}{'':>4}{'bytes':>10}{'bound':>10}{'measured':>10}"
        for part in self.parts:
            measured, share = "", ""
            if part.calibrated_seconds is not None:
                measured = format_seconds(part.calibrated_seconds)
                share = f"{part.calibrated_seconds / part.raw_seconds:>7.1f}x"
            yield (
                f"{part.name:18}{part.count:>3}×{format_bytes(part.work.num_bytes):>10}"
                f"{format_seconds(part.raw_seconds):>10}{measured:>10}{share}"
            ).rstrip()
        if self.rest_seconds is not None:
            yield f"{'everything else':18}{'':>4}{'':>10}{'0 s':>10}{format_seconds(self.rest_seconds):>10}"
        total = self.calibrated_seconds
        told = "" if total is None else f"{format_seconds(total):>10}{total / self.raw_seconds:>7.1f}x"
        yield f"{'step':18}{'':>4}{'':>10}{format_seconds(self.raw_seconds):>10}{told}"
        if total is not None and self.cpu_time:
            yield "some of what was measured are CPU times, for want of undisturbed samples"


def predict_decode(
    model: DecodeModel, calibration: Calibration, batch: Any = 1, context: Any = 128
) -> DecodePrediction:
    """The next token of each of `batch` requests with `context` tokens, the new one included."""
    batch = arguments.count("batch", "the number of requests in the step", batch)
    context = arguments.count("context", "the number of tokens a request", context)
    bandwidth = calibration.bandwidth_for(model.step_bytes(batch, context))
    roof = Roof(calibration.flops_per_s, bandwidth)
    shapes = {matmul.name: (batch, matmul.outputs, matmul.inputs) for matmul in model.matmuls}
    parts = []
    for name, count, work in model.parts(batch, context):
        measured = (
            calibration.matmul_seconds.get(shapes[name])
            if name in shapes
            else calibration.attention_seconds.get((batch, context))
        )
        seconds = None if measured is None else count * measured
        parts.append(PredictedPart(name, count, work, count * roof.seconds(work), seconds))
    rest = calibration.rest_seconds.get((batch, context))
    return DecodePrediction(model, batch, context, roof, tuple(parts), rest, calibration.cpu_time)
