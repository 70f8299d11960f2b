"""Export the gradebook as CSV: nbgrader's columns, quoted, safe to open in a spreadsheet, and no zero for 'not graded'."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin

from grader.by_hand import given_before
from grader.class_folder import ClassFolder, class_folder_of
from grader.out_of_date import Behind, behind, out_of_date

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score", "status",
)  # fmt: skip

# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class SafeCsvExport(ExportPlugin):  # type: ignore[misc]
    """The plugin behind `nbgrader export` and `python -m grader export`; its parent knows the class folder.

    behind: for each level that was written, whose scores in it are out of date.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.behind: dict[str, Behind] = {}

    def export(self, gradebook: Any) -> None:
        with open(self.to or "grades.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row in self._rows(gradebook):
                writer.writerow([_safe(row[column]) for column in COLUMNS])

    def _rows(self, gradebook: Any) -> Iterator[dict[str, Any]]:
        folder = class_folder_of(self.parent.coursedir, self.config)
        wanted_assignments, wanted_students = set(map(str, self.assignment)), set(map(str, self.student))
        for assignment in gradebook.assignments:
            if wanted_assignments and assignment.name not in wanted_assignments:
                continue
            late = self.behind[assignment.name] = behind(folder, assignment.name)
            known = {student.id: student for student in gradebook.students}
            for name in [*known, *(name for name in late.new if name not in known)]:
                if not wanted_students or name in wanted_students:
                    yield _row(gradebook, assignment, name, known.get(name), late)


def export_grades(folder: ClassFolder, to: Path) -> list[str]:
    """Write the gradebook to `to`; lines that say so, and which scores in it are out of date."""
    plugin = SafeCsvExport(to=str(to), parent=folder.api)
    with folder.gradebook as gradebook:
        plugin.export(gradebook)
    late = (line for level, found in plugin.behind.items() for line in out_of_date(level, found))
    return [f"grades were written to {to}", *late]


def _row(gradebook: Any, assignment: Any, name: str, student: Any, late: Behind) -> dict[str, Any]:
    """student: what the gradebook has of `name`; None where they are not in it yet."""
    row = {
        "assignment": assignment.name,
        "duedate": assignment.duedate,
        "student_id": name,
        "last_name": getattr(student, "last_name", None),
        "first_name": getattr(student, "first_name", None),
        "email": getattr(student, "email", None),
        "max_score": assignment.max_score,
    }
    blank = {"raw_score": None, "late_submission_penalty": None, "score": None}
    not_graded = {**blank, "status": "not graded yet" if name in late.new else "not graded"}
    try:
        submission = gradebook.find_submission(assignment.name, name)
    except MissingEntry:
        if name in late.new:
            return {**row, "timestamp": None, **not_graded}
        nothing = {"raw_score": 0.0, "late_submission_penalty": 0.0, "score": 0.0}
        return {**row, "timestamp": None, **nothing, "status": "not submitted"}
    if any(_open(grade) for notebook in submission.notebooks for grade in notebook.grades):
        return {**row, "timestamp": submission.timestamp, **not_graded}
    penalty = submission.late_submission_penalty
    return {
        **row,
        "timestamp": submission.timestamp,
        "raw_score": submission.score,
        "late_submission_penalty": penalty,
        "score": max(0.0, submission.score - penalty),
        "status": _status(submission, name, late),
    }


def _status(submission: Any, name: str, late: Behind) -> str:
    """Of a submission that has its scores."""
    if name in late.changed:
        return "graded before a later hand-in or release"
    if name in late.gone:
        return "graded before the hand-in was removed"
    return "to be looked at again" if given_before(submission) else "graded"


def _open(grade: Any) -> bool:
    return grade.auto_score is None and grade.manual_score is None


def _safe(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return "" if value is None else value
