"""Out of date: whose scores are not of what lies in the class folder now, told wherever scores are shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from grader.attention import attention_list
from grader.class_folder import ClassFolder
from grader.releases import read_releases
from grader.unchanged import hash_of_read, kept_standing


@dataclass(frozen=True)
class Behind:
    """Students of a level. changed: graded before what was handed in or released changed. new: handed in and not graded yet.
    gone: known to the gradebook, with nothing handed in any more.
    """

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def behind(folder: ClassFolder, level: str) -> Behind:
    """Whose scores of `level` are not of what lies there."""
    if not read_releases(folder.root, level):
        return Behind()  # graded by plain nbgrader, which keeps nothing to compare with
    with folder.gradebook as gradebook:
        scored = {one.student.id for one in gradebook.assignment_submissions(level) if _scored(one)}
    submitted = sorted(folder.api.get_submitted_students(level))
    told = attention_list(folder.root, level)
    kept = {student: kept_standing(folder.root, level, student) for student in submitted}
    changed = tuple(name for name, one in kept.items() if one and one.read != hash_of_read(folder, level, name))
    new = tuple(name for name, one in kept.items() if one is None and name not in {*told, *scored})
    return Behind(changed, new, _gone(folder, level, submitted))


def out_of_date(level: str, found: Behind) -> list[str]:
    """A line for each way in which scores of `level` are not of what lies there; none where all are."""
    command = f"python -m grader grade {level}"
    lines = []
    if found.changed:
        since = "what was handed in or released has changed since"
        lines.append(f"{level}  the scores of {', '.join(found.changed)} are from before: {since}; first: {command}")
    if found.new:
        lines.append(f"{level}  handed in and not graded yet: {', '.join(found.new)}; first: {command}")
    return [*lines, *_gone_line(level, found.gone)]


def without_hand_in(folder: ClassFolder, level: str, submitted: Collection[str]) -> list[str]:
    """A line where the gradebook knows a submission of students whose folder was removed; submitted: whose is there."""
    return _gone_line(level, _gone(folder, level, submitted))


def _gone(folder: ClassFolder, level: str, submitted: Collection[str]) -> tuple[str, ...]:
    with folder.gradebook as gradebook:
        return tuple(sorted({one.student.id for one in gradebook.assignment_submissions(level)} - set(submitted)))


def _gone_line(level: str, gone: Collection[str]) -> list[str]:
    if not gone:
        return []
    return [f"{level}  nothing is handed in any more by {', '.join(gone)}; the gradebook keeps what it has of them."]


def _scored(submission: Any) -> bool:
    return any(grade.auto_score is not None for notebook in submission.notebooks for grade in notebook.grades)
