"""By which factor a learner's function is off for each model: a bar from the line on which it agrees, on a log axis."""

from __future__ import annotations

from collections.abc import Sequence

from llmserving.figures.axis import LogAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.palette import KV_CACHE
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_box,
    draw_line,
    text_width,
    write,
)
from llmserving.held_against import Comparison, Held

WIDTH, MARGIN = 720.0, 10.0
ROW, BAR, SIZE = 24.0, 12.0, 11.5
BELOW = "your bytes a token, as a multiple of what was read off"
LEAST_SPAN, MOST_SPAN = 8.0, 128.0  # how many times too small or too large the axis reaches


def off_by(comparison: Comparison, *, title: str | None = None) -> LessonFigure:
    """Draw a comparison as `hold_against` gives it: one row a model. ValueError for one without rows."""
    rows = comparison.rows
    if not rows:
        raise ValueError("comparison has no rows; hold your function against one reading at least")
    title = checked_title(title, WIDTH - 2 * MARGIN)
    left = MARGIN + max(text_width(_name(row), size=SIZE) for row in rows) + 14
    right = WIDTH - MARGIN - max(text_width(_verdict(row), size=SIZE) for row in rows) - 14
    axis = _axis(rows, left, right)
    top = 6 + (TITLE_HEIGHT if title else 0)
    bottom = top + ROW * len(rows)
    figure = LessonFigure(WIDTH, bottom + 42, _alt_text(rows, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for tick in axis.powers_of_two(36):
        draw_line(figure, [axis.at(tick)] * 2, [top, bottom], width=1.4 if tick == 1 else 0.3)
        write(figure, axis.at(tick), bottom + 10, _tick(tick), centred=True, size=SIZE)
    write(figure, (left + right) / 2, bottom + 28, BELOW, centred=True, size=SIZE)
    for index, row in enumerate(rows):
        y = top + ROW * (index + 0.5)
        write(figure, MARGIN, y, _name(row), size=SIZE)
        if row.said is not None:
            _draw_bar(figure, axis, row.factor, y)
        write(figure, right + 14, y, _verdict(row), size=SIZE)
    return figure


def _axis(rows: Sequence[Held], left: float, right: float) -> LogAxis:
    factors = [row.factor for row in rows if row.said is not None]
    span = max([LEAST_SPAN, *(max(factor, 1 / factor) for factor in factors)])
    span = min(span * 1.1, MOST_SPAN)
    return LogAxis(1 / span, span, left, right)


def _draw_bar(figure: LessonFigure, axis: LogAxis, factor: float, y: float) -> None:
    """A bar from 1 to the factor; a mark on the line where it agrees."""
    one = axis.at(1)
    end = axis.at(min(max(factor, axis.low), axis.high))
    if abs(end - one) < BAR / 2:
        draw_box(figure, end - BAR / 2, y - BAR / 2, BAR, BAR, KV_CACHE)
    else:
        draw_box(figure, min(one, end), y - BAR / 2, abs(end - one), BAR, KV_CACHE)


def _name(row: Held) -> str:
    return f"{row.reading.model.name}, {row.reading.attention} ({row.reading.source})"


def _verdict(row: Held) -> str:
    """What fits beside the axis; the table has the rest."""
    return row.verdict if row.said is not None or len(row.verdict) < 20 else "no number"


def _tick(tick: float) -> str:
    return f"{tick:g}×" if tick >= 1 else f"1/{1 / tick:g}"


def _alt_text(rows: Sequence[Held], title: str | None) -> str:
    told = " ".join(f"{_name(row)}: {row.verdict}." for row in rows)
    words = f"Bars of your bytes a token over what was read off, from a line at 1. {told}"
    return f"{title}. {words}" if title else words
