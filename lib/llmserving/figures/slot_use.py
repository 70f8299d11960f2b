"""One memory, handed out in different ways: whose slots hold a token, and which are held and stay empty."""

from __future__ import annotations

from collections.abc import Mapping

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Outline, Sample, draw_legend, legend_lines
from llmserving.figures.palette import KV_CACHE, OTHER
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_box, draw_line, draw_outline, write
from llmserving.paging.filling import Filled
from llmserving.paging.waste import Waste
from llmserving.units import format_number

WIDTH, LEFT, RIGHT = 720.0, 10.0, 710.0
BAR_HEIGHT, ROW, LEAST_REQUEST = 34.0, 92.0, 12.0  # requests narrower than that are not drawn one by one
LEGEND: tuple[tuple[str, Sample], ...] = (
    ("slots with a token", KV_CACHE),
    ("held and empty", OTHER),
    ("free", Outline(dashed=True)),
)


def slot_use(rows: Mapping[str, Filled], *, title: str | None = None) -> LessonFigure:
    """Draw a bar for each way, all of the same memory. ValueError where they are not."""
    if not rows or len({_slots(filled.waste) for filled in rows.values()}) > 1:
        raise ValueError("rows maps the name of each way to what it makes of one memory, the same for all")
    title = checked_title(title, RIGHT - LEFT)
    legend = legend_lines(LEGEND, LEFT, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    top = legend_top + len(legend) * LINE_HEIGHT + 14
    figure = LessonFigure(WIDTH, top + ROW * len(rows), _alt_text(rows, title))
    if title:
        write(figure, LEFT, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, LEFT)
    for number, (name, filled) in enumerate(rows.items()):
        y = top + number * ROW
        write(figure, LEFT, y + LINE_HEIGHT / 2, f"{name}: {_requests(filled)}", bold=True)
        write(figure, LEFT, y + 1.5 * LINE_HEIGHT, _use_words(filled))
        _draw_bar(figure, filled, y + 2 * LINE_HEIGHT + 6)
    return figure


def _use_words(filled: Filled) -> str:
    """What becomes of the slots, in a line."""
    waste = filled.waste
    empty = waste.held - waste.used
    return (
        f"{_slots(waste):,} slots: {waste.used:,} with a token, {empty:,} held and empty "
        f"({format_number(100 * waste.share)} % of those held), {waste.free:,} free"
    )


def _draw_bar(figure: LessonFigure, filled: Filled, top: float) -> None:
    """The slots of each request in a row, used and empty; of all together where one would be too narrow to see."""
    waste, scale = filled.waste, (RIGHT - LEFT) / _slots(filled.waste)
    parts = filled.requests if filled.requests and waste.held * scale / filled.requests >= LEAST_REQUEST else 1
    held, used = waste.held * scale / parts, waste.used * scale / parts
    for part in range(parts if waste.held else 0):
        x = LEFT + part * held
        draw_box(figure, x, top, used, BAR_HEIGHT, KV_CACHE)
        if held > used:
            draw_box(figure, x + used, top, held - used, BAR_HEIGHT, OTHER)
        draw_line(figure, [x, x], [top - 3, top + BAR_HEIGHT + 3], width=1.4)
    draw_outline(figure, LEFT, top, RIGHT - LEFT, BAR_HEIGHT, dashed=True)


def _slots(waste: Waste) -> int:
    return waste.held + waste.free


def _requests(filled: Filled) -> str:
    return f"{filled.requests:,} request{'s' * (filled.requests != 1)}"


def _alt_text(rows: Mapping[str, Filled], title: str | None) -> str:
    told = " ".join(f"{name}: {_requests(filled)}; {_use_words(filled)}." for name, filled in rows.items())
    return f"{title}. {told}" if title else f"Bars of one memory. {told}"
