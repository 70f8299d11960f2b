"""How the KV cache grows with every token, over the weights and under the end of the memory; and what reserving would hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.figures.axis import LinearAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.budget import HbmBudget
from llmserving.figures.labels import LINE_HEIGHT, Label, draw_labels
from llmserving.figures.legend import CAPACITY, RESERVED, Sample, draw_legend, legend_lines
from llmserving.figures.palette import KV_CACHE, WEIGHTS
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_area, draw_line, write
from llmserving.units import GB, format_number

WIDTH, MARGIN, LEFT, RIGHT, HEIGHT, LEADER = 720.0, 10.0, 62.0, 698.0, 200.0, 12.0
MOST_TIMES = 1.5  # the frame ends at this many times the memory: beyond it the reservation would flatten all the rest


@dataclass(frozen=True)
class KvGrowth:
    """Requests that grow side by side on one GPU. step_bytes: what one more token of each of them adds, all together.

    max_len: the tokens that a request may reach, and that a reservation holds for it from the start.
    """

    memory_bytes: int
    weight_bytes: int
    step_bytes: int
    max_len: int

    def __post_init__(self) -> None:
        budget = HbmBudget(self.memory_bytes, self.weight_bytes, 0)
        step = arguments.count("step_bytes", "the bytes that one more token of each request adds", self.step_bytes)
        longest = arguments.count("max_len", "the tokens that a request may reach", self.max_len)
        for name, value in (
            ("memory_bytes", budget.memory_bytes),
            ("weight_bytes", budget.weight_bytes),
            ("step_bytes", step),
            ("max_len", longest),
        ):
            object.__setattr__(self, name, value)

    def at(self, tokens: int) -> HbmBudget:
        """The memory when each request has so many tokens."""
        return HbmBudget(self.memory_bytes, self.weight_bytes, tokens * self.step_bytes)

    @property
    def reserved(self) -> HbmBudget:
        """The memory with `max_len` tokens reserved for each request."""
        return self.at(self.max_len)

    @property
    def full_at(self) -> int:
        """The most tokens that each of the requests can have, 0 where not one fits."""
        return max(0, self.memory_bytes - self.weight_bytes) // self.step_bytes


def kv_growth(growth: KvGrowth, tokens: Any, *, title: str | None = None) -> LessonFigure:
    """Draw the memory against the tokens of each request, up to `max_len`, with a mark at `tokens`, where they are now."""
    now = arguments.count("tokens", "the tokens that each request has now", tokens, at_least=0)
    if now > growth.max_len:
        raise ValueError(f"a request has {now:,} tokens, more than the {growth.max_len:,} that it may reach")
    title = checked_title(title, WIDTH - 2 * MARGIN)
    legend = legend_lines(_names(growth), MARGIN, RIGHT)
    legend_top = 6 + (TITLE_HEIGHT if title else 0)
    labels_top = legend_top + len(legend) * LINE_HEIGHT + 6 + LINE_HEIGHT
    top = labels_top + 2 * LINE_HEIGHT + LEADER
    figure = LessonFigure(WIDTH, top + HEIGHT + 44, _alt_text(growth, now, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    draw_legend(figure, legend, legend_top, MARGIN)
    write(figure, MARGIN, labels_top - LINE_HEIGHT / 2, "GB", bold=True)
    most = max(growth.memory_bytes, min(growth.reserved.needed_bytes, MOST_TIMES * growth.memory_bytes)) / GB
    panel = Panel(LinearAxis(0, growth.max_len, LEFT, RIGHT, whole=True), LinearAxis(0, 1.06 * most, top + HEIGHT, top))
    _draw_buckets(figure, panel, growth)
    panel.draw_frame(figure, format_number)
    for stroke, num_bytes in ((CAPACITY, growth.memory_bytes), (RESERVED, growth.reserved.needed_bytes)):
        panel.draw_curve(figure, [0, growth.max_len], [num_bytes / GB] * 2, stroke)
    marks = _marks(panel, growth, now)
    for mark in marks:
        draw_line(figure, [mark.x, mark.x], [top, top + HEIGHT], width=1.4)
    panel.draw_x_ticks(figure, "Tokens of each request")
    draw_labels(figure, marks, labels_top, MARGIN, RIGHT, top)
    return figure


def _draw_buckets(figure: LessonFigure, panel: Panel, growth: KvGrowth) -> None:
    """The weights as a band, and the cache over it: as a ghost from where it no longer fits, as far as the frame goes."""
    weights = min(growth.weight_bytes / GB, panel.y.high)
    base = panel.y.at(weights)
    draw_area(figure, [LEFT, RIGHT], [base, base], panel.y.start, WEIGHTS)
    leaves = min(float(growth.max_len), (panel.y.high - weights) * GB / growth.step_bytes)
    full = min(float(growth.full_at), leaves)
    for places, ghost in (((0.0, full), False), ((full, leaves, float(growth.max_len)), True)):
        x = [panel.x.at(tokens) for tokens in places]
        y = [panel.y.at(weights + min(tokens, leaves) * growth.step_bytes / GB) for tokens in places]
        if x[-1] > x[0]:
            draw_area(figure, x, y, base, KV_CACHE, ghost=ghost)


def _names(growth: KvGrowth) -> list[tuple[str, Sample]]:
    return [
        ("weights", WEIGHTS),
        ("KV cache", KV_CACHE),
        ("the GPU's memory", CAPACITY),
        (f"with {growth.max_len:,} tokens reserved for each", RESERVED),
    ]


def _marks(panel: Panel, growth: KvGrowth, now: int) -> list[Label]:
    budget = growth.at(now)
    marks = [Label((f"now {now:,} tokens", f"KV cache {budget.size(budget.kv_bytes)}"), panel.x.at(now))]
    if growth.full_at <= growth.max_len:
        marks.append(Label(("memory is full", f"at {growth.full_at:,} tokens"), panel.x.at(growth.full_at)))
    return sorted(marks, key=lambda mark: mark.x)


def _alt_text(growth: KvGrowth, now: int, title: str | None) -> str:
    budget, reserved = growth.at(now), growth.reserved
    size = budget.size
    words = (
        f"GPU memory against the tokens of each request, from 0 to {growth.max_len:,}. Over weights of "
        f"{size(budget.weight_bytes)} the KV cache grows in a straight line, to {size(budget.kv_bytes)} at {now:,} tokens, "
        f"under the {size(budget.memory_bytes)} that the GPU has. Reserving {growth.max_len:,} tokens for each holds "
        f"{size(reserved.kv_bytes)} from the start. "
    )
    words += (
        f"Memory is full at {growth.full_at:,} tokens each."
        if growth.full_at <= growth.max_len
        else "All of them fit to their end."
    )
    return f"{title}. {words}" if title else words
