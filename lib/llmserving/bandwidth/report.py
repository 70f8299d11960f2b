"""A report as a text: the table, what is counted in it, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmserving.bandwidth.matmuls import BESIDE
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operations import BUS, CONVENTIONS
from llmserving.bandwidth.results import BandwidthReport
from llmserving.bandwidth.vendor import Vendor
from llmserving.units import KiB, MiB, format_bytes, format_number, format_rate, format_seconds

QUANTIZED = ("W4A16", "W8A8", "GEMV")
SWEPT = ("read", "write", "copy", "triad")
DISTURBED = "DISTURBED: in fewer than 20 % of the samples was the core free of others, so there is no figure"
ADVICE = "; close what runs, or try again later"  # of no use for a record


def told(report: BandwidthReport, vendor: Vendor | None = None) -> str:
    """The whole report in lines; per cent of the vendor's figures only where the device's vendor is given."""
    blocks = [
        [str(report.machine), f"{report.told_origin} by {report.command}", *_promised(vendor)],
        list(_memory(report, vendor)),
        list(_sweep(report.sweep)),
        list(_matmuls(report, vendor)),
        list(_quantized(report)),
        list(_remarks(report)),
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block)


def rate_or_verdict(found: Measurement) -> str:
    """GB/s of the best undisturbed sample, or why there is none."""
    return found.verdict if found.bytes_per_s is None else format_rate(found.bytes_per_s)


def _promised(vendor: Vendor | None) -> Iterator[str]:
    if vendor:
        yield f"of vendor: of {format_rate(vendor.bandwidth_bytes_per_s)}, theoretical, that the vendor names for {vendor.name}"


def _memory(report: BandwidthReport, vendor: Vendor | None) -> Iterator[str]:
    rows = [found for found in report.measurements if found.rows is None]
    if not rows:
        return
    buffers = {found.buffer_bytes for found in rows}
    caches = rows[0].cache_bytes
    times = f" = {format_number(max(buffers) / caches)} last-level caches" if caches else ""
    threads = rows[0].samples.threads
    yield (
        f"Memory, float32, {threads} thread{'s' * (threads > 1)}, a window that moves through "
        f"{format_bytes(max(buffers), 'MiB')}{times}"
    )
    head = f"{'':24}{'best':>12}{'median':>12}{'on the bus':>12}{'quiet':>7}"
    yield head + (f"{'of vendor':>11}" if vendor else "")
    for found in rows:
        cells = [rate_or_verdict(found)]
        if found.bytes_per_s is not None:
            cells += [format_rate(rate or 0) for rate in (found.median_bytes_per_s, found.bus_bytes_per_s)]
        else:
            cells += ["", ""]
        line = f"{found.operation:24}" + "".join(f"{cell:>12}" for cell in cells) + _quiet(found)
        if vendor and found.bytes_per_s is not None:
            line += f"{100 * found.bytes_per_s / vendor.bandwidth_bytes_per_s:>9.1f} %"
        yield line
    for name in dict.fromkeys(found.operation for found in rows):
        yield f"  {name} counts {CONVENTIONS.get(name) or next(m.convention for m in rows if m.operation == name)}"
    yield f"  on the bus: {BUS}"


def _sweep(sweep: Sequence[Measurement]) -> Iterator[str]:
    if not sweep:
        return
    by_place = {(found.operation, found.buffer_bytes): found for found in sweep}
    yield "The same over buffers of growing size, best: each fall is a cache that is left"
    yield "  (as long as rates still rise, the time of the calls themselves shows, and no cache as small as that, such as an L1)"
    yield f"{'buffer':>12}" + "".join(f"{name:>12}" for name in SWEPT)
    for size in sorted({size for _, size in by_place}):
        cells = [rate_or_verdict(by_place[name, size]) if (name, size) in by_place else "" for name in SWEPT]
        unit = "MiB" if size >= MiB else "KiB"
        yield f"{format_number(size / (MiB if unit == 'MiB' else KiB), 4):>8} {unit}" + "".join(
            f"{cell:>12}" for cell in cells
        )


def _matmuls(report: BandwidthReport, vendor: Vendor | None) -> Iterator[str]:
    for dtype in report.dtypes:
        points = [m for m in report.measurements if m.operation == "linear" and m.dtype == dtype]
        yield f"x [M, in] @ weights [out, in], {dtype}, cold weights; bytes: weights, inputs and outputs, each once"
        yield f"{'M':>6}{'a call':>12}{'bytes':>12}{'FLOP':>14}{'FLOP/byte':>11}{'quiet':>7}"
        for found in points:
            yield f"{found.rows:>6}{_times(found)}{found.intensity:>11.1f}{_quiet(found)}"
        roof = report.roof(dtype)
        if roof:
            yield (
                f"measured roof: {_flops(roof.flops_per_s)} and {format_rate(roof.bandwidth_bytes_per_s)} of reading meet at "
                f"{format_number(roof.ridge)} FLOP/byte"
            )
        if roof and vendor and dtype in vendor.peak_flops:
            share = 100 * roof.flops_per_s / vendor.peak_flops[dtype]
            yield (
                f"that is {share:.1f} % of the FLOP/s that the vendor names for {vendor.name}: theoretical, "
                f"{_flops(vendor.peak_flops[dtype])}"
            )


def _quantized(report: BandwidthReport) -> Iterator[str]:
    rows = [m for m in report.measurements if m.operation.startswith(QUANTIZED)]
    if not rows:
        return
    yield "Quantized weights against 16 bits, taking turns; bytes: of the weights as they are stored, inputs and outputs"
    yield f"{'M':>6} {'':24}{'a call':>12}{'bytes':>12}{'FLOP':>14}{'quiet':>7}{'against 16 bits':>17}"
    for count in dict.fromkeys(m.rows for m in rows):
        plain = report.of(BESIDE, rows=count)
        for found in ([plain] if plain else []) + [m for m in rows if m.rows == count]:
            ratio = ""
            if found is not plain and plain and plain.call_seconds and found.call_seconds:
                ratio = f"{plain.call_seconds / found.call_seconds:.2f} times as fast"
            name = "bfloat16" if found is plain else found.operation
            yield f"{found.rows:>6} {name:24}{_times(found)}{_quiet(found)}  {ratio}".rstrip()


def _remarks(report: BandwidthReport) -> Iterator[str]:
    yield from report.remarks
    yield from report.skipped
    drifting = [found.operation for found in report.measurements if found.samples.drifts]
    if drifting:
        names = ", ".join(dict.fromkeys(drifting))
        yield f"drifting: the later half of the samples differs from the earlier by more than 10 % in {names}"
    verdicts = {found.verdict for found in report.without_figure}
    if "DISTURBED" in verdicts:
        yield DISTURBED + (ADVICE if report.origin == "live" else "")
    if "WRONG RESULT" in verdicts:
        yield "WRONG RESULT: what was computed differs from the reference, so its speed says nothing"
    if "TOO FEW" in verdicts:
        yield "TOO FEW: with fewer than 20 samples, the best of them is luck"


def _times(found: Measurement) -> str:
    if found.call_seconds is None or found.bytes_per_s is None or found.flops_per_s is None:
        return f"{found.verdict:>12}{'':>12}{'':>14}"
    return (
        f"{format_seconds(found.call_seconds):>12}{format_rate(found.bytes_per_s):>12}{_flops(found.flops_per_s):>14}"
    )


def _quiet(found: Measurement) -> str:
    return f"{100 * found.samples.quiet_share:>5.0f} %"


def _flops(rate: float) -> str:
    return format_rate(rate).replace("B/s", "FLOP/s")
