"""Export the gradebook as CSV: nbgrader's columns, quoted, safe to open in a spreadsheet, and no zero for 'not graded'."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin

from grader.by_hand import given_before
from grader.class_folder import ClassFolder
from grader.out_of_date import out_of_date

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score", "status",
)  # fmt: skip

# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class SafeCsvExport(ExportPlugin):  # type: ignore[misc]
    """The plugin behind `nbgrader export` and `python -m grader export`."""

    def export(self, gradebook: Any) -> None:
        with open(self.to or "grades.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for row in self._rows(gradebook):
                writer.writerow([_safe(row[column]) for column in COLUMNS])

    def _rows(self, gradebook: Any) -> Any:
        wanted_assignments, wanted_students = set(map(str, self.assignment)), set(map(str, self.student))
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if wanted_assignments and assignment.name not in wanted_assignments:
                    continue
                if wanted_students and student.id not in wanted_students:
                    continue
                yield _row(gradebook, assignment, student)


def export_grades(folder: ClassFolder, to: Path) -> list[str]:
    """Write the gradebook to `to`; lines that say so, and which scores in it are out of date."""
    plugin = SafeCsvExport(to=str(to))
    with folder.gradebook as gradebook:
        plugin.export(gradebook)
        levels = [str(assignment.name) for assignment in gradebook.assignments]
    return [f"grades were written to {to}", *(line for level in levels for line in out_of_date(folder, level))]


def _row(gradebook: Any, assignment: Any, student: Any) -> dict[str, Any]:
    row = {
        "assignment": assignment.name,
        "duedate": assignment.duedate,
        "student_id": student.id,
        "last_name": student.last_name,
        "first_name": student.first_name,
        "email": student.email,
        "max_score": assignment.max_score,
    }
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        nothing = {"raw_score": 0.0, "late_submission_penalty": 0.0, "score": 0.0}
        return {**row, "timestamp": None, **nothing, "status": "not submitted"}
    if any(_open(grade) for notebook in submission.notebooks for grade in notebook.grades):
        blank = {"raw_score": None, "late_submission_penalty": None, "score": None}
        return {**row, "timestamp": submission.timestamp, **blank, "status": "not graded"}
    penalty = submission.late_submission_penalty
    return {
        **row,
        "timestamp": submission.timestamp,
        "raw_score": submission.score,
        "late_submission_penalty": penalty,
        "score": max(0.0, submission.score - penalty),
        "status": "to be looked at again" if given_before(submission) else "graded",
    }


def _open(grade: Any) -> bool:
    return grade.auto_score is None and grade.manual_score is None


def _safe(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return "" if value is None else value
