"""A panel of a curve figure: a frame with round ticks, and lines that are cut off where the frame ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llmserving.figures.axis import LinearAxis, LogAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.legend import Stroke, draw_stroke
from llmserving.figures.shapes import draw_line, draw_outline, text_width, write
from llmserving.units import format_number

TICK_SIZE = 11.5
Y_ROOM, X_ROOM, TIME_ROOM = 22.0, 44.0, 64.0


@dataclass(frozen=True)
class Panel:
    """Where x and y lie. The y axis starts at its bottom, so `y.start` is the larger of the two."""

    x: LogAxis | LinearAxis
    y: LogAxis | LinearAxis

    @property
    def x_ticks(self) -> list[float]:
        """Powers of two of a batch, round values of a time."""
        return self.x.powers_of_two(X_ROOM) if isinstance(self.x, LogAxis) else self.x.ticks(TIME_ROOM)

    def draw_frame(self, figure: LessonFigure, y_text: Callable[[float], str]) -> None:
        """Frame, gridlines and y ticks."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        for tick in self.y.ticks(Y_ROOM):
            y = self.y.at(tick)
            draw_line(figure, [left, right], [y, y], width=0.3)
            label = y_text(tick)
            write(figure, left - 7 - text_width(label, size=TICK_SIZE), y, label, size=TICK_SIZE)
        for tick in self.x_ticks:
            draw_line(figure, [self.x.at(tick)] * 2, [top, bottom], width=0.3)
        draw_outline(figure, left, top, right - left, bottom - top)

    def draw_x_ticks(self, figure: LessonFigure, name: str) -> None:
        """Numbers under the frame, and what they count."""
        for tick in self.x_ticks:
            write(figure, self.x.at(tick), self.y.start + 12, format_number(tick, 6), centred=True, size=TICK_SIZE)
        write(figure, (self.x.start + self.x.end) / 2, self.y.start + 30, name, centred=True)

    def draw_curve(self, figure: LessonFigure, x: Sequence[float], y: Sequence[float], stroke: Stroke) -> None:
        """The part of a line through the points (x[i], y[i]) that lies inside the frame."""
        places = [(self.x.at(a), self.y.at(b)) for a, b in zip(x, y, strict=True)]
        runs: list[list[tuple[float, float]]] = []
        for start, end in pairwise(places):
            inside = self._inside(start, end)
            if inside is None:
                continue
            if runs and runs[-1][-1] == inside[0]:
                runs[-1].append(inside[1])
            else:
                runs.append(list(inside))
        for run in runs:
            draw_stroke(figure, [a for a, _ in run], [b for _, b in run], stroke)

    def _inside(
        self, start: tuple[float, float], end: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """The part of a straight stretch between top and bottom, None where there is none."""
        low, high = sorted((self.y.start, self.y.end))
        rise = end[1] - start[1]
        if rise == 0:
            return (start, end) if low <= start[1] <= high else None
        enters, leaves = sorted(((low - start[1]) / rise, (high - start[1]) / rise))
        enters, leaves = max(0.0, enters), min(1.0, leaves)
        if enters >= leaves:
            return None

        def point(share: float) -> tuple[float, float]:
            return start[0] + share * (end[0] - start[0]), start[1] + share * rise

        return (start if enters == 0 else point(enters)), (end if leaves == 1 else point(leaves))
