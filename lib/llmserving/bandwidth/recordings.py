"""Measurements of machines that were made for the course, shipped as data with their date and command."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.decode_rows import DecodeTable, table_of
from llmserving.bandwidth.results import BandwidthReport, report_of

FOLDER = resources.files("llmserving.data").joinpath("bandwidth")
DECODE = "-decode"  # ends the names of the tables of decode


def recorded_names() -> tuple[str, ...]:
    """The names of the recorded reports."""
    return tuple(name for name in _names() if not name.endswith(DECODE))


def recorded_decode_names() -> tuple[str, ...]:
    """The names of the recorded tables of decode, predicted and measured."""
    return tuple(name for name in _names() if name.endswith(DECODE))


def recorded(name: Any) -> BandwidthReport:
    """A report. ValueError naming those that there are."""
    return report_of(_read(name, recorded_names()), f"the record {name}")


def recorded_decode(name: Any) -> DecodeTable:
    """A table of decode. ValueError naming those that there are."""
    return table_of(_read(name, recorded_decode_names()), f"the record {name}")


def _names() -> list[str]:
    names = [entry.name for entry in FOLDER.iterdir()] if FOLDER.is_dir() else []
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def _read(name: Any, names: tuple[str, ...]) -> Any:
    if name not in names:
        raise ValueError(f"there is no record {arguments.shown(name)}; there are {', '.join(names) or 'none'}")
    return json.loads(FOLDER.joinpath(f"{name}.json").read_text(encoding="utf-8"))
