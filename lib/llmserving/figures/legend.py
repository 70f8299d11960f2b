"""A row of samples with their names: dashes and hatching tell them apart where colours cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.lines import Line2D

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.palette import INK, Fill
from llmserving.figures.shapes import draw_box, draw_outline, text_width, write

SAMPLE, SPACE, BETWEEN = 30.0, 7.0, 22.0


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn; the lengths of `dashes` are in line widths, none for a solid line."""

    width: float
    dashes: tuple[float, ...] = ()
    opacity: float = 1


@dataclass(frozen=True)
class Outline:
    """An empty box."""

    dashed: bool = False
    width: float = 1.1


Sample = Stroke | Fill | Outline | str  # a str is a sign that is written


# A prediction often lies on a wall: a broad band leaves the thin line on top of it to be seen.
PREDICTION = Stroke(7, opacity=0.55)
BEYOND = Stroke(3, opacity=0.55)
MEMORY_WALL = Stroke(1.4, (6, 3))
COMPUTE_WALL = Stroke(1.4, (1.5, 2))
COUNT = Stroke(1.8)
RESERVED = Stroke(1.6, (5, 2.5))
CAPACITY = Stroke(2.8)


def draw_stroke(figure: LessonFigure, x: Sequence[float], y: Sequence[float], stroke: Stroke) -> None:
    """A line through the points (x[i], y[i]) in the manner of `stroke`."""
    line = Line2D(x, y, color=INK, linewidth=stroke.width, dash_capstyle="butt", solid_capstyle="butt")
    line.set_linestyle((0, stroke.dashes) if stroke.dashes else "solid")
    line.set_alpha(stroke.opacity)
    figure.add_drawing(line)


def legend_lines(entries: Sequence[tuple[str, Sample]], low: float, high: float) -> list[list[tuple[str, Sample]]]:
    """The entries in as few lines as hold them between `low` and `high`."""
    lines: list[list[tuple[str, Sample]]] = [[]]
    x = low
    for name, sample in entries:
        width = SAMPLE + SPACE + text_width(name)
        if lines[-1] and x + width > high:
            lines.append([])
            x = low
        lines[-1].append((name, sample))
        x += width + BETWEEN
    return lines


def draw_legend(figure: LessonFigure, lines: Sequence[Sequence[tuple[str, Sample]]], top: float, low: float) -> None:
    """Draw `lines` of a legend from y = `top` down."""
    for row, entries in enumerate(lines):
        x, y = low, top + (row + 0.5) * LINE_HEIGHT
        for name, sample in entries:
            _draw_sample(figure, x, y, sample)
            write(figure, x + SAMPLE + SPACE, y, name)
            x += SAMPLE + SPACE + text_width(name) + BETWEEN


def _draw_sample(figure: LessonFigure, x: float, y: float, sample: Sample) -> None:
    if isinstance(sample, Stroke):
        draw_stroke(figure, [x, x + SAMPLE], [y, y], sample)
    elif isinstance(sample, Fill):
        draw_box(figure, x, y - 5, SAMPLE, 10, sample)
    elif isinstance(sample, str):
        write(figure, x + SAMPLE / 2, y, sample, centred=True)
    else:
        draw_outline(figure, x, y - 4, SAMPLE, 8, dashed=sample.dashed, line_width=sample.width)
