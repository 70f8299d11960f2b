"""The block pool at one moment of a log: what is in each block and whose it is, each block table, and the free list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.block_grid import CACHED, BlockGrid
from llmserving.figures.block_lists import FreeList, TableList
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Outline, Sample, draw_legend, legend_lines
from llmserving.figures.palette import KV_CACHE, SHARED
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, wrapped, write
from llmserving.replay import PoolState, replay_pool, sentence
from llmserving.replay.log import PAGING_KINDS, checked_log

WIDTH, MARGIN, BETWEEN = 720.0, 10.0, 24.0
CAPTION_LINES = 2  # always kept free, so that a figure that is stepped through does not jump
MOST_TABLES = 8
LEGEND: tuple[tuple[str, Sample], ...] = (
    ("slots with a token", KV_CACHE),
    ("shared (×2: by two)", SHARED),
    ("this event", Outline(width=2.8)),
    ("can be found by its prefix", CACHED),
)


def block_map(
    events: Iterable[Event],
    num_blocks: Any,
    block_size: Any,
    upto: Any = None,
    *,
    title: str | None = None,
    caption: bool = True,
) -> LessonFigure:
    """Draw the pool of `num_blocks` blocks of `block_size` tokens after the first `upto` events, all of them if None.

    caption: whether a sentence above the map says what the event did; its alt text says so in any case. A request's tokens
    are as of its last event. The figure has the same height at every event of one log. LogError (a
    ValueError), which names the event, where the log contradicts itself.
    """
    log = checked_log(events)
    state = replay_pool(log, num_blocks, block_size, upto)
    if log and not any(event.kind in PAGING_KINDS for event in log):
        raise ValueError("events has no event of an allocator, so there are no blocks to draw")
    title = checked_title(title, WIDTH - 2 * MARGIN)
    where = f"After event {state.number:,} of {len(log):,}. " if state.number else ""
    said = where + sentence(state)
    requests = [event.request for event in log if event.kind in ("allocate", "fork")]
    grid = BlockGrid(state, requests)
    tables = TableList(state, MARGIN + grid.width + BETWEEN, WIDTH - MARGIN, MOST_TABLES, requests)
    free = FreeList(state, MARGIN, WIDTH - MARGIN)
    caption_top = 6 + (TITLE_HEIGHT if title else 0)
    top = caption_top + (CAPTION_LINES * LINE_HEIGHT + 10 if caption else 0)
    free_top = top + max(grid.height, tables.height_for(_most_tables(log))) + 14
    legend = legend_lines(LEGEND, MARGIN, WIDTH - MARGIN)
    legend_top = free_top + free.height + 12
    height = legend_top + len(legend) * LINE_HEIGHT + 6
    alt_text = _alt_text(state, said, grid, tables, free)
    figure = LessonFigure(WIDTH, height, f"{title}. {alt_text}" if title else alt_text)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for row, line in enumerate(wrapped(said, WIDTH - 2 * MARGIN) if caption else ()):
        write(figure, MARGIN, caption_top + (row + 0.5) * LINE_HEIGHT, line)
    grid.draw(figure, MARGIN, top)
    tables.draw(figure, top)
    free.draw(figure, free_top)
    draw_legend(figure, legend, legend_top, MARGIN)
    return figure


def _most_tables(log: Sequence[Event]) -> int:
    """How many tables there are at once at most, in the whole log."""
    tables: set[Hashable] = set()
    most = 0
    for event in log:
        if event.kind in ("allocate", "fork"):
            tables.add(event.request)
            most = max(most, len(tables))
        elif event.kind == "free":
            tables.discard(event.request)
    return most


def _alt_text(state: PoolState, said: str, grid: BlockGrid, tables: TableList, free: FreeList) -> str:
    return f"Block map. {said} {grid.words()} {tables.words()} {free.words()}"
