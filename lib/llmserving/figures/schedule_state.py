"""A schedule at one moment of a log: who runs and who waits, what is held of the KV cache, and how it came to that."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.gantt_rows import LEGEND, GanttRows
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Stroke, draw_legend, draw_stroke, legend_lines
from llmserving.figures.over_time import MARGIN, RIGHT, WIDTH, seconds
from llmserving.figures.palette import KV_CACHE
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_box,
    draw_line,
    draw_outline,
    shortened,
    write,
)
from llmserving.replay import ScheduleState, replay_schedule
from llmserving.replay.log import SCHEDULING_KINDS, checked_log

NOW = Stroke(1.6, (4, 2))
BAR_HEIGHT, LEAST_BLOCK = 16.0, 6.0  # blocks narrower than that are not drawn one by one


def schedule_state(
    events: Iterable[Event], num_blocks: Any, upto: Any = None, *, most: Any = 20, title: str | None = None
) -> LessonFigure:
    """Draw a schedule on a pool of `num_blocks` blocks after the first `upto` events, all of them if None.

    At most `most` requests have a row. Blocks that requests take as they decode have no event of their own: they show
    with the next one. The figure has the same size and time axis at every event of one log. LogError (a ValueError) where
    the log contradicts itself.
    """
    pool = arguments.count("num_blocks", "the number of blocks in the pool", num_blocks)
    title = checked_title(title, WIDTH - 2 * MARGIN)
    log = checked_log(events)
    rows = GanttRows(log, 0, most, upto)
    state = replay_schedule(log, upto)
    begun = any(event.kind in SCHEDULING_KINDS for event in log[: state.number])
    held = pool - state.free_blocks if begun else 0
    if held < 0:
        raise ValueError(f"num_blocks is the pool's {pool:,} blocks, but the log has {state.free_blocks:,} free ones")
    lines = [f"Runs: {_names(state.running)}", f"Waits: {_names(_queue(state))}"]
    bar_words = f"KV blocks held: {held:,} of {pool:,}"
    line_top = 6 + (TITLE_HEIGHT if title else 0)
    bar_y = line_top + 3 * LINE_HEIGHT + 4
    legend = legend_lines([*LEGEND, ("now", NOW)], MARGIN, RIGHT)
    legend_top = bar_y + BAR_HEIGHT + 12
    top = legend_top + len(legend) * LINE_HEIGHT + 10
    alt_text = (
        f"Schedule at {seconds(state.time_s)} s. {'. '.join(lines)}. {bar_words}. Rows of time, one a request. "
        f"{rows.which}. {rows.words()}"
    )
    figure = LessonFigure(WIDTH, top + rows.height, f"{title}. {alt_text}" if title else alt_text)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for row, line in enumerate([*lines, bar_words]):
        write(figure, MARGIN, line_top + (row + 0.5) * LINE_HEIGHT, shortened(line, WIDTH - 2 * MARGIN))
    _draw_pool(figure, held, pool, bar_y)
    draw_legend(figure, legend, legend_top, MARGIN)
    rows.draw(figure, top)
    now = min(max(rows.x.at(state.time_s), rows.x.start), rows.x.end)
    draw_stroke(figure, [now, now], [top - 4, top + rows.rows_height], NOW)
    return figure


def _draw_pool(figure: LessonFigure, held: int, pool: int, top: float) -> None:
    """A bar as wide as the figure for the whole pool, filled as far as it is held."""
    width = RIGHT - MARGIN
    if held:
        draw_box(figure, MARGIN, top, width * held / pool, BAR_HEIGHT, KV_CACHE)
    if width / pool >= LEAST_BLOCK:
        for block in range(1, pool):
            draw_line(figure, [MARGIN + width * block / pool] * 2, [top, top + BAR_HEIGHT], width=0.6)
    draw_outline(figure, MARGIN, top, width, BAR_HEIGHT)


def _queue(state: ScheduleState) -> tuple[Hashable, ...]:
    """All that wait, those that were sent back in front."""
    return (*state.preempted[::-1], *state.waiting)


def _names(requests: Sequence[Hashable]) -> str:
    return ", ".join(map(str, requests)) or "nobody"
