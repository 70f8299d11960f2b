"""Step functions over time in a frame: each value holds until the next one."""

from __future__ import annotations

from collections.abc import Sequence

from llmserving.figures.axis import LinearAxis, short_number
from llmserving.figures.base import LessonFigure
from llmserving.figures.legend import Stroke
from llmserving.figures.palette import Fill
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import draw_area
from llmserving.replay import Series
from llmserving.units import format_number

WIDTH, MARGIN, LEFT, RIGHT = 720.0, 10.0, 62.0, 698.0
BELOW = 44.0  # ticks and the name of the time axis
TIME = "Seconds since the start"


def time_axis(start_s: float, end_s: float, left: float = LEFT, right: float = RIGHT) -> LinearAxis:
    """From start to end, with a second for a log in which no time passes."""
    return LinearAxis(start_s, end_s if end_s > start_s else start_s + 1, left, right)


def count_panel(x: LinearAxis, most: float, top: float, height: float) -> Panel:
    """A frame for counts from 0 to `most` and a little more, from y = `top` down."""
    return Panel(x, LinearAxis(0, max(1.0, most) * 1.08, top + height, top, whole=True))


def draw_series(figure: LessonFigure, panel: Panel, series: Series, stroke: Stroke, fill: Fill | None = None) -> None:
    """The step function up to the panel's right end, thinned to what can be told apart, over an area if there is a fill."""
    times, values = step_path(series.thinned(), panel.x.high)
    if fill is not None:
        x, y = [panel.x.at(time) for time in times], [panel.y.at(value) for value in values]
        draw_area(figure, x, y, panel.y.start, fill)
    panel.draw_curve(figure, times, values, stroke)


def draw_count_frame(figure: LessonFigure, panel: Panel) -> None:
    panel.draw_frame(figure, short_number)


def step_path(series: Series, end_s: float) -> tuple[list[float], list[float]]:
    """The corners of a step function from its first time to `end_s`; points in a row at one height are one stretch."""
    times, values = [float(series.times_s[0])], [float(series.values[0])]
    for time, value in zip(series.times_s[1:].tolist(), series.values[1:].tolist(), strict=True):
        if value != values[-1]:
            times += [time, time]
            values += [values[-1], value]
    return [*times, end_s], [*values, values[-1]]


def span_words(start_s: float, end_s: float) -> str:
    """`from 0 to 12.5 s`."""
    return f"from {seconds(start_s)} to {seconds(end_s)} s"


def seconds(time_s: float) -> str:
    """A moment, with the digits that tell it from its neighbours on the time axis."""
    return format_number(time_s, 4)


def end_of(series: Sequence[Series]) -> tuple[float, float]:
    """When the first of some curves begins and the last one ends."""
    return min(float(one.times_s[0]) for one in series), max(float(one.times_s[-1]) for one in series)
