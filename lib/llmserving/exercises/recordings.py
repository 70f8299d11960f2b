"""What a learner records of a measurement: kept in recordings.json beside the notebook, in order, and never overwritten.

The file travels with the notebook. While grading, and wherever no records are kept, a recording stays in memory.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from pathlib import Path
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.faults import Data

RECORDINGS_FILE = "recordings.json"
MOST_FILE_BYTES = 20_000_000

_in_memory: list[Data] = []


class UnreadableRecordings(Exception):
    """The file is there and is none of ours; the text says why."""


def recordings() -> list[Data]:
    """Every recording in the order in which they were made: {"name", "at", "fields"}. UnreadableRecordings."""
    return [*_stored(_path()), *_in_memory]


def keep(name: str, fields: Data) -> str | None:
    """Add a recording at the end; a sentence where something about it has to be told, else None."""
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    entry = {"name": name, "at": at, "fields": fields}
    if not session.keeps_records():
        _in_memory.append(entry)
        return None
    path, told = _path(), None
    try:
        stored = _stored(path)
    except UnreadableRecordings as why:
        try:
            told = f"{why}; it was kept as {_set_aside(path)}, and a new file begun."
        except OSError as error:
            _in_memory.append(entry)
            return f"{why}, and could not be renamed ({error.strerror}); this is kept until the kernel stops."
        stored = []
    try:
        _write(path, [*stored, entry])
    except OSError as error:
        _in_memory.append(entry)
        return f"The recording could not be saved ({error.strerror}); it is kept until the kernel stops."
    return told


def _path() -> Path:
    return Path(RECORDINGS_FILE).absolute()


def _stored(path: Path) -> list[Data]:
    try:
        if not path.exists():
            return []
        if path.stat().st_size > MOST_FILE_BYTES:
            raise UnreadableRecordings(f"{RECORDINGS_FILE} is too large to be one of ours")
        entries = json.loads(path.read_text(encoding="utf-8"))["recordings"]
        if not isinstance(entries, list) or not all(_is_recording(entry) for entry in entries):
            raise TypeError
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise UnreadableRecordings(f"{RECORDINGS_FILE} could not be read") from None
    return entries


def _is_recording(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str) and isinstance(entry.get("fields"), dict)


def _set_aside(path: Path) -> str:
    kept = session.unreadable_name(path)
    os.replace(path, kept)
    return kept.name


def _write(path: Path, entries: list[Data]) -> None:
    """Written beside and renamed, so that a crash or a second kernel never leaves half a file."""
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        beside.write_text(json.dumps({"recordings": entries}, indent=1), encoding="utf-8")
        os.replace(beside, path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
