"""A roster: one learner id a line, or CSV with a column `id` and, if known, names and mail addresses."""

from __future__ import annotations

import csv
from pathlib import Path

from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.session import valid_learner

from grader.errors import UserError

_KNOWN = ("first_name", "last_name", "email")


def read_roster(path: Path) -> dict[str, dict[str, str]]:
    """Learner id -> what else the roster knows, in the roster's order."""
    try:
        # utf-8-sig: spreadsheets put a mark before the first letter.
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UserError(
            f"the roster {path} is not saved as UTF-8, so its letters could not be read; a spreadsheet saves it so as 'CSV UTF-8'"
        ) from None
    except OSError as error:
        raise UserError(f"the roster {path} could not be read: {error}") from None
    rows = [row for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "id" in header:
        rows, at = rows[1:], header.index("id")
    elif any(len(row) > 1 for row in rows):
        raise UserError(f"the roster {path} has several columns and none is headed `id`")
    else:
        header, at = ["id"], 0
    learners: dict[str, dict[str, str]] = {}
    for row in rows:
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        learners[_new_id(row[at].strip() if at < len(row) else "", learners, path)] = {
            column: cells[column] for column in _KNOWN if cells.get(column)
        }
    if not learners:
        raise UserError(f"the roster {path} names nobody")
    return learners


def _new_id(learner: str, known: dict[str, dict[str, str]], path: Path) -> str:
    try:
        learner = valid_learner(learner)
    except ValueError as error:
        raise UserError(f"the roster {path} cannot be used: {error}") from None
    if learner == DEFAULT_LEARNER:
        raise UserError(f"the roster {path} names {learner!r}, the id that stands for the course's own numbers")
    # Two ids that differ in case alone would share a folder on some systems.
    if learner.casefold() in {other.casefold() for other in known}:
        raise UserError(f"the roster {path} names {learner!r} twice")
    return learner
