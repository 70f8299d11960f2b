"""Data that ships with the library: models, GPUs, engine logs. Every row has a source and a date, nothing is typed twice."""

from __future__ import annotations

import csv
from importlib import resources


def rows(filename: str) -> list[dict[str, str]]:
    """The rows of one of the library's tables, as text by column name; an empty cell is an empty string."""
    text = resources.files("llmserving.data").joinpath(filename).read_text(encoding="utf-8")
    table = csv.DictReader(text.splitlines(), strict=True)
    columns = table.fieldnames or []
    read = []
    for row in table:
        if None in row or None in row.values():
            raise ValueError(f"{filename}, line {table.line_num}: it has not the {len(columns)} cells of the header")
        read.append(row)
    return read
