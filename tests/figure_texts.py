"""Where a figure's texts lie once it is drawn, and which of them lie over one another."""

from __future__ import annotations

from itertools import combinations

from llmserving.figures import LessonFigure
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def text_boxes(figure: LessonFigure) -> dict[str, Bbox]:
    """Where each text lies, in pixels of a rendering at 144 dots an inch."""
    figure.set_dpi(144)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]
    return {f"{index} {text.get_text()}": text.get_window_extent(renderer) for index, text in enumerate(texts)}


def overlapping(boxes: dict[str, Bbox]) -> list[tuple[str, str]]:
    return [
        (one, other)
        for (one, a), (other, b) in combinations(boxes.items(), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2
    ]


def outside(figure: LessonFigure, boxes: dict[str, Bbox]) -> list[str]:
    """Texts that leave the figure."""
    return [
        words
        for words, box in boxes.items()
        if not (figure.bbox.contains(box.x0, box.y0) and figure.bbox.contains(box.x1, box.y1))
    ]
