"""The values that a quantizer can give back as ticks on a number line, where each value falls, and how far off it lands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Circle, Polygon

from llmserving.figures.axis import LinearAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import Stroke, draw_stroke
from llmserving.figures.palette import INK, WEIGHTS
from llmserving.figures.quantization_points import Point, alt_text, points_of, summary
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_line,
    draw_outline,
    text_width,
    write,
)
from llmserving.quantization.affine import dequantize
from llmserving.quantization.arrays import as_numpy, real_array
from llmserving.quantization.modes import code_range

WIDTH, LEFT, RIGHT = 720.0, 30.0, 690.0
DROP, TICK, STRIP = 44.0, 7.0, 64.0
TICK_SIZE, TICK_ROOM = 11.5, 60.0
MARK = 4.5
ROUNDED, CLIPPED = Stroke(1.2), Stroke(1.2, (2.5, 2))


def quantization_grid(
    values: Any, scale: Any, zero_point: Any, bits: Any, mode: str = "asymmetric", *, title: str | None = None
) -> LessonFigure:
    """Draw `values`, at most 200 of them, over the 2^bits values that they can become, and their errors below.

    scale and zero_point are one number each, as `scale_zero_point` gives them for a tensor. A value that lies beyond
    the last code by more than half a step is clipped: drawn as an open triangle, its way dashed.
    """
    title = checked_title(title, RIGHT - LEFT)
    scale, zero_point = _one("scale", scale), _one("zero_point", zero_point)
    points = points_of(values, scale, zero_point, bits, mode)
    codes = code_range(bits, mode)
    numbers = np.arange(codes.low, codes.high + 1).astype(codes.dtype)
    grid = [float(value) for value in as_numpy(dequantize(numbers, scale, zero_point))]
    top = (TITLE_HEIGHT if title else 0) + LINE_HEIGHT + 14
    line = top + DROP
    strip = line + TICK + 3 * LINE_HEIGHT + 30
    figure = LessonFigure(
        WIDTH, strip + STRIP + 2 * LINE_HEIGHT, alt_text(points, grid, scale, zero_point, bits, mode, title)
    )
    ends = [*grid, *(point.value for point in points)]
    room = (max(ends) - min(ends)) * 0.02
    axis = LinearAxis(min(ends) - room, max(ends) + room, LEFT, RIGHT)
    if title:
        write(figure, LEFT, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, LEFT, top - LINE_HEIGHT / 2 - 11, summary(points, scale), size=TICK_SIZE)
    _draw_line(figure, axis, grid, line)
    _draw_codes(figure, axis, grid, codes.low, line)
    for point in points:
        stroke = CLIPPED if point.clipped else ROUNDED
        draw_stroke(figure, [axis.at(point.value), axis.at(point.back)], [top, line], stroke)
    for point in points:
        _mark(figure, axis.at(point.value), top, point)
    _draw_errors(figure, axis, points, strip)
    return figure


def _one(name: str, value: Any) -> float:
    array = as_numpy(real_array(name, value, "one number"))
    if array.size != 1:
        raise ValueError(f"{name} is one number here, but got {array.size}; draw one group of a tensor at a time")
    return float(array.item())


def _draw_line(figure: LessonFigure, axis: LinearAxis, grid: Sequence[float], y: float) -> None:
    """The number line with a tick for each value that there is, and round numbers below."""
    draw_line(figure, [LEFT, RIGHT], [y, y])
    width = 1.4 if len(grid) <= 64 else 0.6
    for value in grid:
        draw_line(figure, [axis.at(value)] * 2, [y - TICK, y + TICK], width=width)
    draw_line(figure, [axis.at(0)] * 2, [y - 2 * TICK, y + 2 * TICK], width=2.2)
    for tick in axis.ticks(TICK_ROOM):
        write(figure, axis.at(tick), y + 2 * TICK + 0.7 * LINE_HEIGHT, f"{tick:g}", centred=True, size=TICK_SIZE)


def _draw_codes(figure: LessonFigure, axis: LinearAxis, grid: Sequence[float], first: int, y: float) -> None:
    """The codes of the ticks below the numbers: the two ends, and between them every one, second, fourth … from 0 on."""
    y += 2 * TICK + 1.7 * LINE_HEIGHT
    zero, end = min(range(len(grid)), key=lambda index: abs(grid[index])), len(grid) - 1
    room = max(text_width(str(code), size=TICK_SIZE) for code in (first, first + end)) + 8
    apart = abs(axis.at(grid[1]) - axis.at(grid[0]))
    # Where a value far out squeezes all ticks together, only the code of 0 has room.
    shown = [zero]
    if end * apart >= room:
        stride = next(2**power for power in range(9) if 2**power * apart >= room)
        shown = [0, *(i for i in range(zero % stride, end, stride) if min(i, end - i) * apart >= room), end]
    for index in shown:
        write(figure, axis.at(grid[index]), y, str(first + index), centred=True, size=TICK_SIZE)
    write(figure, (LEFT + RIGHT) / 2, y + LINE_HEIGHT, "value, and below it the code", centred=True, size=TICK_SIZE)


def _draw_errors(figure: LessonFigure, axis: LinearAxis, points: Sequence[Point], top: float) -> None:
    """A bar from 0 to each error, with half a step as the frame; what is clipped leaves it, with a triangle at the end."""
    middle, reach = top + STRIP / 2, STRIP / 2 - 8
    draw_outline(figure, LEFT, middle - reach, RIGHT - LEFT, 2 * reach, dashed=True)
    draw_line(figure, [LEFT, RIGHT], [middle, middle], width=0.6)
    for point in points:
        x = axis.at(point.value)
        end = middle - max(-1.0, min(1.0, point.half_steps)) * reach
        if point.clipped:
            end += -7 if point.half_steps > 0 else 7
        draw_stroke(figure, [x, x], [middle, end], Stroke(3, CLIPPED.dashes) if point.clipped else Stroke(3))
        if point.clipped:
            _triangle(figure, x, end, up=point.half_steps > 0)
    caption = "error; the dashed frame is half a step up and down, where rounding stays"
    write(figure, (LEFT + RIGHT) / 2, top + STRIP + LINE_HEIGHT * 0.8, caption, centred=True, size=TICK_SIZE)


def _mark(figure: LessonFigure, x: float, y: float, point: Point) -> None:
    if point.clipped:
        _triangle(figure, x, y, up=False)
    else:
        figure.add_drawing(Circle((x, y), MARK, facecolor=WEIGHTS.face, edgecolor=WEIGHTS.line, linewidth=1))


def _triangle(figure: LessonFigure, x: float, y: float, *, up: bool) -> None:
    tip = y - MARK if up else y + MARK
    base = 2 * y - tip
    corners = [(x, tip), (x - MARK, base), (x + MARK, base)]
    figure.add_drawing(Polygon(corners, fill=False, edgecolor=INK, linewidth=1.3))
