"""A learner's function held against readings: what it says of each model, and how many times too large or too small."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from llmserving import arguments
from llmserving.cache_readings import Reading
from llmserving.paging.learners_code import pass_stop_on
from llmserving.units import format_number

NEARLY = 1.1  # up to here a factor is told in per cent
HEAD = ("read off", "model", "bits", "bytes a token", "yours", "")


@dataclass(frozen=True)
class Held:
    """One reading and what the function said of its model; `fault` says why it said nothing."""

    reading: Reading
    said: float | None
    fault: str = ""

    @property
    def agrees(self) -> bool:
        return self.said is not None and self.reading.least <= self.said <= self.reading.most

    @property
    def factor(self) -> float:
        """How many times too large it is; 1 where it agrees."""
        if self.said is None:
            raise ValueError(f"the function said nothing of {self.reading.model.name}: {self.fault}")
        return 1.0 if self.agrees else self.said / float(self.reading.middle)

    @property
    def verdict(self) -> str:
        if self.said is None:
            return self.fault
        if self.agrees:
            return "agrees"
        times, word = (self.factor, "large") if self.factor > 1 else (1 / self.factor, "small")
        if times < NEARLY:
            return f"{format_number(100 * abs(self.factor - 1))} % too {word}"
        return f"{format_number(times)} × too {word}"


@dataclass(frozen=True)
class Comparison:
    """Rows to print, narrow enough for a notebook; `note` is a sentence below them."""

    rows: tuple[Held, ...]
    note: str = ""

    @property
    def agreeing(self) -> int:
        return sum(row.agrees for row in self.rows)

    def __repr__(self) -> str:
        table = [HEAD, *(_cells(row) for row in self.rows)]
        widths = [max(len(cells[column]) for cells in table) for column in range(len(HEAD))]
        numbers = (2, 3, 4)
        lines = (
            "  ".join(
                cell.rjust(width) if column in numbers else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            for cells in table
        )
        return "\n".join([*lines, *([self.note] if self.note else [])])


def hold_against(function: Callable[..., Any], readings: Iterable[Reading], note: str = "") -> Comparison:
    """Call `function` on the model of each reading, with the arguments of LAB2.1 by name, and compare."""
    if not callable(function):
        raise TypeError(f"function is your kv_bytes_per_token, but got {arguments.shown(function)}")
    held = (Held(reading, *said_by(function, reading.arguments)) for reading in readings)
    return Comparison(tuple(held), note)


def said_by(function: Callable[..., Any], given: Mapping[str, Any]) -> tuple[float | None, str]:
    """What the function gives for these arguments; or None, and in a few words why it gives no size."""
    try:
        said = function(**given)
    except NotImplementedError:
        return None, "not written yet"
    except BaseException as error:
        pass_stop_on(error)
        return None, f"stopped with {type(error).__name__}: {error}".rstrip(": ")
    if isinstance(said, bool) or not isinstance(said, Real):
        return None, f"gave a value of type {type(said).__name__}, not a number"
    if not (math.isfinite(said) and float(said) > 0):
        return None, f"gave {said}, which no cache takes"
    return float(said), ""


def _cells(row: Held) -> tuple[str, ...]:
    reading = row.reading
    half = math.ceil((reading.most - reading.least) / 2)
    return (
        f"{reading.name} ({reading.source})",
        reading.model.name,
        str(reading.bits),
        f"{float(reading.middle):,.0f}" + (f" ± {half:,}" if half else ""),
        "-" if row.said is None else f"{row.said:,.0f}",
        row.verdict,
    )
