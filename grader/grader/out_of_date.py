"""Out of date: whose scores are not of what lies in the class folder now, told wherever scores are shown."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from grader.attention import attention_list
from grader.class_folder import ClassFolder
from grader.releases import read_releases
from grader.unchanged import hash_of_read, kept_standing


def out_of_date(folder: ClassFolder, level: str) -> list[str]:
    """A line for each way in which scores of `level` are not of what lies there; none where all are."""
    if not read_releases(folder.root, level):
        return []  # graded by plain nbgrader, which keeps nothing to compare with
    with folder.gradebook as gradebook:
        scored = {one.student.id for one in gradebook.assignment_submissions(level) if _scored(one)}
    submitted = sorted(folder.api.get_submitted_students(level))
    told = attention_list(folder.root, level)
    kept = {student: kept_standing(folder.root, level, student) for student in submitted}
    changed = [name for name, one in kept.items() if one and one.read != hash_of_read(folder, level, name)]
    new = [name for name, one in kept.items() if one is None and name not in {*told, *scored}]
    command = f"python -m grader grade {level}"
    lines = []
    if changed:
        since = "what was handed in or released has changed since"
        lines.append(f"{level}  the scores of {', '.join(changed)} are from before: {since}; first: {command}")
    if new:
        lines.append(f"{level}  handed in and not graded yet: {', '.join(new)}; first: {command}")
    return [*lines, *without_hand_in(folder, level, submitted)]


def without_hand_in(folder: ClassFolder, level: str, submitted: Collection[str]) -> list[str]:
    """A line where the gradebook knows a submission of students whose folder was removed; submitted: whose is there."""
    with folder.gradebook as gradebook:
        gone = sorted({one.student.id for one in gradebook.assignment_submissions(level)} - set(submitted))
    if not gone:
        return []
    return [f"{level}  nothing is handed in any more by {', '.join(gone)}; the gradebook keeps what it has of them."]


def _scored(submission: Any) -> bool:
    return any(grade.auto_score is not None for notebook in submission.notebooks for grade in notebook.grades)
