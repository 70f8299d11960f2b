"""Under the bar: the lever that attacks each bucket, and the phase that feels it."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.palette import KV_CACHE, WEIGHTS, Fill
from llmserving.figures.shapes import draw_box, draw_line, draw_outline, text_width, write

LEVERS_HEIGHT = 6 * LINE_HEIGHT + 34
SWATCH = 13.0
SIZE = 12.0


@dataclass(frozen=True)
class Lever:
    """What is attacked, by which lever and how; `fill` is None for the GPU's idle time, which is no bucket."""

    fill: Fill | None
    attacks: str
    lever: str
    effect: str


LEVERS = (
    Lever(WEIGHTS, "weights", "Weight-only INT4", "4 bits a weight instead of 16"),
    Lever(KV_CACHE, "wasted KV cache", "PagedAttention", "blocks given out as tokens come"),
    Lever(None, "GPU idle on padding", "Continuous batching", "a slot that ends is filled at once"),
)
PHASES = (
    ("Decode", "reads the weights and the KV cache at each step: memory-bound."),
    ("Prefill", "is one big matmul over the prompt: compute-bound."),
)
LEVERS_ALT = " ".join(
    [f"{lever.lever} attacks {lever.attacks}: {lever.effect}." for lever in LEVERS]
    + [f"{phase} {words}" for phase, words in PHASES]
)


def draw_levers(figure: LessonFigure, top: float, low: float, high: float) -> None:
    """Three columns in the order of the bar, then a line for each phase, from y = `top` down."""
    draw_line(figure, [low, high], [top, top], width=0.5)
    y = top + 12 + LINE_HEIGHT / 2
    for column, lever in enumerate(LEVERS):
        x = low + column * (high - low) / len(LEVERS)
        if lever.fill is None:
            draw_outline(figure, x, y - SWATCH / 2, SWATCH, SWATCH, dashed=True)
        else:
            draw_box(figure, x, y - SWATCH / 2, SWATCH, SWATCH, lever.fill)
        write(figure, x + SWATCH + 7, y, f"{lever.attacks[0].upper()}{lever.attacks[1:]}", size=SIZE)
        write(figure, x, y + LINE_HEIGHT + 3, f"→ {lever.lever}", bold=True, size=SIZE)
        write(figure, x, y + 2 * LINE_HEIGHT + 3, lever.effect, size=SIZE)
    indent = max(text_width(phase, bold=True, size=SIZE) for phase, _ in PHASES) + 8
    for row, (phase, words) in enumerate(PHASES):
        below = y + (3 + row) * LINE_HEIGHT + 14
        write(figure, low, below, phase, bold=True, size=SIZE)
        write(figure, low + indent, below, words, size=SIZE)
