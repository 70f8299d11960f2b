"""Curves over the channels or columns of a layer, in panels one below the other: what the pictures of quantizers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmserving.figures.axis import LogAxis, surrounding
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Stroke, draw_legend, legend_lines
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, write
from llmserving.quantization.arrays import as_numpy, real_array

WIDTH, MARGIN, LEFT, RIGHT = 720.0, 10.0, 66.0, 694.0
PANEL_HEIGHT, NAME_HEIGHT, FOOT = 150.0, 30.0, 46.0
BEFORE, AFTER = Stroke(1.6, (4, 2)), Stroke(3.2, opacity=0.75)
DECADES = 1e-6  # what lies that far below the largest value is drawn at the foot: a logarithm has no room for 0

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class CurvePanel:
    """One panel: its name, and curves (name, values [channels], stroke) that share a logarithmic axis."""

    name: str
    curves: Sequence[tuple[str, Values, Stroke]]


def channel_curves(panels: Sequence[CurvePanel], x_name: str, alt_text: str, title: str | None = None) -> LessonFigure:
    """Draw panels over channels 1 to n, counted on a logarithmic axis so that the first few can be seen."""
    title = checked_title(title, WIDTH - 2 * MARGIN)
    words = f"{title}. {alt_text}" if title else alt_text
    legends = [legend_lines([(name, stroke) for name, _, stroke in panel.curves], MARGIN, RIGHT) for panel in panels]
    heads = [NAME_HEIGHT + len(lines) * LINE_HEIGHT for lines in legends]
    first = TITLE_HEIGHT if title else 0
    figure = LessonFigure(WIDTH, first + sum(heads) + len(panels) * (PANEL_HEIGHT + 12) + FOOT - 12, words)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    top = first
    for panel, legend, head in zip(panels, legends, heads, strict=True):
        write(figure, MARGIN, top + LINE_HEIGHT, panel.name, bold=True)
        draw_legend(figure, legend, top + LINE_HEIGHT * 1.6, MARGIN)
        top += head
        _draw_panel(figure, panel, top, x_name if panel is panels[-1] else None)
        top += PANEL_HEIGHT + 12
    return figure


def channel_values(name: str, values: Any, channels: int | None = None) -> Values:
    """`values` as [channels] numbers of at least 0; ValueError where they are none or not as many as `channels`."""
    array: Values = as_numpy(real_array(name, values, "a number for each channel"))
    if array.ndim != 1 or len(array) < 2 or (channels is not None and len(array) != channels):
        wanted = "two channels at least" if channels is None else f"the {channels} channels of the others"
        raise ValueError(f"{name} has shape {array.shape}; it needs a number for each of {wanted}")
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise ValueError(f"{name} must be finite and at least 0, and not all 0, to be drawn on a logarithmic axis")
    return array


def _draw_panel(figure: LessonFigure, panel: CurvePanel, top: float, x_name: str | None) -> None:
    largest = max(float(values.max()) for _, values, _ in panel.curves)
    floor = largest * DECADES
    drawn = [np.maximum(values, floor).tolist() for _, values, _ in panel.curves]
    low, high = surrounding([value for values in drawn for value in values])
    x = LogAxis(1, len(drawn[0]), LEFT, RIGHT)
    frame = Panel(x, LogAxis(low, high, top + PANEL_HEIGHT, top))
    frame.draw_frame(figure, lambda value: f"{value:g}")
    for values, (_, _, stroke) in zip(drawn, panel.curves, strict=True):
        frame.draw_curve(figure, range(1, len(values) + 1), values, stroke)
    if x_name is not None:
        frame.draw_x_ticks(figure, x_name)
