"""Graded by hand: where the texts in own words of a level stand, from the gradebook that formgrader writes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmserving.units import format_number

from grader.class_folder import ClassFolder
from grader.course import notebooks_in, read_notebook
from grader.own_words import NBGRADER, is_own_words, points_of
from grader.render import METADATA


def by_hand(folder: ClassFolder, level: str) -> list[tuple[str, ...]]:
    """Rows of the report: learner, exercise, points, where it stands, and no mistake that it looks like."""
    rows: list[tuple[str, ...]] = []
    with folder.gradebook as gradebook:
        for path in _graded(folder, level):
            student = path.parent.parent.name
            for cell in read_notebook(path).cells:
                if is_own_words(cell) and points_of(cell):
                    grade = gradebook.find_grade(cell.metadata[NBGRADER]["grade_id"], path.stem, level, student)
                    score, state = _standing(grade)
                    points = f"{score} of {format_number(points_of(cell))}"
                    rows.append((student, cell.metadata[METADATA]["exercise"], points, f"own words {state}", ""))
    return rows


def waiting_notes(submission: Any) -> list[str]:
    """How many answers of a submission wait for a human: no score stands for them yet, or one that was given before."""
    none = sum(grade.auto_score is None and grade.manual_score is None for grade in _grades(submission))
    notes = []
    if none:
        notes.append(f"{none} {'answer' if none == 1 else 'answers'} in own words to be graded by hand, in formgrader")
    return [*notes, *given_before(submission)]


def given_before(submission: Any) -> list[str]:
    """A note where scores that a human gave stand for answers that were graded anew since."""
    before = sum(_given_before(grade) for grade in _grades(submission))
    if not before:
        return []
    marks = "1 score given by hand is" if before == 1 else f"{before} scores given by hand are"
    return [f"{marks} from before it was graded anew, to be looked at again in formgrader"]


def _grades(submission: Any) -> list[Any]:
    return [grade for notebook in submission.notebooks for grade in notebook.grades]


def _given_before(grade: Any) -> bool:
    """nbgrader keeps what a human has given and marks it so, when the answer it was given for is graded once more."""
    return grade.manual_score is not None and bool(grade.needs_manual_grade)


def _standing(grade: Any) -> tuple[str, str]:
    if _given_before(grade):
        return format_number(grade.manual_score), "graded by hand before, to be looked at again"
    if grade.manual_score is not None:
        return format_number(grade.manual_score), "graded by hand"
    if grade.auto_score is not None:
        return format_number(grade.auto_score), "not written"
    return "-", "to be graded by hand"


def _graded(folder: ClassFolder, level: str) -> list[Path]:
    graded = folder.root / folder.api.coursedir.autograded_directory
    return [path for student in sorted(graded.glob("*")) for path in notebooks_in(student / level)]
