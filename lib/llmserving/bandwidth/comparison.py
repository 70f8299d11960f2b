"""Two reports side by side: of two machines, or of one at two times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.results import BandwidthReport
from llmserving.units import format_rate

Key = tuple[str, str, int | None]


def compare(first: BandwidthReport, second: BandwidthReport) -> str:
    """What both have measured, line by line, the second over the first; ValueError where they have nothing in common."""
    return "\n".join(_lines(first, second))


def _lines(first: BandwidthReport, second: BandwidthReport) -> Iterator[str]:
    one, other = _by_key(first), _by_key(second)
    shared = [key for key in one if key in other]
    if not shared:
        raise ValueError("the two reports have no measurement in common")
    yield f"A: {first.machine} ({first.told_origin})"
    yield f"B: {second.machine} ({second.told_origin})"
    yield f"{'':42}{'A':>13}{'B':>13}{'B over A':>11}"
    for key in shared:
        a, b = _figure(one[key]), _figure(other[key])
        ratio = f"{b / a:>10.2f}x" if a and b else f"{'':>11}"
        cells = [_told(one[key], a), _told(other[key], b)]
        yield f"{_name(key):42}{cells[0]:>13}{cells[1]:>13}{ratio}".rstrip()
    for name, mine, others in (("A", one, other), ("B", other, one)):
        alone = Counter(_name((key[0], key[1], None)) for key in mine if key not in others)
        if alone:
            yield f"only in {name}: " + "; ".join(f"{what} ({n})" if n > 1 else what for what, n in alone.items())
    counted = {key[0] for key in shared if one[key].convention != other[key].convention}
    if counted:
        yield f"not comparable, for they count other bytes: {', '.join(sorted(counted))}"


def _by_key(report: BandwidthReport) -> dict[Key, Measurement]:
    return {(found.operation, found.dtype, found.rows): found for found in report.measurements}


def _figure(found: Measurement) -> float | None:
    return found.bytes_per_s if found.rows is None else found.flops_per_s


def _told(found: Measurement, figure: float | None) -> str:
    if figure is None:
        return found.verdict
    return format_rate(figure) if found.rows is None else format_rate(figure).replace("B/s", "FLOP/s")


def _name(key: Key) -> str:
    operation, dtype, rows = key
    return f"{operation}, {dtype}" + ("" if rows is None else f", M = {rows}")
