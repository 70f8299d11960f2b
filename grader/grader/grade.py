"""Grade levels: one submission after the other through nbgrader, a line for each, and a list of what needs a human."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llmserving.units import format_number
from nbgrader.api import MissingEntry

from grader.attention import clear_attention, note_attention, reason_with_notebook
from grader.by_hand import waiting_note
from grader.class_folder import SUBMITTED, ClassFolder
from grader.course import levels_in, require_level
from grader.errors import UserError
from grader.kernel import require_key
from grader.releases import read_releases
from grader.report import notes_of
from grader.submission_files import notes_on_files, readable, why_not_found


@dataclass(frozen=True)
class Graded:
    """What became of one submission. reason: why it needs attention; None where it was graded."""

    student: str
    level: str
    score: float = 0.0
    points: float = 0.0
    notes: tuple[str, ...] = ()
    reason: str | None = None

    def line(self, width: int = 0) -> str:
        """width: columns for the student, so that the lines of a class stand under each other."""
        whose = f"{self.student:<{width}}  {self.level}"
        if self.reason is not None:
            return f"{whose}  not graded, needs attention: {self.reason}"
        scored = f"{format_number(self.score)} of {format_number(self.points)}"
        return "  ".join([whose, scored, *(f"{note}." for note in self.notes)])


def grade(folder: ClassFolder, levels: Sequence[str], say: Callable[[str], None] = print) -> list[Graded]:
    """Grade every submission of `levels`. A submission that cannot be graded is listed, never counted as zero, and
    never stops the others. UserError, before anything is touched, where the machinery itself could not grade.
    """
    for level in levels:
        if not read_releases(folder.root, level):
            require_level(level, levels_in(folder.source))
            raise UserError(
                f"{level} has not been released from {folder.root}; first: python -m grader release {level}"
            )
    require_key()
    students = {level: sorted(folder.api.get_submitted_students(level)) for level in levels}
    for level, found in students.items():
        if not found:
            say(f"{level}  nothing was handed in: {SUBMITTED}/*/{level} is empty.")
    graded = []
    for level in levels:
        width = max(map(len, students[level]), default=0)
        for student in students[level]:
            graded.append(_grade_one(folder, level, student))
            say(graded[-1].line(width))
    return graded


def summary(graded: Sequence[Graded]) -> str:
    attention = [one for one in graded if one.reason is not None]
    done = f"{len(graded) - len(attention)} of {len(graded)} graded"
    if not attention:
        return f"{done}."
    return f"{done}. Needs attention: {', '.join(f'{one.student} ({one.level})' for one in attention)}."


def _grade_one(folder: ClassFolder, level: str, student: str) -> Graded:
    unfound = why_not_found(folder, level, student)
    if unfound is not None:
        return _not_graded(folder, level, student, unfound)
    with readable(folder, level, student):
        result = folder.api.autograde(level, student, force=True)
    if result["success"]:
        result = folder.api.generate_feedback(level, student, force=True)
    if not result["success"]:
        log = f"{result.get('log', '')}\n{result.get('error', '')}"  # nbgrader leaves out what is empty
        return _not_graded(folder, level, student, reason_with_notebook(result), log)
    clear_attention(folder.root, level, student)
    with folder.gradebook as gradebook:
        submission = gradebook.find_submission(level, student)
        score, points, waiting = submission.score, submission.max_score, waiting_note(submission)
    notes = [*notes_on_files(folder, level, student), *notes_of(folder, level, student), *waiting]
    # Said of two notebooks, it is read once.
    return Graded(student, level, score, points, tuple(dict.fromkeys(notes)))


def _not_graded(folder: ClassFolder, level: str, student: str, reason: str, log: str = "") -> Graded:
    _withdraw_grades(folder, level, student)
    return Graded(student, level, reason=note_attention(folder.root, level, student, reason, log))


def _withdraw_grades(folder: ClassFolder, level: str, student: str) -> None:
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
