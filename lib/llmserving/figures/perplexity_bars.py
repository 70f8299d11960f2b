"""What each scheme costs: its perplexity as a multiple of the unquantized model's, grouped by bits, from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.patches import Polygon

from llmserving.figures.axis import LogAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.palette import INK, Fill
from llmserving.figures.scheme_costs import Cost, base_of, costs, grouped
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_box,
    draw_line,
    text_width,
    write,
)
from llmserving.tinylm.record import BASE, Recorded
from llmserving.tinylm.surprise import Perplexity

WIDTH, MARGIN, RIGHT = 720.0, 10.0, 700.0
ROW, BAR, SIZE = 20.0, 11.0, 11.5
TICKS = (1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5)
MOST_RATIO, LEAST_RATIO = 3.0, 1.03  # where the axis ends, unless less would do: what costs more leaves it
MARGIN_RATIO = 1.004


def perplexity_bars(
    rows: Sequence[Recorded], *, live: Mapping[str, Perplexity] | None = None, title: str | None = None
) -> LessonFigure:
    """Draw one model's recorded schemes on one text, as `rows_of` gives them with the base first.

    live: perplexities measured here and now by scheme, with "float32" among them on the same windows; they take the place
    of the recorded ones, and are marked and written over that base, since theirs may be other windows than the record's.
    ValueError for rows of more than one model or text, or without a base.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    base = base_of(rows)
    groups = grouped(costs(rows, live or {}))
    heading = _heading(base, live or {})
    highest = max(cost.high for _, _, group in groups for cost in group)
    names = [_name(cost) for _, _, group in groups for cost in group]
    headings = [text_width(name, bold=True, size=SIZE) for name, _, _ in groups]
    left = MARGIN + max(*headings, *(text_width(name, size=SIZE) for name in names)) + 10
    end = RIGHT - max(text_width(_written(cost), size=SIZE) for _, _, group in groups for cost in group) - 22
    lowest = min(1.0, *(cost.low for _, _, group in groups for cost in group))
    axis = LogAxis(lowest / MARGIN_RATIO, min(MOST_RATIO, max(LEAST_RATIO, highest * MARGIN_RATIO)), left, end)
    first = (TITLE_HEIGHT if title else 0) + len(heading) * LINE_HEIGHT + 6
    bottom = first + sum(ROW * (len(group) + 1) for _, _, group in groups)
    figure = LessonFigure(WIDTH, bottom + 42, _alt_text(base, heading, groups, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for line, words in enumerate(heading):
        write(figure, MARGIN, first - 6 - (len(heading) - 0.5 - line) * LINE_HEIGHT, words, size=SIZE)
    _draw_axis(figure, axis, first, bottom)
    y = first
    for name, fill, group in groups:
        write(figure, MARGIN, y + ROW * 0.6, name, bold=True, size=SIZE)
        for cost in group:
            y += ROW
            _draw_cost(figure, axis, cost, fill, y + ROW / 2)
        y += ROW
    return figure


def _draw_axis(figure: LessonFigure, axis: LogAxis, top: float, bottom: float) -> None:
    last = -100.0
    for tick in TICKS:
        if axis.holds(tick):
            x = axis.at(tick)
            draw_line(figure, [x, x], [top, bottom], width=1.1 if tick == 1 else 0.3)
            if x - last > 34:
                write(figure, x, bottom + 10, f"{tick:g}×", centred=True, size=SIZE)
                last = x
    middle = (axis.start + axis.end) / 2
    write(figure, middle, bottom + 28, "times the unquantized model's perplexity", centred=True, size=SIZE)


def _draw_cost(figure: LessonFigure, axis: LogAxis, cost: Cost, fill: Fill, y: float) -> None:
    write(figure, MARGIN, y, _name(cost), size=SIZE)
    start, end = axis.at(1), axis.at(min(max(cost.ratio, axis.low), axis.high))
    draw_box(figure, min(start, end), y - BAR / 2, abs(end - start), BAR, fill)
    if cost.ratio > axis.high:  # an arrow: it goes on
        figure.add_drawing(Polygon([(end, y - BAR), (end + 10, y), (end, y + BAR)], facecolor=INK))
    else:
        low, high = (axis.at(min(max(value, axis.low), axis.high)) for value in (cost.low, cost.high))
        draw_line(figure, [low, high], [y, y], width=1.6)
        for x in (low, high):
            draw_line(figure, [x, x], [y - 4, y + 4], width=1.6)
    write(figure, axis.end + 16, y, _written(cost), size=SIZE)


def _name(cost: Cost) -> str:
    return f"{cost.scheme} (measured now)" if cost.live else cost.scheme


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.4g}"


def _written(cost: Cost) -> str:
    """The perplexity; over its base where that is not the one of the heading's first line."""
    return _number(cost.perplexity) if cost.base is None else f"{_number(cost.perplexity)} / {_number(cost.base)}"


def _heading(base: Recorded, live: Mapping[str, Perplexity]) -> list[str]:
    lines = [
        f"{base.model} on the text {base.text!r}, {base.tokens:,} tokens, unquantized: {_number(base.perplexity)} "
        f"({_number(base.low)} to {_number(base.high)}).",
        f"Recorded {base.date}. Lines: 95 % intervals of the ratio. At the right: the perplexity itself.",
    ]
    if live:
        now = live[BASE]
        lines.append(
            f"Measured now on {now.tokens:,} tokens, unquantized: {_number(now.perplexity)} ({_number(now.low)} to "
            f"{_number(now.high)}). Those perplexities are written over that one."
        )
    return lines


def _alt_text(
    base: Recorded, heading: Sequence[str], groups: Sequence[tuple[str, Fill, list[Cost]]], title: str | None
) -> str:
    words = " ".join([f"Bars of perplexity, recorded {base.date}.", heading[0], *heading[2:]])
    for name, _, group in groups:
        told = [
            f"{_name(cost)} {_written(cost)}, {_ratio(cost.ratio)} times ({_ratio(cost.low)} to {_ratio(cost.high)})"
            for cost in group
        ]
        words += f" {name}: {'; '.join(told)}."
    return f"{title}. {words}" if title else words


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3f}"
