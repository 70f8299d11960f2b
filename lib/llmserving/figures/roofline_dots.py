"""The roofline of a GPU, and steps as dots on it: under the slope they wait for bytes, under the flat roof for arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.patches import Circle, Rectangle

from llmserving.figures.axis import LogAxis, short_number
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT, Label, draw_labels
from llmserving.figures.legend import Stroke
from llmserving.figures.palette import DECODE, PREFILL
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_line, write
from llmserving.step_prediction import StepPrediction
from llmserving.units import format_number

WIDTH, MARGIN, LEFT, RIGHT, HEIGHT, LEADER = 720.0, 10.0, 66.0, 694.0, 190.0, 12.0
LEAST_INTENSITY, MOST_INTENSITY = 0.5, 2.0**16
DOT = 6.5
ROOF = Stroke(2.4)


def roofline_dots(steps: Mapping[str, StepPrediction], *, title: str | None = None) -> LessonFigure:
    """Draw named steps of one GPU, computed in one format, as `predict_prefill` and `predict_decode` give them.

    A dot lies at the step's FLOPs a byte, and as high as the FLOP/s that it reaches. ValueError where the roofs differ.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    roof = _one_roof(steps)
    x = LogAxis(LEAST_INTENSITY, MOST_INTENSITY, LEFT, RIGHT)
    marks = [Label((name, _intensity(step.intensity)), x.at(step.intensity)) for name, step in steps.items()]
    marks.append(Label(("ridge point", _intensity(roof.ridge)), x.at(roof.ridge)))
    labels_top = 6 + (TITLE_HEIGHT if title else 0) + LINE_HEIGHT
    top = labels_top + 2 * LINE_HEIGHT + LEADER
    figure = LessonFigure(WIDTH, top + HEIGHT + 44, _alt_text(steps, roof.ridge, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, MARGIN, labels_top - LINE_HEIGHT / 2, "TFLOP a second, and the most that the GPU allows", bold=True)
    least = roof.bandwidth_bytes_per_s * LEAST_INTENSITY
    panel = Panel(x, LogAxis(least, roof.flops_per_s * 2, top + HEIGHT, top))
    panel.draw_frame(figure, lambda flops_per_s: short_number(flops_per_s / 1e12))
    panel.draw_curve(
        figure,
        [LEAST_INTENSITY, roof.ridge, MOST_INTENSITY],
        [least, roof.flops_per_s, roof.flops_per_s],
        ROOF,
    )
    for mark in marks:
        draw_line(figure, [mark.x, mark.x], [top, top + HEIGHT], width=0.8)
    for step in steps.values():
        _draw_dot(figure, x.at(step.intensity), panel.y.at(step.flops / step.seconds), step)
    panel.draw_x_ticks(figure, "FLOP for each byte read or written")
    draw_labels(figure, sorted(marks, key=lambda mark: mark.x), labels_top, MARGIN, RIGHT, top)
    return figure


def _draw_dot(figure: LessonFigure, x: float, y: float, step: StepPrediction) -> None:
    """A circle for decode, a square for prefill."""
    if step.phase == "decode":
        figure.add_drawing(Circle((x, y), DOT, facecolor=DECODE.face, edgecolor=DECODE.line, linewidth=1.3))
        return
    size = 2 * DOT
    square = Rectangle((x - DOT, y - DOT), size, size, facecolor=PREFILL.face, edgecolor=PREFILL.line, linewidth=1.3)
    figure.add_drawing(square)


def _one_roof(steps: Mapping[str, StepPrediction]) -> Any:
    if not steps or not all(isinstance(step, StepPrediction) for step in steps.values()):
        raise TypeError("steps maps names to steps as predict_prefill and predict_decode give them, at least one")
    roofs = {step.roof for step in steps.values()}
    if len(roofs) > 1:
        raise ValueError("the steps have different roofs; draw those of one GPU and one format at a time")
    for name, step in steps.items():
        if not LEAST_INTENSITY <= step.intensity <= MOST_INTENSITY:
            raise ValueError(f"the step {name!r} has {step.intensity:g} FLOP/byte, which is outside the picture")
    return roofs.pop()


def _intensity(value: float) -> str:
    return f"{format_number(value if value < 100 else round(value))} FLOP/byte"


def _alt_text(steps: Mapping[str, StepPrediction], ridge: float, title: str | None) -> str:
    words = f"Roofline with its ridge point at {_intensity(ridge)}."
    for name, step in steps.items():
        reached = short_number(step.flops / step.seconds / 1e12)
        words += f" {name.capitalize()} at {_intensity(step.intensity)} reaches {reached} TFLOP a second: {step.bound}."
    return f"{title}. {words}" if title else words
