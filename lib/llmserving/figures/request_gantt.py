"""One row a request: when it waited, computed its prompt, decoded, or was preempted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.gantt_rows import LEGEND, GanttRows
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import draw_legend, legend_lines
from llmserving.figures.over_time import MARGIN, RIGHT, WIDTH
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, write


def request_gantt(events: Iterable[Event], first: Any = 0, most: Any = 20, *, title: str | None = None) -> LessonFigure:
    """Draw at most `most` requests in the order of arrival, from number `first` on, counted from 0.

    Time is in seconds. How phases are read from the log is said at `request_spans`. LogError (a ValueError) where the log
    contradicts itself.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    rows = GanttRows(events, first, most)
    legend = legend_lines(LEGEND, MARGIN, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    words_y = legend_top + len(legend) * LINE_HEIGHT + 14
    top = words_y + 20
    alt_text = f"Rows of time, one a request. {rows.which}. {rows.words()}"
    figure = LessonFigure(WIDTH, top + rows.height, f"{title}. {alt_text}" if title else alt_text)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, MARGIN)
    write(figure, MARGIN, words_y, rows.which)
    rows.draw(figure, top)
    return figure
