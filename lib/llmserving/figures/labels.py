"""Labels beside a horizontal bar: as near as they get to what they name, never over one another, with leader lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmserving.figures.base import LessonFigure
from llmserving.figures.shapes import draw_line, text_width, write

LINE_HEIGHT = 16.0
GAP = 18.0  # between neighbours, in figure units


@dataclass(frozen=True)
class Label:
    """Lines of text, the first one bold, for the place `x` on the bar; `leader` says whether a line leads there."""

    lines: tuple[str, ...]
    x: float
    leader: bool = True

    @property
    def width(self) -> float:
        return max(text_width(line, bold=row == 0) for row, line in enumerate(self.lines))


def spread(centres: Sequence[float], widths: Sequence[float], low: float, high: float, gap: float = GAP) -> list[float]:
    """Left edges that keep the order, lie in [low, high] and leave `gap` between neighbours, each near its centre.

    centres, widths: [labels], centres ascending. ValueError where the labels are wider than the room.
    """
    if sum(widths) + gap * (len(widths) - 1) > high - low:
        raise ValueError("the labels are wider than the figure; shorten the notes")
    lefts: list[float] = []
    edge = low
    for centre, width in zip(centres, widths, strict=True):
        lefts.append(max(edge, centre - width / 2))
        edge = lefts[-1] + width + gap
    edge = high
    for index in reversed(range(len(lefts))):
        lefts[index] = min(lefts[index], edge - widths[index])
        edge = lefts[index] - gap
    return lefts


def draw_labels(figure: LessonFigure, labels: Sequence[Label], top: float, low: float, high: float, bar: float) -> None:
    """Draw a row of labels within x in [low, high] and y from `top` down, with leader lines to the bar at y = `bar`."""
    widths = [label.width for label in labels]
    lefts = spread([label.x for label in labels], widths, low, high)
    for label, left, width in zip(labels, lefts, widths, strict=True):
        for row, line in enumerate(label.lines):
            y = top + (row + 0.5) * LINE_HEIGHT
            write(figure, left + width / 2, y, line, bold=row == 0, centred=True)
        if label.leader:
            start = top + len(label.lines) * LINE_HEIGHT + 1 if bar > top else top - 1
            near = min(max(label.x, left), left + width)
            draw_line(figure, [near, label.x], [start, bar], width=1)
