"""One outlier in a row of weights: move its size, the bits and the size of a group, and see who pays for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from llmserving import arguments
from llmserving.explorers.choices import Choice, checked_names
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures.group_steps import group_steps
from llmserving.figures.quantization_points import short
from llmserving.quantization import QuantizedTensor, quantize_tensor
from llmserving.quantization.modes import checked_bits

COLUMNS, PLACE = 256, 90


def row_with_outlier(times: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A row [1, 256] of weights around zero, one of them `times` as far out as the furthest of the others."""
    row = np.random.default_rng(seed=0).normal(0, 0.05, (1, COLUMNS)).astype(np.float32)
    row[0, PLACE] = 0
    row[0, PLACE] = times * np.abs(row).max()
    return row


def _times(value: Any) -> float:
    return float(arguments.amount("outlier", "how many times as far out the outlier lies", value))


def _group(value: Any) -> int:
    size = arguments.count("group_size", "the number of neighbours that share a scale", value)
    if COLUMNS % size or size < COLUMNS // 64:
        raise ValueError(
            f"group_size is a part of {COLUMNS} columns such as 32, at least {COLUMNS // 64}, but got {size}"
        )
    return size


CHOICES: Mapping[str, Choice] = {
    "outlier": Choice("Outlier, times the rest", (1.0, 2.0, 5.0, 10.0, 20.0, 50.0), _times, lambda n: f"{short(n)} ×"),
    "group_size": Choice("Group size", (8, 16, 32, 64, 128, 256), _group),
    "bits": Choice("Bits", (3, 4, 6, 8), checked_bits),
}


class OutlierExplorer(LiveExplorer):
    """Steps of groups beside that of the whole row; `.grouped` and `.whole` are the two quantized rows."""

    grouped: QuantizedTensor
    whole: QuantizedTensor

    def look(self, value: dict[str, Any]) -> View:
        row = row_with_outlier(value["outlier"])
        self.whole = quantize_tensor(row, value["bits"])
        self.grouped = quantize_tensor(row, value["bits"], group_size=value["group_size"], scale_dtype="float16")
        errors = [made.error_report(row).mean_error for made in (self.whole, self.grouped)]
        zeros = [int((made.codes == made.zero_point.repeat(COLUMNS // made.scale.size)).sum())
                 for made in (self.whole, self.grouped)]  # fmt: skip
        sentence = (
            f"Mean error {short(errors[0])} with one scale for the row, {short(errors[1])} with one a group of "
            f"{value['group_size']}. Of {COLUMNS} weights, {zeros[0]} come back as 0 in the first case and {zeros[1]} in "
            "the second."
        )
        figure = group_steps(self.grouped.scale, self.whole.scale)
        return View(
            figure,
            sentence,
            (
                f"{short(self.grouped.bits_a_weight)} bits a weight, with a 16-bit scale and a {value['bits']}-bit zero-point "
                "for each group",
            ),
        )


def outlier_explorer(
    *, outlier: Any = 20.0, group_size: Any = 32, bits: Any = 4, controls: Iterable[str] = tuple(CHOICES)
) -> OutlierExplorer:
    """An explorer that starts at these numbers and shows the controls named, by default all of them."""
    shown = checked_names(controls, CHOICES)
    start = {"outlier": outlier, "group_size": group_size, "bits": bits}
    widgets = {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}
    return OutlierExplorer(widgets, shown)
