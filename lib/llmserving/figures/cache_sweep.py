"""Bandwidth against the size of what is touched again and again: each fall is a cache that it no longer fits into."""

from __future__ import annotations

from collections.abc import Sequence

from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.results import BandwidthReport
from llmserving.figures.axis import LogAxis, surrounding
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import CAPACITY, COMPUTE_WALL, COUNT, MEMORY_WALL, draw_legend, legend_lines
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, shortened, write
from llmserving.units import MiB, format_bytes, format_rate

WIDTH, MARGIN, LEFT, RIGHT, HEIGHT = 720.0, 10.0, 84.0, 694.0, 220.0
STROKES = {"read": CAPACITY, "write": MEMORY_WALL, "copy": COMPUTE_WALL, "triad": COUNT}


def cache_sweep(report: BandwidthReport, *, title: str | None = None) -> LessonFigure:
    """Draw a report's sweep, best samples; ValueError where fewer than two sizes of one operation have a figure."""
    curves = _curves(report.sweep)
    if not curves:
        raise ValueError("the report has no sweep to draw: measure the part 'sweep' on an undisturbed machine")
    title = checked_title(title, WIDTH - 2 * MARGIN)
    legend = legend_lines([(name, STROKES[name]) for name in curves], MARGIN, RIGHT)
    machine_at = (TITLE_HEIGHT if title else 0) + 14
    top = machine_at + 12 + len(legend) * LINE_HEIGHT + 32
    points = [point for curve in curves.values() for point in curve]
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
    panel.draw_x_ticks(figure, "MiB touched again and again")
    for name, curve in curves.items():
        places = [point.buffer_bytes / MiB for point in curve]
        panel.draw_curve(figure, places, [point.bytes_per_s or 1.0 for point in curve], STROKES[name])
    return figure


def _curves(sweep: Sequence[Measurement]) -> dict[str, list[Measurement]]:
    """What has a figure, by operation and from small to large; of two points at least, for one is no curve."""
    found = {
        name: sorted((m for m in sweep if m.operation == name and m.bytes_per_s), key=lambda m: m.buffer_bytes)
        for name in STROKES
    }
    return {name: curve for name, curve in found.items() if len(curve) > 1}


def _alt_text(report: BandwidthReport, curves: dict[str, list[Measurement]], title: str | None) -> str:
    words = f"Bandwidth of {report.machine.name} by the bytes touched again and again, {report.told_origin}."
    for name, curve in curves.items():
        told = ", ".join(
            f"{format_rate(point.bytes_per_s or 0)} over {format_bytes(point.buffer_bytes, 'MiB')}" for point in curve
        )
        words += f" {name.capitalize()}: {told}."
    return f"{title}. {words}" if title else words
