"""The roofline of a machine as it was measured: its roof, its ridge, and matmuls of M = 1 … 512 under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.patches import Circle

from llmserving import arguments
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.phases import TimedStep
from llmserving.bandwidth.results import BandwidthReport
from llmserving.figures.axis import LogAxis, short_number
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.legend import COMPUTE_WALL, Stroke, draw_legend, legend_lines
from llmserving.figures.palette import WEIGHTS
from llmserving.figures.panel import Panel
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, shortened, write
from llmserving.figures.timed_steps import checked_steps, draw_steps, step_entries, step_sentences
from llmserving.step_prediction import Roof
from llmserving.units import format_number, format_rate

WIDTH, MARGIN, LEFT, RIGHT, HEIGHT = 720.0, 10.0, 66.0, 694.0, 260.0
MEASURED_ROOF, VENDOR_ROOF = Stroke(2.4), Stroke(1.4, (6, 3))
ROOM = 1.6  # above and below what is drawn, as a factor
LABEL_ROOM = 15.0


def measured_roofline(
    report: BandwidthReport,
    dtype: str | None = None,
    *,
    vendor: Roof | None = None,
    vendor_name: str | None = None,
    steps: Mapping[str, TimedStep] | None = None,
    title: str | None = None,
) -> LessonFigure:
    """Draw a report's plain matmuls in one dtype, by default the last that it has, under the roof that it measured.

    vendor: what the vendor of `vendor_name` promises, drawn dashed and named theoretical. steps: whole passes of a model,
    timed, by the name that stands beside each. ValueError where the report has no points or no roof: not measured, or
    disturbed.
    """
    steps = checked_steps(steps)
    dtype = _checked_dtype(report, dtype)
    points, roof = report.points(dtype), report.roof(dtype)
    if not points or roof is None:
        raise ValueError(
            f"the report has no roofline in {dtype}: it needs read and matmuls with a figure, and they were disturbed or "
            "not measured"
        )
    title = checked_title(title, WIDTH - 2 * MARGIN)
    entries: list[tuple[str, Any]] = [(f"roof, {report.told_origin}", MEASURED_ROOF), ("a matmul, its M below", "●")]
    entries += step_entries(steps)
    if vendor is not None:
        entries.append((_vendor_words(vendor_name), VENDOR_ROOF))
    legend = legend_lines(entries, MARGIN, RIGHT)
    machine_at = (TITLE_HEIGHT if title else 0) + 14
    legend_top = machine_at + 12
    top = legend_top + len(legend) * LINE_HEIGHT + 30
    panel = _panel(points, roof, vendor, steps, top)
    alt_text = _alt_text(report, dtype, points, roof, vendor, vendor_name, title) + "".join(step_sentences(steps))
    figure = LessonFigure(WIDTH, top + HEIGHT + 46, alt_text)
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, MARGIN, machine_at, shortened(str(report.machine), WIDTH - 2 * MARGIN))
    draw_legend(figure, legend, legend_top, MARGIN)
    write(figure, MARGIN, top - 14, f"FLOP a second, {dtype}", bold=True)
    panel.draw_frame(figure, short_number)
    panel.draw_x_ticks(figure, "FLOP a byte")
    if vendor is not None:
        _draw_roof(figure, panel, vendor, VENDOR_ROOF)
    _draw_roof(figure, panel, roof, MEASURED_ROOF)
    _draw_ridge(figure, panel, roof)
    _draw_points(figure, panel, points)
    draw_steps(figure, panel, steps)
    return figure


def _panel(
    points: Sequence[Measurement], roof: Roof, vendor: Roof | None, steps: Mapping[str, TimedStep], top: float
) -> Panel:
    rates = [*(point.flops_per_s or 0 for point in points), *(step.flops_per_s for step in steps.values())]
    peaks = [roof.flops_per_s, *([vendor.flops_per_s] if vendor else []), *rates]
    intensities = [*(point.intensity for point in points), roof.ridge, *([vendor.ridge] if vendor else [])]
    intensities += [step.work.intensity for step in steps.values()]
    low, high = min(intensities) / ROOM, max(intensities) * 2 * ROOM
    least = min(*rates, low * roof.bandwidth_bytes_per_s)
    return Panel(LogAxis(low, high, LEFT, RIGHT), LogAxis(least / ROOM, max(peaks) * ROOM, top + HEIGHT, top))


def _draw_roof(figure: LessonFigure, panel: Panel, roof: Roof, stroke: Stroke) -> None:
    x = [panel.x.low, roof.ridge, panel.x.high]
    panel.draw_curve(figure, x, [min(roof.flops_per_s, at * roof.bandwidth_bytes_per_s) for at in x], stroke)


def _draw_ridge(figure: LessonFigure, panel: Panel, roof: Roof) -> None:
    x = panel.x.at(roof.ridge)
    panel.draw_curve(figure, [roof.ridge] * 2, [panel.y.low, roof.flops_per_s], COMPUTE_WALL)
    write(figure, x + 6, panel.y.start - 12, f"ridge {format_number(roof.ridge)}")


def _draw_points(figure: LessonFigure, panel: Panel, points: Sequence[Measurement]) -> None:
    last = -100.0
    for point in points:
        x, y = panel.x.at(point.intensity), panel.y.at(point.flops_per_s or 1)
        figure.add_drawing(Circle((x, y), 4.5, facecolor=WEIGHTS.face, edgecolor=WEIGHTS.line, linewidth=1.2))
        if x - last >= LABEL_ROOM:
            write(figure, x, y + 15, str(point.rows), centred=True, size=11)
            last = x


def _checked_dtype(report: BandwidthReport, dtype: str | None) -> str:
    if dtype is None:
        if not report.dtypes:
            raise ValueError("the report has no matmuls to draw; measure the part 'roofline'")
        drawable = [name for name in report.dtypes if report.points(name) and report.roof(name)]
        return (drawable or list(report.dtypes))[-1]
    if dtype not in report.dtypes:
        raise ValueError(f"dtype is one of {', '.join(report.dtypes) or 'none'}, but got {arguments.shown(dtype)}")
    return dtype


def _alt_text(
    report: BandwidthReport,
    dtype: str,
    points: Sequence[Measurement],
    roof: Roof,
    vendor: Roof | None,
    vendor_name: str | None,
    title: str | None,
) -> str:
    first, last = points[0], points[-1]
    words = (
        f"Roofline of {report.machine.name}, {dtype}, {report.told_origin}. Reading at "
        f"{format_rate(roof.bandwidth_bytes_per_s)} and {_flops(roof.flops_per_s)} meet at {format_number(roof.ridge)} FLOP "
        f"a byte. A matmul with M = {first.rows} reaches {_flops(first.flops_per_s or 0)} at "
        f"{format_number(first.intensity)} FLOP a byte, {_share(first, roof)} of the roof above it; with M = {last.rows}, "
        f"{_flops(last.flops_per_s or 0)} at {format_number(last.intensity)}, {_share(last, roof)}."
    )
    if vendor is not None:
        whose = f" of {vendor_name}" if vendor_name else ""
        words += f" Theoretical, by the vendor{whose}: {format_rate(vendor.bandwidth_bytes_per_s)} and "
        words += f"{_flops(vendor.flops_per_s)}."
    return f"{title}. {words}" if title else words


def _vendor_words(name: str | None) -> str:
    return f"the vendor's figures{f' of {name}' if name else ''}: theoretical"


def _share(point: Measurement, roof: Roof) -> str:
    top = min(roof.flops_per_s, point.intensity * roof.bandwidth_bytes_per_s)
    return f"{100 * (point.flops_per_s or 0) / top:.0f} %"


def _flops(rate: float) -> str:
    return format_rate(rate).replace("B/s", "FLOP/s")
