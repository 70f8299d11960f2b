"""A row of weights cut into groups: the step of each group's own scale, beside that of one scale for the whole row."""

from __future__ import annotations

from typing import Any

from llmserving.figures.axis import LinearAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Stroke, draw_legend, draw_stroke, legend_lines
from llmserving.figures.palette import WEIGHTS
from llmserving.figures.quantization_points import short
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_box, draw_line, write
from llmserving.quantization.arrays import as_numpy, real_array

WIDTH, LEFT, RIGHT, HEIGHT = 720.0, 66.0, 700.0, 150.0
TICK_SIZE, TICK_ROOM = 11.5, 34.0
MOST_GROUPS = 64
ONE_SCALE = Stroke(1.8, (5, 2.5))


def group_steps(steps: Any, row_step: Any, *, title: str | None = None) -> LessonFigure:
    """Draw the step of each group in its place, and `row_step`, that of one scale for all of them.

    steps: [groups], at most 64. ValueError where there are more, or where a step is not above 0.
    """
    title = checked_title(title, RIGHT - LEFT)
    own = as_numpy(real_array("steps", steps, "a step for each group")).reshape(-1).tolist()
    whole = float(as_numpy(real_array("row_step", row_step, "the step of one scale for the row")).item())
    if len(own) > MOST_GROUPS:
        raise ValueError(f"steps has {len(own)} groups; draw at most {MOST_GROUPS}")
    if min(*own, whole) <= 0:
        raise ValueError("a step is above 0: the way from one level to the next")
    first = TITLE_HEIGHT if title else 0.0
    legend = legend_lines([("step of a group", WEIGHTS), ("step of one scale for the row", ONE_SCALE)], LEFT, RIGHT)
    top = first + len(legend) * LINE_HEIGHT + 12
    figure = LessonFigure(WIDTH, top + HEIGHT + 2 * LINE_HEIGHT + 8, _alt_text(own, whole, title))
    if title:
        write(figure, LEFT, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, first + 2, LEFT)
    y = LinearAxis(0, max(*own, whole) * 1.05, top + HEIGHT, top)
    width = (RIGHT - LEFT) / len(own)
    for index, step in enumerate(own):
        x = LEFT + index * width
        draw_box(figure, x + width * 0.1, y.at(step), width * 0.8, y.at(0) - y.at(step), WEIGHTS)
    draw_line(figure, [LEFT, RIGHT], [y.at(0), y.at(0)])
    for tick in y.ticks(TICK_ROOM):
        draw_line(figure, [LEFT - 5, LEFT], [y.at(tick)] * 2)
        write(figure, 12, y.at(tick), f"{tick:g}", size=TICK_SIZE)
    draw_stroke(figure, [LEFT, RIGHT], [y.at(whole)] * 2, ONE_SCALE)
    words = f"{len(own)} groups, in the order of the row" if len(own) > 1 else "one group: the whole row"
    write(figure, (LEFT + RIGHT) / 2, y.at(0) + LINE_HEIGHT, words, centred=True, size=TICK_SIZE)
    return figure


def _alt_text(own: list[float], whole: float, title: str | None) -> str:
    words = f"Steps of {len(own)} groups of a row: "
    if len(own) == 1:
        words = (
            f"A single bar for one group, the whole row: its step, {short(own[0])}, is that of one scale for the row."
        )
    else:
        middle, widest = sorted(own)[len(own) // 2], max(own)
        words += (
            f"half of them at most {short(middle)}, the largest {short(widest)} in group {own.index(widest) + 1}. "
            f"One scale for the row has a step of {short(whole)}."
        )
    return f"{title}. {words}" if title else words
