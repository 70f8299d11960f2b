"""A row of line samples with their names: dashes tell the lines apart where colours cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.lines import Line2D

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.palette import INK
from llmserving.figures.shapes import text_width, write

SAMPLE, SPACE, BETWEEN = 30.0, 7.0, 22.0


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn; the lengths of `dashes` are in line widths, none for a solid line."""

    width: float
    dashes: tuple[float, ...] = ()
    opacity: float = 1


# A prediction often lies on a wall: a broad band leaves the thin line on top of it to be seen.
PREDICTION = Stroke(7, opacity=0.55)
BEYOND = Stroke(3, opacity=0.55)
MEMORY_WALL = Stroke(1.4, (6, 3))
COMPUTE_WALL = Stroke(1.4, (1.5, 2))


def draw_stroke(figure: LessonFigure, x: Sequence[float], y: Sequence[float], stroke: Stroke) -> None:
    """A line through the points (x[i], y[i]) in the manner of `stroke`."""
    line = Line2D(x, y, color=INK, linewidth=stroke.width, dash_capstyle="butt", solid_capstyle="butt")
    line.set_linestyle((0, stroke.dashes) if stroke.dashes else "solid")
    line.set_alpha(stroke.opacity)
    figure.add_drawing(line)


def legend_lines(entries: Sequence[tuple[str, Stroke]], low: float, high: float) -> list[list[tuple[str, Stroke]]]:
    """The entries in as few lines as hold them between `low` and `high`."""
    lines: list[list[tuple[str, Stroke]]] = [[]]
    x = low
    for name, stroke in entries:
        width = SAMPLE + SPACE + text_width(name)
        if lines[-1] and x + width > high:
            lines.append([])
            x = low
        lines[-1].append((name, stroke))
        x += width + BETWEEN
    return lines


def draw_legend(figure: LessonFigure, lines: Sequence[Sequence[tuple[str, Stroke]]], top: float, low: float) -> None:
    """Draw `lines` of a legend from y = `top` down."""
    for row, entries in enumerate(lines):
        x, y = low, top + (row + 0.5) * LINE_HEIGHT
        for name, stroke in entries:
            draw_stroke(figure, [x, x + SAMPLE], [y, y], stroke)
            write(figure, x + SAMPLE + SPACE, y, name)
            x += SAMPLE + SPACE + text_width(name) + BETWEEN
