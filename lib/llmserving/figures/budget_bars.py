"""Where a GPU's memory goes, plan by plan: one stacked bar each, and the planner's own arithmetic under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT, Label, draw_labels
from llmserving.figures.palette import ACTIVATIONS, KV_CACHE, OTHER, WEIGHTS, Fill
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_box,
    draw_line,
    draw_outline,
    text_width,
    write,
)
from llmserving.memory_plan import MemoryPlan
from llmserving.plan_lines import Line, plan_lines
from llmserving.units import format_bytes

WIDTH, LEFT, RIGHT = 720.0, 10.0, 710.0
BAR_HEIGHT, LEADER, TICK, AFTER, LINES_GAP = 34.0, 14.0, 6.0, 26.0, 5.0
LINE_SIZE, SMALLEST = 11.5, 7.5


@dataclass(frozen=True)
class Segment:
    """A stretch of the bar: what it is, how many bytes, and its fill, None for memory that stays empty."""

    name: str
    num_bytes: int
    fill: Fill | None


def segments(plan: MemoryPlan) -> list[Segment]:
    """The stretches of a plan's bar from left to right; what is missing lies past the memory."""
    used = [
        Segment("Weights", plan.weight_bytes, WEIGHTS),
        Segment("Activations", plan.activation_bytes, ACTIVATIONS),
        Segment("Other", plan.other_bytes, OTHER),
        Segment("KV cache", plan.kv_bytes_needed, KV_CACHE),
    ]
    left = plan.budget_bytes - sum(segment.num_bytes for segment in used)
    kept_back = plan.memory_bytes - plan.budget_bytes + min(0, left)
    empty = [Segment("KV free", max(0, left), None), Segment("Kept back", max(0, kept_back), None)]
    return [segment for segment in [*used, *empty] if segment.num_bytes]


def budget_bars(
    plans: Sequence[MemoryPlan] | MemoryPlan, *, lines: bool = True, title: str | None = None
) -> LessonFigure:
    """Draw each plan's memory to one scale; `lines` writes the arithmetic below each bar.

    The thick line is the budget: memory times utilization. What does not fit reaches past it. ValueError where a plan
    was made from a given KV cache and so has no bar, or a text is too wide.
    """
    rows = list(plans) if isinstance(plans, Iterable) else [plans]
    title = checked_title(title, RIGHT - LEFT)
    _refuse_what_has_no_bar(rows)
    longest = max(max(plan.memory_bytes, sum(part.num_bytes for part in segments(plan))) for plan in rows)
    top = 6 + (TITLE_HEIGHT if title else 0)
    heights = [_height(plan, lines=lines) for plan in rows]
    figure = LessonFigure(WIDTH, top + sum(heights), _alt_text(rows, title))
    if title:
        write(figure, LEFT, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for plan, height in zip(rows, heights, strict=True):
        _draw_row(figure, plan, top, (RIGHT - LEFT) / longest, lines=lines)
        top += height
    return figure


def _height(plan: MemoryPlan, *, lines: bool) -> float:
    above = 4 * LINE_HEIGHT + LEADER + 6
    return above + BAR_HEIGHT + TICK + 4 + LINE_HEIGHT * (1 + (len(plan_lines(plan)) if lines else 0)) + AFTER


def _draw_row(figure: LessonFigure, plan: MemoryPlan, top: float, scale: float, *, lines: bool) -> None:
    write(figure, LEFT, top + LINE_HEIGHT / 2, plan.title, bold=True)
    write(figure, LEFT, top + 1.5 * LINE_HEIGHT, plan.settings)
    labels_top = top + 2 * LINE_HEIGHT + 6
    bar = labels_top + 2 * LINE_HEIGHT + LEADER
    budget_end = LEFT + plan.budget_bytes * scale
    labels, x = [], LEFT
    for part in segments(plan):
        width = part.num_bytes * scale
        if part.fill:
            inside = max(0.0, min(width, budget_end - x))
            for start, length, ghost in ((x, inside, False), (x + inside, width - inside, True)):
                if length > 0:
                    draw_box(figure, start, bar, length, BAR_HEIGHT, part.fill, ghost=ghost)
        labels.append(Label((part.name, _short(plan, part.num_bytes)), x + width / 2))
        x += width
    draw_outline(figure, LEFT, bar, plan.memory_bytes * scale, BAR_HEIGHT, dashed=True)
    draw_outline(figure, LEFT, bar, budget_end - LEFT, BAR_HEIGHT)
    draw_line(figure, [budget_end] * 2, [bar - TICK, bar + BAR_HEIGHT + TICK], width=2.5)
    draw_labels(figure, labels, labels_top, LEFT, RIGHT, bar - 2)
    below = bar + BAR_HEIGHT + TICK + 4 + LINE_HEIGHT / 2
    write(figure, LEFT, below, plan.short_verdict)
    if lines:
        _draw_lines(figure, plan_lines(plan), below + LINE_HEIGHT + LINES_GAP)


def _draw_lines(figure: LessonFigure, lines: Sequence[Line], top: float) -> None:
    """The lines in columns: sign, name, the result flush right, and how it comes about."""
    size = LINE_SIZE
    while size > SMALLEST and _columns(lines, size)[-1] > RIGHT:
        size -= 0.5
    name, result, arithmetic, _ = _columns(lines, size)
    for row, line in enumerate(lines):
        y = top + row * LINE_HEIGHT
        write(figure, LEFT, y, line.sign, size=size)
        write(figure, name, y, line.name, size=size)
        write(figure, result - text_width(line.result, size=size), y, line.result, size=size)
        write(figure, arithmetic, y, line.arithmetic, size=size)


def _columns(lines: Sequence[Line], size: float) -> tuple[float, float, float, float]:
    """Where names start, results end and the arithmetic starts and ends."""
    name = LEFT + 14
    result = name + max(text_width(line.name, size=size) for line in lines) + 14
    result += max(text_width(line.result, size=size) for line in lines)
    arithmetic = result + 14
    return name, result, arithmetic, arithmetic + max(text_width(line.arithmetic, size=size) for line in lines)


def _short(plan: MemoryPlan, num_bytes: int) -> str:
    return format_bytes(num_bytes, plan.unit)


def _refuse_what_has_no_bar(rows: Sequence[MemoryPlan]) -> None:
    if not rows or not all(isinstance(plan, MemoryPlan) for plan in rows):
        raise TypeError("plans is one MemoryPlan or a list of them, as plan() gives them")
    for plan in rows:
        if plan.kv_bytes_given:
            raise ValueError(
                f"{plan.title}: this plan was given its KV cache and knows nothing of the rest of the memory"
            )
        checked_title(plan.title, RIGHT - LEFT)


def _alt_text(rows: Sequence[MemoryPlan], title: str | None) -> str:
    words = " ".join(
        f"{plan.title}, {plan.settings}: of {_short(plan, plan.memory_bytes)}, "
        + ", ".join(f"{part.name} {_short(plan, part.num_bytes)}" for part in segments(plan))
        + f". {plan.short_verdict}"
        for plan in rows
    )
    return f"{title}. {words}" if title else f"Bars of GPU memory. {words}"
