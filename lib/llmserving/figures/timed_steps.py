"""Whole passes of a model as marks on a measured roofline: a square for prefill, a diamond for decode, with a name each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.patches import Polygon, Rectangle

from llmserving.bandwidth.phases import TimedStep
from llmserving.figures.base import LessonFigure
from llmserving.figures.palette import DECODE, PREFILL
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import write
from llmserving.units import format_number, format_rate

HALF = 6.0


def checked_steps(steps: Mapping[str, TimedStep] | None) -> Mapping[str, TimedStep]:
    """`steps`, or a TypeError that says what they are."""
    found = {} if steps is None else steps
    if not isinstance(found, Mapping) or not all(isinstance(step, TimedStep) for step in found.values()):
        raise TypeError("steps maps names to passes that were timed, such as two_phases().decode")
    return found


def step_entries(steps: Mapping[str, TimedStep]) -> list[tuple[str, Any]]:
    """What the legend says of them: nothing where there are none."""
    return [("a whole pass: prefill", "■"), ("decode", "◆")] if steps else []


def draw_steps(figure: LessonFigure, panel: Panel, steps: Mapping[str, TimedStep]) -> None:
    for name, step in steps.items():
        x, y = panel.x.at(step.work.intensity), panel.y.at(step.flops_per_s)
        fill = PREFILL if step.phase == "prefill" else DECODE
        look: dict[str, Any] = {"facecolor": fill.face, "edgecolor": fill.line, "linewidth": 1.4}
        if step.phase == "prefill":
            figure.add_drawing(Rectangle((x - HALF, y - HALF), 2 * HALF, 2 * HALF, **look))
        else:
            tall = 1.3 * HALF
            figure.add_drawing(Polygon([(x - tall, y), (x, y - tall), (x + tall, y), (x, y + tall)], **look))
        # Below to the right: the roof is above, and the marks of the matmuls have their numbers right below them.
        write(figure, x + HALF + 6, y + 2 * HALF + 4, name, bold=True, size=11)


def step_sentences(steps: Mapping[str, TimedStep]) -> Iterable[str]:
    """For the alt text."""
    for name, step in steps.items():
        rate = format_rate(step.flops_per_s).replace("B/s", "FLOP/s")
        yield f" {name[:1].upper()}{name[1:]} reaches {rate} at {format_number(step.work.intensity)} FLOP a byte."
