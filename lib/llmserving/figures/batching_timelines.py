"""The same requests under several schedules, one below the other on one clock: who waits, who runs, which places idle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.gantt_rows import LOOKS, GanttRows
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Sample, draw_legend, legend_lines
from llmserving.figures.over_time import MARGIN, RIGHT, WIDTH, seconds
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, write
from llmserving.replay import kept_until
from llmserving.replay.log import checked_log

NAME_HEIGHT = 24.0
LEGEND: tuple[tuple[str, Sample], ...] = tuple(
    (name, LOOKS[look][0])
    for name, look in (
        ("waiting", "waiting"),
        ("prefill", "prefill"),
        ("decode", "decode"),
        ("done, its place kept", "kept"),
    )
)


def batching_timelines(logs: Mapping[str, Iterable[Event]], *, title: str | None = None) -> LessonFigure:
    """Draw each log of contiguous memory as rows of time, one a request, under its name.

    How phases are read from a log is said at `request_spans`, and that a place is kept at `kept_until`.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    read = {name: checked_log(events) for name, events in logs.items()}
    ends = {name: max((event.time_s for event in log), default=0.0) for name, log in read.items()}
    if not read:
        raise ValueError("logs maps the name of each schedule to its events, but got none")
    rows = {name: GanttRows(log, kept=kept_until(log), end_s=max(ends.values())) for name, log in read.items()}
    legend = legend_lines(LEGEND, MARGIN, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    top = legend_top + len(legend) * LINE_HEIGHT + 8
    height = top + sum(NAME_HEIGHT + one.height for one in rows.values())
    told = " ".join(f"{name}, until {seconds(ends[name])} s: {one.words()}" for name, one in rows.items())
    alt_text = f"Rows of time, one a request, under each schedule. {told}"
    figure = LessonFigure(WIDTH, height, f"{title}. {alt_text}" if title else alt_text)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, MARGIN)
    for name, one in rows.items():
        write(figure, MARGIN, top + NAME_HEIGHT / 2, f"{name}, until {seconds(ends[name])} s", bold=True)
        one.draw(figure, top + NAME_HEIGHT)
        top += NAME_HEIGHT + one.height
    return figure
