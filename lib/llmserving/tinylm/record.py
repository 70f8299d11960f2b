"""Recorded perplexities: what every scheme costs, measured once by `record_perplexity` and shipped as data.

Reading the record needs no torch, so that a notebook can show what a learner's machine cannot run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from llmserving import data
from llmserving.tinylm.surprise import Perplexity

FILENAME = "perplexity.csv"
BASE = "float32"  # no scheme; of SmolLM2, the dequantized Q4_1 of its file


@dataclass(frozen=True)
class Recorded:
    """One scheme on one text. `low` to `high` is the 95 % interval of the perplexity, from windows drawn anew.

    `window_nats` is the mean surprise a token in each window, in nats, all windows of `window` tokens. `calibration` is the
    text and the number of tokens that the scheme was calibrated with, "" for none. `seconds` it took, loading not counted.
    """

    model: str
    text: str
    scheme: str
    perplexity: float
    low: float
    high: float
    tokens: int
    window: int
    calibration: str
    seconds: float
    date: str
    machine: str
    source: str
    window_nats: tuple[float, ...]

    @property
    def measured(self) -> Perplexity:
        """The same as an object that can be compared with another, window by window."""
        return Perplexity(self.window_nats, self.tokens)


@cache
def record() -> tuple[Recorded, ...]:
    """All rows, in the order of measurement."""
    return tuple(from_cells(row) for row in data.rows(FILENAME))


def recorded(model: str, text: str, scheme: str = BASE) -> Recorded:
    """One row. KeyError where it was not measured."""
    for row in record():
        if (row.model, row.text, row.scheme) == (model, text, scheme):
            return row
    raise KeyError(f"no record of {scheme!r} on the text {text!r} with {model!r}")


def rows_of(model: str, text: str) -> Sequence[Recorded]:
    """All schemes on one text, in the order of measurement, the base first."""
    return [row for row in record() if (row.model, row.text) == (model, text)]


def from_cells(cells: dict[str, str]) -> Recorded:
    """A row of the table. ValueError where a cell is no number."""
    numbers = {name: float(cells[name]) for name in ("perplexity", "low", "high", "seconds")}
    counts = {name: int(cells[name]) for name in ("tokens", "window")}
    nats = tuple(float(cell) for cell in cells["window_nats"].split())
    words = {name: cells[name] for name in ("model", "text", "scheme", "calibration", "date", "machine", "source")}
    return Recorded(**words, **numbers, **counts, window_nats=nats)  # type: ignore[arg-type]
