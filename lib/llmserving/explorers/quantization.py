"""Move the ends of a range, the bits and the mode, and see where each weight lands and how far off it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmserving import arguments
from llmserving.explorers.choices import Choice, checked_names
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures import quantization_grid
from llmserving.figures.quantization_points import short
from llmserving.quantization import ErrorReport, code_range, error_report, scale_zero_point
from llmserving.quantization.modes import MODES, checked_bits, checked_mode

WEIGHTS = (-1.1, -0.72, -0.48, -0.31, -0.15, -0.04, 0.0, 0.09, 0.2, 0.37, 0.55, 0.83, 1.6)


def _lower(value: Any) -> float:
    meaning = "the lower end of the range, 0 or below"
    return 0.0 if value == 0 else -float(arguments.amount("-r_min", meaning, -value))


def _upper(value: Any) -> float:
    return float(arguments.amount("r_max", "the upper end of the range", value))


CHOICES: Mapping[str, Choice] = {
    "r_min": Choice("r_min", (-2.0, -1.6, -1.2, -1.0, -0.8, -0.6, -0.4, -0.2, 0.0), _lower, short),
    "r_max": Choice("r_max", (0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.2, 1.6, 2.0), _upper, short),
    "bits": Choice("Bits", (2, 3, 4, 5, 6, 8), checked_bits),
    "mode": Choice("Mode", MODES, checked_mode, dropdown=True),
}


class QuantizationExplorer(LiveExplorer):
    """The grid of a quantizer and thirteen weights on it; `.report` says how far off they come back."""

    report: ErrorReport

    def look(self, value: dict[str, Any]) -> View:
        bits, mode = value["bits"], value["mode"]
        scale, zero_point = scale_zero_point(value["r_min"], value["r_max"], bits, mode)
        self.report = error_report(WEIGHTS, scale, zero_point, bits, mode)
        figure = quantization_grid(WEIGHTS, scale, zero_point, bits, mode)
        return View(figure, f"Step {short(scale)}: {self.report}.", _arithmetic(value, scale, zero_point))


def quantization_explorer(
    *,
    r_min: Any = -0.8,
    r_max: Any = 1.2,
    bits: Any = 3,
    mode: Any = "asymmetric",
    controls: Iterable[str] = tuple(CHOICES),
) -> QuantizationExplorer:
    """An explorer that starts at these numbers and shows the controls named, by default all of them.

    TypeError or ValueError names the argument, what it got and what would be right.
    """
    shown = checked_names(controls, CHOICES)
    start = {"r_min": r_min, "r_max": r_max, "bits": bits, "mode": mode}
    widgets = {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}
    return QuantizationExplorer(widgets, shown)


def _arithmetic(value: dict[str, Any], scale: float, zero_point: int) -> tuple[str, ...]:
    """How the step and the zero-point come about, with the numbers of the moment in the formulas."""
    low, high, codes = value["r_min"], value["r_max"], code_range(value["bits"], value["mode"])
    if value["mode"] == "asymmetric":
        step = f"step: (r_max - r_min) / (2^b - 1) = ({short(high)} - {short(low)}) / {short(codes.steps)} = {short(scale)}"
        zero = f"zero-point: round(-r_min / s) = round({short(-low)} / {short(scale)}) = {zero_point}"
    else:
        step = f"step: max|r| / {short(codes.steps)} = {short(max(-low, high))} / {short(codes.steps)} = {short(scale)}"
        zero = "zero-point: 0"
    return step, zero, f"codes {codes.low} to {codes.high}; rounding is off by s / 2 = {short(scale / 2)} at most"
