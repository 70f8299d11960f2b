"""Tokens a second and time per token against the batch, under the wall of the memory and the wall of the arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from llmserving import arguments
from llmserving.figures.axis import LogAxis, short_number, surrounding
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT, Label, draw_labels
from llmserving.figures.legend import BEYOND, COMPUTE_WALL, MEMORY_WALL, PREDICTION, draw_legend, legend_lines
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_line, write
from llmserving.step_prediction import StepPrediction
from llmserving.units import format_number, format_seconds

WIDTH, MARGIN, LEFT, RIGHT = 720.0, 10.0, 66.0, 694.0
UPPER_HEIGHT, LOWER_HEIGHT, BETWEEN, LEADER = 150.0, 120.0, 34.0, 12.0
LEGEND = (
    ("predicted", PREDICTION),
    ("memory wall: bytes alone", MEMORY_WALL),
    ("compute wall: arithmetic alone", COMPUTE_WALL),
)


def batch_curve(
    predictions: Sequence[StepPrediction],
    *,
    critical_batch: Any = None,
    most_requests: Any = None,
    title: str | None = None,
) -> LessonFigure:
    """Draw decode steps of growing batch, as `predict_decode` gives them.

    critical_batch: where the step stops being memory-bound, infinity for never. most_requests: how many fit into memory,
    beyond which the prediction is drawn thinner. ValueError or TypeError where the data cannot be drawn.
    """
    steps = _checked(predictions)
    critical = None if critical_batch is None else _critical(critical_batch)
    most = None if most_requests is None else arguments.count("most_requests", "the requests that fit", most_requests)
    title = checked_title(title, WIDTH - 2 * MARGIN)
    x = LogAxis(steps[0].batch, steps[-1].batch, LEFT, RIGHT)
    marks = _marks(x, critical, most)
    legend = legend_lines([*LEGEND, *([("more than fits in memory", BEYOND)] if most else [])], MARGIN, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    name = legend_top + len(legend) * LINE_HEIGHT + 16
    labels_top = name + LINE_HEIGHT / 2 + 2
    top = labels_top + (2 * LINE_HEIGHT + LEADER if marks else 6)
    lower = top + UPPER_HEIGHT + BETWEEN
    figure = LessonFigure(WIDTH, lower + LOWER_HEIGHT + 44, _alt_text(steps, critical, most, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, MARGIN)
    write(figure, MARGIN, name, "Tokens a second, all requests together", bold=True)
    write(figure, MARGIN, lower - 12, "Time per token, for each request", bold=True)
    _draw_panels(figure, steps, x, top, lower, most)
    for mark in marks:
        for start, height in ((top, UPPER_HEIGHT), (lower, LOWER_HEIGHT)):
            draw_line(figure, [mark.x, mark.x], [start, start + height], width=1)
    draw_labels(figure, marks, labels_top, MARGIN, RIGHT, top)
    return figure


def _draw_panels(
    figure: LessonFigure, steps: Sequence[StepPrediction], x: LogAxis, top: float, lower: float, most: int | None
) -> None:
    rates = [step.tokens_per_s for step in steps]
    seconds = [step.seconds for step in steps]
    walls = [(MEMORY_WALL, [step.memory_wall_tokens_per_s for step in steps])]
    walls.append((COMPUTE_WALL, [step.compute_wall_tokens_per_s for step in steps]))
    low, high = surrounding(rates)
    compute = steps[0].compute_wall_tokens_per_s
    upper_panel = Panel(x, LogAxis(low, max(high, min(compute * 1.25, 30 * high)), top + UPPER_HEIGHT, top))
    lower_panel = Panel(x, LogAxis(*surrounding(seconds, 1.5), lower + LOWER_HEIGHT, lower))
    batches = [step.batch for step in steps]
    fitting = len([batch for batch in batches if most is None or batch <= most])
    for panel, values, text in ((upper_panel, rates, short_number), (lower_panel, seconds, format_seconds)):
        panel.draw_frame(figure, text)
        panel.draw_curve(figure, batches[:fitting], values[:fitting], PREDICTION)
        panel.draw_curve(figure, batches[max(0, fitting - 1) :], values[max(0, fitting - 1) :], BEYOND)
        for stroke, wall in walls:
            heights = wall if panel is upper_panel else [b / rate for b, rate in zip(batches, wall, strict=True)]
            panel.draw_curve(figure, batches, heights, stroke)
    lower_panel.draw_x_ticks(figure, "Requests in the batch")


def _marks(x: LogAxis, critical: float | None, most: int | None) -> list[Label]:
    """Labels of the places on the batch axis that are worth a line, from left to right."""
    marks = []
    if critical is not None and x.holds(critical):
        marks.append(Label(("Compute-bound from", f"batch {format_number(critical)}"), x.at(critical)))
    if most is not None and x.holds(most):
        marks.append(Label(("Memory is full", f"at {most:,} requests"), x.at(most)))
    return sorted(marks, key=lambda mark: mark.x)


def _checked(predictions: Sequence[StepPrediction]) -> list[StepPrediction]:
    steps = list(predictions) if isinstance(predictions, Iterable) else [predictions]
    if not all(isinstance(step, StepPrediction) and step.phase == "decode" for step in steps):
        raise TypeError("predictions are decode steps as predict_decode gives them")
    batches = [step.batch for step in steps]
    if len(steps) < 2 or batches != sorted(set(batches)):
        raise ValueError(f"predictions need two or more batches that grow, but got {batches}")
    return steps


def _critical(value: Any) -> float:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return float(arguments.amount("critical_batch", "the batch at which decode is no longer memory-bound", value))


def _alt_text(steps: Sequence[StepPrediction], critical: float | None, most: int | None, title: str | None) -> str:
    first, last = steps[0], steps[-1]
    words = (
        f"Two curves against the batch. Tokens a second grow from {format_number(first.tokens_per_s)} at batch "
        f"{first.batch:,} to {format_number(last.tokens_per_s)} at batch {last.batch:,}; the time per token from "
        f"{format_seconds(first.seconds)} to {format_seconds(last.seconds)}. At batch {last.batch:,} the memory wall "
        f"alone allows {format_number(last.memory_wall_tokens_per_s)} tokens a second, the compute wall "
        f"{format_number(last.compute_wall_tokens_per_s)}."
    )
    if critical is not None:
        words += (
            " Decode is memory-bound at every batch."
            if math.isinf(critical)
            else f" Decode is compute-bound from batch {format_number(critical)}."
        )
    if most is not None:
        words += f" Memory is full at {most:,} requests."
    return f"{title}. {words}" if title else words
