"""Decode predicted against decode measured: milliseconds a step by batch, a panel for each context."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.patches import Circle

from llmserving import arguments
from llmserving.bandwidth.decode_rows import DecodeRow, DecodeTable, verdict_lines
from llmserving.figures.axis import LogAxis, surrounding
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import MEMORY_WALL, PREDICTION, Sample, draw_legend, legend_lines
from llmserving.figures.palette import KV_CACHE
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, shortened, write
from llmserving.units import format_seconds

WIDTH, MARGIN, LEFT, RIGHT = 720.0, 10.0, 66.0, 694.0
HEIGHT, BETWEEN = 105.0, 34.0


def decode_prediction(
    table: DecodeTable, model: str | None = None, dtype: str | None = None, *, title: str | None = None
) -> LessonFigure:
    """Draw the rows of one model in one dtype, by default the first that the table has.

    ValueError where the table has no such rows, or of one batch only.
    """
    model, dtype, rows = _checked(table, model, dtype)
    title = checked_title(title, WIDTH - 2 * MARGIN)
    contexts = sorted({row.context for row in rows})
    legend = legend_lines(_entries(f"step of {model}, {dtype}, {table.told_origin}", rows), MARGIN, RIGHT)
    machine_at = (TITLE_HEIGHT if title else 0) + 14
    first = machine_at + 12 + len(legend) * LINE_HEIGHT + BETWEEN
    figure = LessonFigure(
        WIDTH, first + len(contexts) * (HEIGHT + BETWEEN) + 14, _alt_text(table, model, dtype, rows, title)
    )
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, MARGIN, machine_at, shortened(str(table.machine), WIDTH - 2 * MARGIN))
    draw_legend(figure, legend, machine_at + 12, MARGIN)
    batches = [row.batch for row in rows]
    for index, context in enumerate(contexts):
        top = first + index * (HEIGHT + BETWEEN)
        write(figure, MARGIN, top - 13, f"Time of a step, {context:,} tokens a request", bold=True)
        panel = _panel(figure, [row for row in rows if row.context == context], min(batches), max(batches), top)
        if index == len(contexts) - 1:
            panel.draw_x_ticks(figure, "Requests in the batch")
    return figure


def _entries(step: str, rows: Sequence[DecodeRow]) -> list[tuple[str, Sample]]:
    entries: list[tuple[str, Sample]] = [(step, "●")]
    if any(row.cpu_time for row in rows):
        entries.append(("the same, least CPU time: the machine was busy", "○"))
    entries += [("calibrated prediction", PREDICTION), ("bound: bytes or FLOPs alone", MEMORY_WALL)]
    if any(row.calibrated_cpu_time for row in rows):
        entries.append(("prediction made from CPU times", "*"))
    return entries


def _panel(figure: LessonFigure, rows: Sequence[DecodeRow], low: int, high: int, top: float) -> Panel:
    rows = sorted(rows, key=lambda row: row.batch)
    times = [s for row in rows for s in (row.measured_seconds, row.raw_seconds, row.calibrated_seconds)]
    panel = Panel(LogAxis(low / 1.1, high * 1.1, LEFT, RIGHT), LogAxis(*surrounding(times, 1.4), top + HEIGHT, top))
    panel.draw_frame(figure, format_seconds)
    batches = [row.batch for row in rows]
    panel.draw_curve(figure, batches, [row.calibrated_seconds for row in rows], PREDICTION)
    panel.draw_curve(figure, batches, [row.raw_seconds for row in rows], MEMORY_WALL)
    for row in rows:
        place = (panel.x.at(row.batch), panel.y.at(row.measured_seconds))
        # A filled dot is a wall time, an empty one CPU time: the machine was busy.
        face = "none" if row.cpu_time else KV_CACHE.face
        figure.add_drawing(Circle(place, 4.5, facecolor=face, edgecolor=KV_CACHE.line, linewidth=1.4))
        if row.calibrated_cpu_time:
            write(figure, place[0] + 9, panel.y.at(row.calibrated_seconds) + 11, "*", centred=True)
    return panel


def _checked(table: DecodeTable, model: str | None, dtype: str | None) -> tuple[str, str, list[DecodeRow]]:
    kinds = [kind for kind in table.kinds if model in (None, kind[0]) and dtype in (None, kind[1])]
    if not kinds:
        known = ", ".join(f"{name} in {kind}" for name, kind in table.kinds) or "none"
        asked = arguments.shown(model) + (f" in {dtype}" if dtype else "")
        raise ValueError(f"the table has no rows of {asked}; it has {known}")
    rows = table.of(*kinds[0])
    if len({row.batch for row in rows}) < 2:
        raise ValueError("the table has one batch only, which makes no curve; measure two at least")
    return *kinds[0], rows


def _alt_text(table: DecodeTable, model: str, dtype: str, rows: Sequence[DecodeRow], title: str | None) -> str:
    words = f"Time of a decode step of {model}, {dtype}, by batch, {table.told_origin} on {table.machine.name}."
    for row in sorted(rows, key=lambda row: (row.context, row.batch)):
        how = " of CPU time" if row.cpu_time else ""
        made = " made from CPU times" if row.calibrated_cpu_time else ""
        words += (
            f" {row.batch} × {row.context:,} tokens: {format_seconds(row.measured_seconds)}{how}, calibrated prediction "
            f"{format_seconds(row.calibrated_seconds)}{made}, bound {format_seconds(row.raw_seconds)}."
        )
    words += "".join(f" {line[:1].upper()}{line[1:]}." for line in verdict_lines(rows))
    return f"{title}. {words}" if title else words
