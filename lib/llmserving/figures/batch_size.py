"""How many requests run and how many wait, over time."""

from __future__ import annotations

from collections.abc import Iterable

from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.legend import COUNT
from llmserving.figures.over_time import (
    BELOW,
    MARGIN,
    TIME,
    WIDTH,
    count_panel,
    draw_count_frame,
    draw_series,
    end_of,
    seconds,
    span_words,
    time_axis,
)
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, write
from llmserving.replay import Series, serving_series
from llmserving.units import format_number

UPPER_HEIGHT, LOWER_HEIGHT, NAME_HEIGHT, BETWEEN = 150.0, 90.0, 28.0, 12.0


def batch_size_over_time(events: Iterable[Event], *, title: str | None = None) -> LessonFigure:
    """Draw running requests, and below them on a scale of their own those that wait: a queue is often much longer than
    a batch. Preempted requests wait. LogError (a ValueError) where the log contradicts itself.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    curves = serving_series(events)
    start_s, end_s = end_of([curves.running, curves.waiting])
    upper = (TITLE_HEIGHT if title else 0.0) + NAME_HEIGHT
    lower = upper + UPPER_HEIGHT + BETWEEN + NAME_HEIGHT
    figure = LessonFigure(
        WIDTH, lower + LOWER_HEIGHT + BELOW, _alt_text(curves.running, curves.waiting, title, start_s, end_s)
    )
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    x = time_axis(start_s, end_s)
    for name, series, top, height in (
        ("Requests running", curves.running, upper, UPPER_HEIGHT),
        ("Requests waiting", curves.waiting, lower, LOWER_HEIGHT),
    ):
        write(figure, MARGIN, top - NAME_HEIGHT / 2, name, bold=True)
        panel = count_panel(x, series.peak[0], top, height)
        draw_count_frame(figure, panel)
        draw_series(figure, panel, series, COUNT)
    panel.draw_x_ticks(figure, TIME)
    return figure


def _alt_text(running: Series, waiting: Series, title: str | None, start_s: float, end_s: float) -> str:
    words = (
        f"Two curves over time, {span_words(start_s, end_s)}. Requests running: {_most(running)}. Requests waiting: "
    )
    words += f"{_most(waiting)}." if waiting.peak[0] else "none at any time."
    return f"{title}. {words}" if title else words


def _most(series: Series) -> str:
    peak, peak_s = series.peak
    return f"at most {peak:,.0f}, at {seconds(peak_s)} s, and {format_number(series.mean)} on average"
