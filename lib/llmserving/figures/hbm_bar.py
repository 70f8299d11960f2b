"""The course's first figure: one bar of GPU memory, two buckets, and what is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llmserving.figures.base import LessonFigure
from llmserving.figures.budget import HbmBudget
from llmserving.figures.labels import LINE_HEIGHT, Label, draw_labels
from llmserving.figures.levers import LEVERS_ALT, LEVERS_HEIGHT, draw_levers
from llmserving.figures.palette import KV_CACHE, WEIGHTS
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_box, draw_line, draw_outline, write

WIDTH, LEFT, RIGHT = 720.0, 10.0, 710.0
BAR_HEIGHT, LEADER, TICK = 46.0, 14.0, 7.0


def hbm_bar(
    memory_bytes: Any,
    weight_bytes: Any,
    kv_bytes: Any,
    *,
    title: str | None = None,
    weight_note: str | None = None,
    kv_note: str | None = None,
    levers: bool = False,
) -> LessonFigure:
    """Draw `memory_bytes` of HBM with the weights and the KV cache in it, to scale.

    What does not fit is drawn past the line that marks the capacity. A note is a third line under a bucket's name and
    size; `levers` adds what attacks each bucket and which phase feels it. ValueError where a text is too wide.
    """
    budget = HbmBudget(memory_bytes, weight_bytes, kv_bytes)
    title = checked_title(title, RIGHT - LEFT)
    labels_top = 6 + (TITLE_HEIGHT if title else 0.0)
    bar_top = labels_top + LINE_HEIGHT * (3 if weight_note or kv_note else 2) + LEADER
    # The second line under the bar is kept free where the buckets fit, so that a live figure does not jump.
    below = bar_top + BAR_HEIGHT + TICK + 2 * LINE_HEIGHT + 8
    alt_text = _alt_text(budget, title, weight_note, kv_note) + (f" {LEVERS_ALT}" if levers else "")
    figure = LessonFigure(WIDTH, below + (LEVERS_HEIGHT if levers else 0.0), alt_text)
    if title:
        write(figure, LEFT, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    _draw_buckets(figure, budget, bar_top)
    _draw_capacity(figure, budget, bar_top)
    draw_labels(figure, _bucket_labels(budget, weight_note, kv_note), labels_top, LEFT, RIGHT, bar_top - 2)
    if levers:
        draw_levers(figure, below + 4, LEFT, RIGHT)
    return figure


def _x(budget: HbmBudget, num_bytes: float) -> float:
    """Where the bar has reached `num_bytes`; the whole bar is the larger of what there is and what is needed."""
    return LEFT + (RIGHT - LEFT) * (num_bytes / max(budget.memory_bytes, budget.needed_bytes))


def _draw_buckets(figure: LessonFigure, budget: HbmBudget, top: float) -> None:
    edges = (0, budget.weight_bytes, budget.needed_bytes)
    for fill, start, end in zip((WEIGHTS, KV_CACHE), edges, edges[1:], strict=False):
        capacity = min(max(budget.memory_bytes, start), end)
        for left, right, ghost in ((start, capacity, False), (capacity, end, True)):
            if right > left:
                x = _x(budget, left)
                draw_box(figure, x, top, _x(budget, right) - x, BAR_HEIGHT, fill, ghost=ghost)


def _draw_capacity(figure: LessonFigure, budget: HbmBudget, top: float) -> None:
    """The outline of the memory, a thick line where it ends, and a bracket under what lies past that line."""
    end, bottom = _x(budget, budget.memory_bytes), top + BAR_HEIGHT
    draw_outline(figure, LEFT, top, end - LEFT, BAR_HEIGHT)
    draw_line(figure, [end, end], [top - TICK, bottom + TICK], width=2.5)
    capacity = Label((f"{budget.size(budget.memory_bytes)} of HBM",), end, leader=False)
    # Left of its line where there is room, so that it never stands under the bracket's leader.
    capacity = replace(capacity, x=end - 5 - capacity.width / 2)
    draw_labels(figure, [capacity], bottom + TICK + 2, LEFT, RIGHT, bottom)
    if not budget.fits:
        below = bottom + TICK
        draw_line(figure, [end, RIGHT, RIGHT], [below, below, bottom + 3])
        over = Label((f"does not fit: {budget.size(budget.over_bytes)} too much",), (end + RIGHT) / 2)
        draw_labels(figure, [over], below + LINE_HEIGHT + 4, LEFT, RIGHT, below)


def _bucket_labels(budget: HbmBudget, weight_note: str | None, kv_note: str | None) -> list[Label]:
    def label(name: str, num_bytes: int, start: int, note: str | None) -> Label:
        lines = (name, f"{budget.size(num_bytes)} · {budget.share(num_bytes)}", *([note] if note else []))
        return Label(lines, _x(budget, start + num_bytes / 2), leader=num_bytes > 0)

    labels = [
        label("Weights", budget.weight_bytes, 0, weight_note),
        label("KV cache", budget.kv_bytes, budget.weight_bytes, kv_note),
    ]
    if budget.free_bytes:
        labels.append(label("Free", budget.free_bytes, budget.needed_bytes, None))
    return labels


def _alt_text(budget: HbmBudget, title: str | None, weight_note: str | None, kv_note: str | None) -> str:
    def bucket(name: str, num_bytes: int, note: str | None) -> str:
        return f"{name} {budget.size(num_bytes)} ({budget.share(num_bytes)}{f'; {note}' if note else ''})"

    weights, kv = bucket("weights", budget.weight_bytes, weight_note), bucket("KV cache", budget.kv_bytes, kv_note)
    words = f"HBM bar of {budget.size(budget.memory_bytes)}: {weights}, {kv}"
    if budget.fits:
        words += f", {budget.size(budget.free_bytes)} free. It fits."
    else:
        words += f". It does not fit: {budget.size(budget.over_bytes)} too much."
    return f"{title}. {words}" if title else words
