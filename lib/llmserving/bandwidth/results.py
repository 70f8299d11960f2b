"""All that was measured of one machine at one time, as data and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from llmserving.bandwidth.machine import Machine
from llmserving.bandwidth.measurement import Measurement
from llmserving.step_prediction import Roof

FORMAT = "llmserving bandwidth 1"
Origin = Literal["live", "recorded", "theoretical"]


@dataclass(frozen=True)
class BandwidthReport:
    """Measurements of a machine. sweep: the same operations over buffers of growing size. remarks and skipped: sentences.

    origin: "live" where this process measured it, "recorded" where it is read from a file.
    """

    machine: Machine
    date: str
    command: str
    measurements: tuple[Measurement, ...]
    sweep: tuple[Measurement, ...] = ()
    remarks: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    origin: Origin = "live"

    def of(self, operation: str, dtype: str | None = None, rows: int | None = None) -> Measurement | None:
        """The first measurement of that name, and dtype and M where given."""
        for found in self.measurements:
            if found.operation == operation and dtype in (None, found.dtype) and rows in (None, found.rows):
                return found
        return None

    @property
    def read_bytes_per_s(self) -> float | None:
        """What the memory gives to one who only reads, as decode does; None where it was not measured or disturbed."""
        rates = [self._read_rate(found) for found in self.measurements]
        return max((rate for rate in rates if rate is not None), default=None)

    @staticmethod
    def _read_rate(found: Measurement) -> float | None:
        """A GEMV over cold weights reads too, and where it does so faster, the memory can do that."""
        reads = found.operation.startswith("read") or (found.operation == "linear" and found.rows == 1)
        return found.bytes_per_s if reads else None

    def peak_flops_per_s(self, dtype: str) -> float | None:
        """The most of all matmuls in that dtype."""
        rates = [found.flops_per_s for found in self.measurements if found.dtype == dtype and found.rows is not None]
        return max((rate for rate in rates if rate is not None), default=None)

    def roof(self, dtype: str) -> Roof | None:
        """The measured roof; None where one of its sides has no figure."""
        peak, bandwidth = self.peak_flops_per_s(dtype), self.read_bytes_per_s
        return Roof(peak, bandwidth) if peak and bandwidth else None

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Those of the plain matmuls."""
        return tuple(dict.fromkeys(found.dtype for found in self.measurements if found.operation == "linear"))

    def points(self, dtype: str) -> list[Measurement]:
        """The plain matmuls in that dtype that have a figure, by M."""
        found = {m.rows: m for m in self.measurements if m.operation == "linear" and m.dtype == dtype and m.flops_per_s}
        return [found[rows] for rows in sorted(found, key=lambda rows: rows or 0)]

    @property
    def without_figure(self) -> list[Measurement]:
        """Those that were disturbed, too few, or wrong."""
        return [found for found in (*self.measurements, *self.sweep) if found.verdict != "ok"]

    @property
    def told_origin(self) -> str:
        """For figures and tables: live or recorded, and when."""
        return f"measured live, {self.date}" if self.origin == "live" else f"recorded {self.date}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "date": self.date,
            "command": self.command,
            "machine": asdict(self.machine),
            "remarks": list(self.remarks),
            "skipped": list(self.skipped),
            "measurements": [found.as_dict() for found in self.measurements],
            "sweep": [found.as_dict() for found in self.sweep],
        }


def report_of(plain: Mapping[str, Any], where: str) -> BandwidthReport:
    """A recorded report from the data of its JSON. ValueError saying that `where` holds something else."""
    try:
        if plain["format"] != FORMAT:
            raise ValueError("another format")
        return BandwidthReport(
            machine=Machine(**plain["machine"]),
            date=plain["date"],
            command=plain["command"],
            measurements=tuple(Measurement.from_dict(found) for found in plain["measurements"]),
            sweep=tuple(Measurement.from_dict(found) for found in plain["sweep"]),
            remarks=tuple(plain["remarks"]),
            skipped=tuple(plain["skipped"]),
            origin="recorded",
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"{where} is not a report of `python -m llmserving bandwidth --json`: {fault}") from None


def write_report(report: BandwidthReport, path: Path) -> None:
    """Write JSON; ValueError where the file cannot be written."""
    # One line a measurement: a table of timings is looked at as a whole, and a diff shows what was measured again.
    plain = report.as_dict()
    lists = {key: plain.pop(key) for key in ("measurements", "sweep")}
    head = json.dumps(plain, indent=1, ensure_ascii=False)[:-2]
    parts = [
        f' "{key}": [' + ",".join(f"\n  {json.dumps(found, ensure_ascii=False)}" for found in values) + "\n ]"
        for key, values in lists.items()
    ]
    try:
        path.write_text(f"{head},\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    except OSError as fault:
        raise ValueError(f"cannot write {str(path)!r}: {fault.strerror}") from None


def read_report(path: Path) -> BandwidthReport:
    """Read what `write_report` wrote. ValueError where there is no such file, or it is something else."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ValueError(f"cannot read {str(path)!r}: {fault.strerror}") from None
    except ValueError:
        raise ValueError(f"{str(path)!r} is not JSON") from None
    return report_of(plain if isinstance(plain, dict) else {}, repr(str(path)))
