"""Decode predicted and measured, a row for each batch and context: the data behind the table and the figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llmserving.bandwidth.machine import Machine
from llmserving.bandwidth.results import Origin

FORMAT = "llmserving decode 1"
CLOSE, FAR, ABOVE_BOUND = 0.25, 0.35, 1.1


@dataclass(frozen=True)
class DecodeRow:
    """One step. cpu_time: too few samples were undisturbed, so `measured_seconds` is the least CPU time and not a wall time.

    calibrated_cpu_time: whether the prediction has such times among those that it adds up; None where a record does not say.
    """

    model: str
    dtype: str
    batch: int
    context: int
    measured_seconds: float
    cpu_time: bool
    quiet_share: float
    raw_seconds: float
    calibrated_seconds: float
    calibrated_cpu_time: bool | None = None

    @property
    def raw_ratio(self) -> float:
        """The bound over what was measured: above 1 it would be no bound."""
        return self.raw_seconds / self.measured_seconds

    @property
    def calibrated_ratio(self) -> float:
        return self.calibrated_seconds / self.measured_seconds

    @property
    def tokens_per_s(self) -> float:
        return self.batch / self.measured_seconds


@dataclass(frozen=True)
class DecodeTable:
    """Rows of one machine. skipped: what was not measured, in sentences."""

    machine: Machine
    date: str
    command: str
    rows: tuple[DecodeRow, ...]
    skipped: tuple[str, ...] = ()
    origin: Origin = "live"

    def of(self, model: str, dtype: str | None = None) -> list[DecodeRow]:
        return [row for row in self.rows if row.model == model and dtype in (None, row.dtype)]

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Models and dtypes, in the order of measurement."""
        return tuple(dict.fromkeys((row.model, row.dtype) for row in self.rows))

    @property
    def told_origin(self) -> str:
        return f"measured live, {self.date}" if self.origin == "live" else f"recorded {self.date}"

    def write(self, path: Path) -> None:
        plain = {"format": FORMAT, "date": self.date, "command": self.command, "machine": asdict(self.machine)}
        head = json.dumps({**plain, "skipped": list(self.skipped)}, indent=1, ensure_ascii=False)[:-2]
        rows = ",\n  ".join(json.dumps(_rounded(asdict(row)), ensure_ascii=False) for row in self.rows)
        try:
            path.write_text(f'{head},\n "rows": [\n  {rows}\n ]\n}}\n', encoding="utf-8")
        except OSError as fault:
            raise ValueError(f"cannot write {str(path)!r}: {fault.strerror}") from None


def table_of(plain: Mapping[str, Any], where: str) -> DecodeTable:
    """A recorded table from the data of its JSON. ValueError saying that `where` holds something else."""
    try:
        if plain["format"] != FORMAT:
            raise ValueError("another format")
        rows = tuple(DecodeRow(**row) for row in plain["rows"])
        machine = Machine(**plain["machine"])
        return DecodeTable(machine, plain["date"], plain["command"], rows, tuple(plain["skipped"]), "recorded")
    except (KeyError, TypeError, ValueError) as fault:
        raise ValueError(f"{where} is not a table of predicted and measured decode: {fault}") from None


def verdict_lines(rows: Sequence[DecodeRow]) -> list[str]:
    """How near the predictions came, in sentences; whatever came out."""
    off = [abs(row.calibrated_ratio - 1) for row in rows]
    bounds = [row.raw_ratio for row in rows]
    lines = [
        f"calibrated: {sum(error <= CLOSE for error in off)} of {len(off)} within {100 * CLOSE:.0f} %, "
        f"{sum(error <= FAR for error in off)} within {100 * FAR:.0f} %; the furthest is off by {100 * max(off):.0f} %",
        f"raw bound: {min(bounds):.2f} to {max(bounds):.2f} of what was measured"
        + (f"; above {ABOVE_BOUND}, it is no bound" if max(bounds) > ABOVE_BOUND else ""),
    ]
    by_cpu_time = sum(row.cpu_time for row in rows)
    if by_cpu_time:
        lines.append(
            f"{by_cpu_time} of {len(rows)} rows are the least CPU time (marked *): the machine was busy, and under a fifth of "
            "their samples was undisturbed"
        )
    predicted_by_it = sum(bool(row.calibrated_cpu_time) for row in rows)
    if predicted_by_it:
        lines.append(f"{predicted_by_it} of {len(rows)} calibrated predictions are made from CPU times (marked *)")
    return lines


def told_table(table: DecodeTable) -> str:
    """The table as text."""
    lines = [str(table.machine), f"{table.told_origin} by {table.command}; one thread"]
    for model, dtype in table.kinds:
        rows = table.of(model, dtype)
        lines += ["", f"decode of {model}, {dtype}: predicted over measured"]
        lines.append(
            f"{'batch':>6}{'context':>9}{'measured':>12}{'tokens/s':>10}{'quiet':>7}{'bound':>8}{'calibrated':>12}"
        )
        for row in rows:
            mark = "*" if row.cpu_time else " "
            lines.append(
                f"{row.batch:>6}{row.context:>9,}{1e3 * row.measured_seconds:>9.2f} ms{mark}{row.tokens_per_s:>9.1f}"
                f"{100 * row.quiet_share:>5.0f} %{row.raw_ratio:>8.2f}{row.calibrated_ratio:>12.2f}"
                + ("*" if row.calibrated_cpu_time else "")
            )
        lines += verdict_lines(rows)
    if table.skipped:
        lines += ["", *table.skipped]
    return "\n".join(lines)


def _rounded(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: float(f"{value:.5g}") if isinstance(value, float) else value for name, value in plain.items()}
