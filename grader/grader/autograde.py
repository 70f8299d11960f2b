"""Autograde one submission, and tell of every file in it why it could not be graded, not of the first alone."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from nbgrader.api import MissingEntry

from grader.attention import notebooks_tried, reason_of
from grader.class_folder import ClassFolder
from grader.reading_copy import readable
from grader.submission_files import called_otherwise, level_notebooks, why_not_found


def autograde(folder: ClassFolder, level: str, student: str) -> tuple[str, str] | None:
    """None where it is graded; else why not, with the notebooks at fault, and nbgrader's log of them.

    nbgrader stops at the first notebook that it cannot grade. The others are then tried one by one; whatever they earn is to
    be withdrawn, since no part of a submission is graded. So it is where a file has another name than the notebook that it
    seems to be: that keeps the submission from being graded, and what else is wrong with it is told at once.
    """
    unfound = why_not_found(folder, level, student)
    called = called_otherwise(folder, level, student)
    names = [*level_notebooks(folder, level, student), *called]
    if unfound is not None and not names:
        return unfound, ""
    with readable(folder, level, student, called):
        results = [folder.api.autograde(level, student, force=True)]
        tried = notebooks_tried(results[0])
        # Where it came to no notebook at all, the fault is of none of them.
        others = [] if results[0]["success"] or not tried else [name for name in names if name not in tried]
        results += [_autograde_one(folder, level, student, name) for name in others]
    failed = [result for result in results if not result["success"]]
    reasons = [reason for reason in (unfound, reason_with_notebooks(failed, called)) if reason]
    return ("; ".join(reasons), "\n".join(map(log_of, failed))) if reasons else None


def reason_with_notebooks(failed: list[Mapping[str, Any]], called: Mapping[str, str]) -> str:
    """What kept each from being graded, once, after the notebooks that it is said of; called: see called_otherwise."""
    by_reason: dict[str, list[str]] = {}
    for result in failed:
        by_reason.setdefault(reason_of(result), []).extend(
            called.get(name, name) for name in notebooks_tried(result)[-1:]
        )
    return "; ".join(f"{', '.join(names)}: {reason}" if names else reason for reason, names in by_reason.items())


def log_of(result: Mapping[str, Any]) -> str:
    """nbgrader leaves out what is empty."""
    return f"{result.get('log', '')}\n{result.get('error', '')}"


def withdraw_grades(folder: ClassFolder, level: str, student: str) -> None:
    """What came of an earlier version of this submission must not stand for one that could not be graded."""
    coursedir = folder.api.coursedir
    for made in (coursedir.autograded_directory, coursedir.feedback_directory):
        shutil.rmtree(folder.root / made / student / level, ignore_errors=True)
    with folder.gradebook as gradebook:
        gradebook.update_or_create_student(student)
        try:
            submission = gradebook.find_submission(level, student)
        except MissingEntry:
            submission = gradebook.add_submission(level, student)
        for notebook in submission.notebooks:
            for grade_of_cell in notebook.grades:
                grade_of_cell.auto_score = None
                grade_of_cell.needs_manual_grade = True
        gradebook.db.commit()


def _autograde_one(folder: ClassFolder, level: str, student: str, name: str) -> Mapping[str, Any]:
    coursedir = folder.api.coursedir
    every = coursedir.notebook_id
    coursedir.notebook_id = name.removesuffix(".ipynb")
    try:
        result: Mapping[str, Any] = folder.api.autograde(level, student, force=True)
        return result
    finally:
        coursedir.notebook_id = every
