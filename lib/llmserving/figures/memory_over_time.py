"""KV blocks held over time, against what reserving room for the longest possible request would hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from llmserving import arguments
from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import CAPACITY, COUNT, RESERVED, Sample, draw_legend, legend_lines
from llmserving.figures.over_time import (
    BELOW,
    MARGIN,
    RIGHT,
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
from llmserving.figures.palette import KV_CACHE
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, write
from llmserving.paging.block_table import blocks_needed
from llmserving.replay import Series, serving_series
from llmserving.units import format_number

HEIGHT = 240.0
MOST_TIMES = 5.0  # the frame ends at this many times the pool: beyond it the reservation would flatten all the rest


def memory_over_time(
    events: Iterable[Event], num_blocks: Any, block_size: Any, max_len: Any = None, *, title: str | None = None
) -> LessonFigure:
    """Draw the blocks in use as a step function of time in seconds, and the pool's size as a thick line.

    max_len: the tokens that contiguous memory would reserve for each running request; its blocks, running requests times
    ceil(max_len / block_size), are the dashed line. None leaves it out. Blocks that are taken as requests decode have no
    event of their own: they show with the next event. LogError (a ValueError) where the log contradicts itself.
    """
    pool = arguments.count("num_blocks", "the number of blocks in the pool", num_blocks)
    size = arguments.count("block_size", "the number of tokens in a block", block_size)
    longest = (
        None if max_len is None else arguments.count("max_len", "the most tokens that a request can have", max_len)
    )
    title = checked_title(title, WIDTH - 2 * MARGIN)
    curves = serving_series(events)
    held = Series(curves.free_blocks.times_s, pool - curves.free_blocks.values)
    if held.values.min() < 0:
        too_many = int(curves.free_blocks.values.max())
        raise ValueError(f"num_blocks is the pool's {pool:,} blocks, but the log has {too_many:,} free ones")
    each = 0 if longest is None else blocks_needed(longest, size)
    reserved = None if longest is None else Series(curves.running.times_s, curves.running.values * each)
    start_s, end_s = end_of([held, curves.running])
    # Before the first step, nothing is held.
    if held.times_s[0] > start_s:
        held = Series(np.insert(held.times_s, 0, start_s), np.insert(held.values, 0, 0.0))
    names: list[tuple[str, Sample]] = [("blocks held", KV_CACHE), (f"the pool: {pool:,} blocks", CAPACITY)]
    if reserved is not None:
        names.append((f"reserving {longest:,} tokens ({each:,} blocks) for each that runs", RESERVED))
    legend = legend_lines(names, MARGIN, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    name_y = legend_top + len(legend) * LINE_HEIGHT + 16
    top = name_y + 16
    figure = LessonFigure(WIDTH, top + HEIGHT + BELOW, _alt_text(held, reserved, pool, longest, title, start_s, end_s))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, MARGIN)
    write(figure, MARGIN, name_y, f"Blocks of {size:,} tokens", bold=True)
    most = max(pool, min(reserved.peak[0], MOST_TIMES * pool)) if reserved is not None else pool
    panel = count_panel(time_axis(start_s, end_s), most, top, HEIGHT)
    draw_series(figure, panel, held, COUNT, KV_CACHE)
    draw_count_frame(figure, panel)
    panel.draw_curve(figure, [panel.x.low, panel.x.high], [pool, pool], CAPACITY)
    if reserved is not None:
        draw_series(figure, panel, reserved, RESERVED)
    panel.draw_x_ticks(figure, TIME)
    return figure


def _alt_text(
    held: Series,
    reserved: Series | None,
    pool: int,
    longest: int | None,
    title: str | None,
    start_s: float,
    end_s: float,
) -> str:
    peak, peak_s = held.peak
    words = (
        f"KV blocks held over time, {span_words(start_s, end_s)}: at most {peak:,.0f} of {pool:,} blocks "
        f"({100 * peak / pool:.0f} %), at {seconds(peak_s)} s, and {format_number(held.mean)} on average."
    )
    if reserved is not None:
        most, most_s = reserved.peak
        over = f", {most - pool:,.0f} more than there are" if most > pool else ""
        cut = " (the dashed line leaves the frame)" if most > MOST_TIMES * pool else ""
        words += (
            f" A reservation of {longest:,} tokens for each running request would hold at most {most:,.0f} blocks{over}, "
            f"at {seconds(most_s)} s{cut}, and {format_number(reserved.mean)} on average."
        )
    return f"{title}. {words}" if title else words
