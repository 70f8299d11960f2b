"""Boxes, lines and words of a lesson figure, in figure units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from llmserving import arguments
from llmserving.figures.base import LessonFigure
from llmserving.figures.palette import INK, Fill

FONT_SIZE = 12.5
TITLE_SIZE, TITLE_HEIGHT = 14.0, 28.0


def draw_box(
    figure: LessonFigure, x: float, y: float, width: float, height: float, fill: Fill, *, ghost: bool = False
) -> None:
    """A filled and hatched rectangle with its corner at (x, y); a ghost is one for which there is no room."""
    box = Rectangle((x, y), width, height, facecolor=fill.face, edgecolor=fill.line, hatch=fill.hatch, linewidth=1)
    box.set_alpha(0.6 if ghost else 1)
    figure.add_drawing(box)


def draw_outline(
    figure: LessonFigure,
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    dashed: bool = False,
    line_width: float = 1.1,
) -> None:
    """An empty rectangle with its corner at (x, y)."""
    style = (0, (2, 2)) if dashed else "solid"
    box = Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=line_width, linestyle=style)
    figure.add_drawing(box)


def draw_area(
    figure: LessonFigure, x: Sequence[float], y: Sequence[float], base: float, fill: Fill, *, ghost: bool = False
) -> None:
    """The filled and hatched area between the points (x[i], y[i]) and the height `base`; no line around it."""
    corners = [(x[0], base), *zip(x, y, strict=True), (x[-1], base)]
    area = Polygon(corners, closed=True, facecolor=fill.face, edgecolor=fill.line, hatch=fill.hatch, linewidth=0)
    area.set_alpha(0.6 if ghost else 1)
    figure.add_drawing(area)


def draw_line(figure: LessonFigure, x: Sequence[float], y: Sequence[float], width: float = 1.1) -> None:
    """A line through the points (x[i], y[i])."""
    figure.add_drawing(Line2D(x, y, color=INK, linewidth=width, solid_capstyle="butt"))


def write(
    figure: LessonFigure,
    x: float,
    y: float,
    text: str,
    *,
    bold: bool = False,
    centred: bool = False,
    size: float = FONT_SIZE,
) -> None:
    """One line of text from x on, or centred on x, its middle at y; a dollar sign in it is a dollar sign."""
    words = Text(x, y, text, color=INK, fontproperties=_font(bold, size), parse_math=False)
    words.set_horizontalalignment("center" if centred else "left")
    words.set_verticalalignment("center_baseline")
    figure.add_drawing(words)


def text_width(text: str, *, bold: bool = False, size: float = FONT_SIZE) -> float:
    """Width in figure units in matplotlib's own font, which is wider than the fonts a page replaces it with."""
    return float(text_to_path.get_text_width_height_descent(text, _font(bold, size), False)[0])


def wrapped(text: str, room: float, *, size: float = FONT_SIZE) -> list[str]:
    """The words of `text` in lines of at most `room`; a word wider than that has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size=size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def shortened(text: str, room: float, *, bold: bool = False, size: float = FONT_SIZE) -> str:
    """`text`, or as much of its beginning as leaves room for an ellipsis."""
    if text_width(text, bold=bold, size=size) <= room:
        return text
    while text and text_width(f"{text}…", bold=bold, size=size) > room:
        text = text[:-1]
    return f"{text}…"


def checked_title(title: Any, room: float) -> str | None:
    """The title of a figure that has `room` for it in a line; TypeError or ValueError where it is none or too wide."""
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title is a text or None, but got {arguments.shown(title)}")
    if title and text_width(title, bold=True, size=TITLE_SIZE) > room:
        raise ValueError(f"the title is wider than the figure; shorten {title!r}")
    return title


def _font(bold: bool, size: float) -> FontProperties:
    return FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
