"""Whether something was recorded already: what a cell asks before it measures what should be foretold."""

from __future__ import annotations

from llmserving.exercises.recordings import UnreadableRecordings, recordings


def is_recorded(name: str) -> bool:
    """False also where the file of recordings cannot be read; `record` then says so."""
    try:
        return any(entry["name"] == name for entry in recordings())
    except UnreadableRecordings:
        return False
