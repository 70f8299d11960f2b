"""Bandwidth against the size of what is touched again and again: each fall is a cache that it no longer fits into."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from matplotlib.patches import Circle

from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.results import BandwidthReport
from llmserving.figures.axis import LogAxis, surrounding
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import CAPACITY, COMPUTE_WALL, COUNT, MEMORY_WALL, draw_legend, legend_lines
from llmserving.figures.palette import INK
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, shortened, write
from llmserving.units import MiB, format_bytes, format_rate

WIDTH, MARGIN, LEFT, RIGHT, HEIGHT = 720.0, 10.0, 84.0, 694.0, 220.0
STROKES = {"read": CAPACITY, "write": MEMORY_WALL, "copy": COMPUTE_WALL, "triad": COUNT}


def cache_sweep(report: BandwidthReport, *, title: str | None = None) -> LessonFigure:
    """Draw a report's sweep, best samples, with a gap where one has no figure.

    ValueError where fewer than two sizes of one operation have one.
    """
    curves = _curves(report.sweep)
    if not curves:
        raise ValueError("the report has no sweep to draw: measure the part 'sweep' on an undisturbed machine")
    title = checked_title(title, WIDTH - 2 * MARGIN)
    legend = legend_lines([(name, STROKES[name]) for name in curves], MARGIN, RIGHT)
    machine_at = (TITLE_HEIGHT if title else 0) + 14
    top = machine_at + 12 + len(legend) * LINE_HEIGHT + 32
    points = [point for curve in curves.values() for point in curve if point.bytes_per_s]
    sizes = [float(point.buffer_bytes) / MiB for point in points]
    rates = [point.bytes_per_s or 1.0 for point in points]
    panel = Panel(LogAxis(*surrounding(sizes), LEFT, RIGHT), LogAxis(*surrounding(rates), top + HEIGHT, top))
    figure = LessonFigure(WIDTH, top + HEIGHT + 46, _alt_text(report, curves, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, MARGIN, machine_at, shortened(str(report.machine), WIDTH - 2 * MARGIN))
    draw_legend(figure, legend, machine_at + 12, MARGIN)
    write(figure, MARGIN, top - 14, f"Bytes a second, {report.told_origin}", bold=True)
    panel.draw_frame(figure, format_rate)
    panel.draw_x_ticks(figure, "MiB touched again and again (where rates rise, the time of the calls themselves shows)")
    for name, curve in curves.items():
        for has_figure, run in groupby(curve, key=lambda point: point.bytes_per_s is not None):
            if has_figure:
                _draw_run(figure, panel, list(run), name)
    return figure


def _draw_run(figure: LessonFigure, panel: Panel, points: Sequence[Measurement], name: str) -> None:
    """The points between two gaps; one alone is no line, and is drawn as a dot."""
    places, rates = [point.buffer_bytes / MiB for point in points], [point.bytes_per_s or 1.0 for point in points]
    if len(points) > 1:
        panel.draw_curve(figure, places, rates, STROKES[name])
    else:
        figure.add_drawing(Circle((panel.x.at(places[0]), panel.y.at(rates[0])), 2.5, facecolor=INK, edgecolor=INK))


def _curves(sweep: Sequence[Measurement]) -> dict[str, list[Measurement]]:
    """By operation and from small to large; with a figure at two points at least, for one is no curve."""
    found = {name: sorted((m for m in sweep if m.operation == name), key=lambda m: m.buffer_bytes) for name in STROKES}
    return {name: curve for name, curve in found.items() if sum(m.bytes_per_s is not None for m in curve) > 1}


def _alt_text(report: BandwidthReport, curves: dict[str, list[Measurement]], title: str | None) -> str:
    words = f"Bandwidth of {report.machine.name} by the bytes touched again and again, {report.told_origin}."
    for name, curve in curves.items():
        told = ", ".join(f"{_rate(point)} over {format_bytes(point.buffer_bytes, 'MiB')}" for point in curve)
        words += f" {name.capitalize()}: {told}."
    return f"{title}. {words}" if title else words


def _rate(point: Measurement) -> str:
    return f"no figure ({point.verdict})" if point.bytes_per_s is None else format_rate(point.bytes_per_s)
