"""Traces of real services: who asked when, with how long a prompt, and how many tokens were given.

Both readers expect rows in the order of arrival, as the published files have them, and refuse others: a step back in
time most often means two files in one, or the wrong file. Azure: github.com/Azure/AzurePublicDataset (CC-BY 4.0).
Mooncake: github.com/kvcache-ai/Mooncake (Apache-2.0).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from llmserving import arguments
from llmserving.scheduling.request import MOST_TOKENS, Request, Workload

AZURE_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
MOONCAKE_KEYS = ("timestamp", "input_length", "output_length", "hash_ids")

Row = tuple[str, float, int, int, tuple[int, ...]]  # where it stands, seconds on the trace's own clock, tokens, blocks


def azure_trace(path: str | Path) -> Workload:
    """A CSV file with TIMESTAMP, ContextTokens and GeneratedTokens; other columns are left alone.

    A request arrives as many seconds after the start as its row is after the first one. Requests are numbered from 0.
    A file or row that makes no sense is refused with a ValueError that names the line.
    """
    return _read(path, _azure_rows)


def mooncake_trace(path: str | Path) -> Workload:
    """A file with one JSON object a line: timestamp in ms, input_length, output_length, and hash_ids.

    hash_ids name the prompt's blocks of 512 tokens, the last one perhaps in part: they become `prompt_blocks`. Arrival,
    numbers and refusals are as in `azure_trace`.
    """
    return _read(path, _mooncake_rows)


def _read(path: str | Path, rows: Callable[[str, Iterable[str]], Iterator[Row]]) -> Workload:
    if not isinstance(path, str | Path):
        raise TypeError(f"path is where the trace lies, a text or a Path, but got {arguments.shown(path)}")
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no trace at {file}; give the path of a file that is there")
    requests: list[Request] = []
    first_s = latest_s = -math.inf
    with file.open(encoding="utf-8-sig", newline="") as lines:
        try:
            for where, time_s, prompt_tokens, output_tokens, blocks in rows(file.name, lines):
                if time_s < latest_s:
                    raise ValueError(
                        f"{where} its time is {latest_s - time_s:g} s before that of the row above; "
                        "sort the rows by their time if they belong together"
                    )
                latest_s = time_s
                first_s = first_s if requests else time_s
                requests.append(Request(len(requests), time_s - first_s, prompt_tokens, output_tokens, blocks))
        except UnicodeDecodeError:
            raise ValueError(f"{file.name} is not text in UTF-8; unpack it first if it is compressed") from None
    if not requests:
        raise ValueError(f"{file.name} has no rows of requests; it should have one for each")
    return Workload(requests, file.stem)


def _azure_rows(name: str, lines: Iterable[str]) -> Iterator[Row]:
    table = csv.DictReader(lines, strict=True)
    start: datetime | None = None
    try:
        missing = [column for column in AZURE_COLUMNS if column not in (table.fieldnames or ())]
        if missing:
            got = ", ".join(table.fieldnames or ()) or "an empty file"
            raise ValueError(f"{name}, line 1: the columns should be {', '.join(AZURE_COLUMNS)}, but got {got:.200}")
        for row in table:
            where = f"{name}, line {table.line_num}:"
            time, *tokens = (row[column] for column in AZURE_COLUMNS)
            moment = _moment(where, time)
            start = start or moment
            if (moment.tzinfo is None) != (start.tzinfo is None):
                raise ValueError(
                    f"{where} TIMESTAMP is {time!r}, but only some rows have a time zone; all or none should"
                )
            prompt_tokens, output_tokens = (
                _tokens(where, column, _number(cell)) for column, cell in zip(AZURE_COLUMNS[1:], tokens, strict=True)
            )
            yield where, (moment - start).total_seconds(), prompt_tokens, output_tokens, ()
    except csv.Error as error:
        raise ValueError(f"{name}, line {table.reader.line_num}: it is not comma-separated text ({error})") from None


def _mooncake_rows(name: str, lines: Iterable[str]) -> Iterator[Row]:
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        where = f"{name}, line {line}:"
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} it should be one JSON object, but is not JSON ({error})") from None
        if not isinstance(row, dict) or any(key not in row for key in MOONCAKE_KEYS):
            keys = ", ".join(MOONCAKE_KEYS)
            raise ValueError(f"{where} it should be an object with {keys}, but got {arguments.shown(row)}")
        time_ms, prompt_tokens, output_tokens, blocks = (row[key] for key in MOONCAKE_KEYS)
        if type(time_ms) not in (int, float) or not abs(time_ms) < arguments.MOST:
            raise ValueError(
                f"{where} timestamp should be a number of milliseconds, but got {arguments.shown(time_ms)}"
            )
        if not isinstance(blocks, list) or any(type(block) is not int for block in blocks):
            raise ValueError(f"{where} hash_ids should be a list of whole numbers, but got {arguments.shown(blocks)}")
        prompt_tokens = _tokens(where, "input_length", prompt_tokens)
        output_tokens = _tokens(where, "output_length", output_tokens)
        yield where, time_ms / 1000, prompt_tokens, output_tokens, tuple(blocks)


def _moment(where: str, text: str | None) -> datetime:
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        right = "a time such as 2023-11-16 18:15:46.6805900"
        raise ValueError(f"{where} TIMESTAMP should be {right}, but got {arguments.shown(text)}") from None


def _number(cell: str | None) -> Any:
    """The whole number that a cell has, or the cell itself."""
    try:
        return int(cell or "")
    except ValueError:
        return cell


def _tokens(where: str, name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_TOKENS:
        right = "a whole number of tokens, at least 1"
        raise ValueError(
            f"{where} {name} should be {right}, but got {arguments.shown(value)}; mend the row or leave it out"
        )
    return value
