"""What we expect of the kernels on an H200, said before any was measured on one, and how a report compares with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llmserving.bandwidth.matmuls import BESIDE
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.results import BandwidthReport
from llmserving.units import format_rate

LARGE = "large "  # begins the names of GEMVs whose 16-bit weights are 1 GiB
COPY = 4.3e12  # bytes/s, a goal that we set and did not measure: 90 % of the vendor's 4.8e12 in data/gpus.csv
SHARE_OF_COPY = 0.85
FUSED_SPEEDUP = 3.0  # of the 16 / 4.156 = 3.85 times fewer bytes
PACKED = f"{LARGE}GEMV W4A16"


def goals(report: BandwidthReport) -> Iterator[str]:
    """A line for each goal: reached, missed, or without a figure to tell."""
    copy = _best(report, "copy")
    yield _line("copy", _rate(copy), COPY, format_rate)
    for name in ("read", f"{LARGE}GEMV"):
        rate, of = _rate(_best(report, name)), _rate(copy)
        yield _line(f"{name} against copy", rate and of and rate / of, SHARE_OF_COPY, _share)
    fused, plain = _best(report, PACKED), _best(report, f"{LARGE}GEMV")
    yield _line("fused W4A16 GEMV against 16 bits, M = 1", _faster(plain, fused), FUSED_SPEEDUP, _times)
    expanded, beside = report.of("W4A16, expanded first", rows=512), report.of(BESIDE, rows=512)
    slower = _faster(expanded, beside)
    yield _line("16 bits against W4A16 that is expanded first, M = 512", slower, 1.0, _times)


def _best(report: BandwidthReport, name: str) -> Measurement | None:
    """The fastest of the operations of that name, by torch and by kernels."""
    found = [m for m in report.measurements if m.operation == name or m.operation.startswith(f"{name}, ")]
    return max((m for m in found if m.bytes_per_s), key=lambda m: m.bytes_per_s or 0, default=None)


def _rate(found: Measurement | None) -> float | None:
    return found.bytes_per_s if found else None


def _faster(slow: Measurement | None, fast: Measurement | None) -> float | None:
    """How many calls of the one pass in a call of the other."""
    if slow is None or fast is None or not slow.call_seconds or not fast.call_seconds:
        return None
    return slow.call_seconds / fast.call_seconds


def _line(what: str, found: float | None, goal: float, shown: Callable[[float], str]) -> str:
    if found is None:
        return f"no figure  {what}: goal {shown(goal)}"
    return f"{'reached' if found >= goal else 'missed':9}  {what}: {shown(found)}, goal {shown(goal)}"


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _times(value: float) -> str:
    return f"{value:.2f} times as fast"
