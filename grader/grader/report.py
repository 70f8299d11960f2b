"""Report on a level: a line for each learner and exercise, from the notebooks as they were graded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmserving.exercises import EXERCISES, Exercise
from llmserving.exercises.course import LEVELS
from llmserving.units import format_number

from grader.attention import attention_list
from grader.by_hand import by_hand, given_before
from grader.class_folder import ClassFolder
from grader.course import levels_in, notebooks_in, read_notebook, require_level
from grader.errors import UserError
from grader.out_of_date import behind, out_of_date
from grader.releases import RELEASE, exercises_in
from grader.render import METADATA
from grader.submission_files import notebooks_without, notes_on_files


def report(folder: ClassFolder, level: str) -> list[str]:
    """Lines: learner, exercise, points, states of its parts, mistakes it looks like; then notes, who is not graded, and
    whose scores are out of date. UserError where there is no such level, or nothing of it to show.
    """
    rows = by_hand(folder, level)
    notes: list[str] = []
    graded: dict[str, set[str]] = {}
    for student, one in _reports(folder, level):
        graded.setdefault(student, set()).update(one["exercises"])
        for exercise_id, verdict in one["exercises"].items():
            rows.append((student, exercise_id, *_verdict_columns(EXERCISES[exercise_id], verdict)))
        notes += [f"{student}  {note['text']}." for note in one["notes"]]
    for student, exercises in graded.items():
        rows += [row for row in _rows_without(folder, level, student) if row[1] not in exercises]
        notes += [f"{student}  {note}." for note in notes_on_files(folder, level, student)]
    ungraded = _waiting(folder, level)
    with folder.gradebook as gradebook:
        for one in gradebook.assignment_submissions(level):
            if one.student.id not in ungraded:
                notes += [f"{one.student.id}  {note}." for note in given_before(one)]
    in_order = [exercise.id for one in LEVELS for exercise in one.every_exercise]
    rows.sort(key=lambda row: (row[0], in_order.index(row[1])))
    waiting = [f"{student}  not graded, needs attention: {why}" for student, why in ungraded.items()]
    if not rows and not waiting:
        require_level(level, levels_in(folder.source))
        raise UserError(f"nothing of {level} has been graded yet; first: python -m grader grade {level}")
    table = aligned([("learner", "exercise", "points", "parts", "looks like"), *rows]) if rows else []
    return [*table, *notes, *waiting, *out_of_date(level, behind(folder, level))]


def notes_of(folder: ClassFolder, level: str, student: str) -> tuple[str, ...]:
    return tuple(note["text"] for name, one in _reports(folder, level) if name == student for note in one["notes"])


def _reports(folder: ClassFolder, level: str) -> Iterator[tuple[str, Any]]:
    """Student and report of every graded notebook."""
    coursedir = folder.api.coursedir
    for student_folder in sorted((folder.root / coursedir.autograded_directory).glob("*")):
        for path in notebooks_in(student_folder / level):
            found = read_notebook(path).metadata.get(METADATA, {}).get("report")
            if found is not None:
                yield student_folder.name, found


def _rows_without(folder: ClassFolder, level: str, student: str) -> list[tuple[str, ...]]:
    """The exercises of the notebooks that the student has not handed in."""
    released = folder.root / RELEASE / level
    without = [read_notebook(released / name) for name in notebooks_without(folder, level, student)]
    points = {one: f"0 of {format_number(EXERCISES[one].points)}" for one in exercises_in(without)}
    return [(student, exercise_id, zero, "not handed in", "") for exercise_id, zero in points.items()]


def _waiting(folder: ClassFolder, level: str) -> dict[str, str]:
    submitted = folder.api.get_submitted_students(level)
    return {student: why for student, why in attention_list(folder.root, level).items() if student in submitted}


def _verdict_columns(exercise: Exercise, verdict: Any) -> tuple[str, str, str]:
    states = ", ".join(f"{part.name} {verdict['states'][part.name].replace('_', ' ')}" for part in exercise.parts)
    points = f"{format_number(verdict['score'])} of {format_number(verdict['points'])}"
    return points, states, ", ".join(verdict["diagnoses"])


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines, with their columns under each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
