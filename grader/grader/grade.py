"""Grade levels: one submission after the other through nbgrader, a line for each, and a list of what needs a human."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from llmserving.units import format_number

from grader.attention import clear_attention, note_attention
from grader.autograde import autograde, log_of, reason_with_notebooks, withdraw_grades
from grader.by_hand import waiting_notes
from grader.class_folder import SUBMITTED, ClassFolder
from grader.course import levels_in, require_level
from grader.errors import UserError
from grader.kernel import require_key
from grader.one_run import one_run
from grader.out_of_date import without_hand_in
from grader.releases import read_releases
from grader.report import notes_of
from grader.submission_files import notes_on_files, require_students, why_not_a_student
from grader.unchanged import (
    forget_standing,
    hash_of_installed,
    hash_of_read,
    keep_standing,
    kept_standing,
    standing_of,
)


@dataclass(frozen=True)
class Graded:
    """What became of one submission. reason: why it needs attention; None where it was graded. unchanged: not now, but before."""

    student: str
    level: str
    score: float = 0.0
    points: float = 0.0
    notes: tuple[str, ...] = ()
    reason: str | None = None
    unchanged: bool = False

    def line(self, width: int = 0) -> str:
        """width: columns for the student, so that the lines of a class stand under each other."""
        whose = f"{self.student:<{width}}  {self.level}"
        if self.reason is not None:
            return f"{whose}  not graded, needs attention: {self.reason}"
        scored = f"{format_number(self.score)} of {format_number(self.points)}"
        return "  ".join([whose, scored, *(f"{note}." for note in self.notes)])


def grade(
    folder: ClassFolder,
    levels: Sequence[str],
    say: Callable[[str], None] = print,
    *,
    students: Sequence[str] | None = None,
    again: bool = False,
) -> list[Graded]:
    """Grade the submissions of `levels`. A submission that cannot be graded is listed, never counted as zero, and
    never stops the others. UserError, before anything is touched, where the machinery itself could not grade, or grades here
    already.

    students: only theirs; everybody's where it is not given. again: those too that have not changed since they were graded.
    """
    for level in levels:
        if not read_releases(folder.root, level):
            require_level(level, levels_in(folder.source))
            raise UserError(
                f"{level} has not been released from {folder.root}; first: python -m grader release {level}"
            )
    submitted = {level: sorted(folder.api.get_submitted_students(level)) for level in levels}
    chosen = submitted if students is None else require_students(students, submitted)
    require_key()
    for level, found in submitted.items():
        if not found:
            say(f"{level}  nothing was handed in: {SUBMITTED}/*/{level} is empty.")
        elif students is not None and (without := [name for name in students if name not in found]):
            say(f"{level}  nothing was handed in by {', '.join(without)}.")
    with one_run(folder.root):
        return _grade_all(folder, chosen, say, again=again, everybody=students is None)


def _grade_all(
    folder: ClassFolder,
    chosen: Mapping[str, Sequence[str]],
    say: Callable[[str], None],
    *,
    again: bool,
    everybody: bool,
) -> list[Graded]:
    installed = hash_of_installed()
    graded = []
    for level in chosen:
        width = max(map(len, chosen[level]), default=0)
        for student in chosen[level]:
            graded.append(_grade_one(folder, level, student, installed, again=again))
            say(graded[-1].line(width))
        if everybody:
            for line in without_hand_in(folder, level, chosen[level]):
                say(line)
    return graded


def summary(graded: Sequence[Graded]) -> str:
    attention = [one for one in graded if one.reason is not None]
    before = sum(one.unchanged for one in graded)
    done = f"{len(graded) - len(attention)} of {len(graded)} graded"
    if before:
        done += f", {before} of them before and unchanged since (--again grades all)"
    if not attention:
        return f"{done}."
    return f"{done}. Needs attention: {', '.join(f'{one.student} ({one.level})' for one in attention)}."


def _grade_one(folder: ClassFolder, level: str, student: str, installed: str, *, again: bool) -> Graded:
    misspelt = why_not_a_student(student)
    if misspelt is not None:
        # Without a row in the gradebook, where it would be a second one of the same student.
        return Graded(student, level, reason=note_attention(folder.root, level, student, misspelt))
    read = hash_of_read(folder, level, student)
    kept = None if again else kept_standing(folder.root, level, student)
    now = standing_of(folder, level, student, read, installed)
    if kept == now:
        return _standing(folder, level, student, "unchanged")
    forget_standing(folder.root, level, student)
    same_work = kept is not None and kept.work == now.work
    if not same_work:
        # First, so that a run that is stopped leaves no score of before, nor a sum of old ones and new.
        withdraw_grades(folder, level, student)
        failed = autograde(folder, level, student)
        if failed is not None:
            return _not_graded(folder, level, student, *failed)
    result = folder.api.generate_feedback(level, student, force=True)
    if not result["success"]:
        return _not_graded(folder, level, student, reason_with_notebooks([result], {}), log_of(result))
    clear_attention(folder.root, level, student)
    keep_standing(folder.root, level, student, standing_of(folder, level, student, read, installed))
    return _standing(folder, level, student, "unchanged, with its feedback written anew" if same_work else None)


def _standing(folder: ClassFolder, level: str, student: str, unchanged: str | None) -> Graded:
    """Its line, from the gradebook and from the notebooks as they were graded; unchanged: what to say where that was before."""
    with folder.gradebook as gradebook:
        submission = gradebook.find_submission(level, student)
        score, points, waiting = submission.score, submission.max_score, waiting_notes(submission)
    notes = [*notes_on_files(folder, level, student), *notes_of(folder, level, student), *waiting]
    first = [] if unchanged is None else [unchanged]
    # Said of two notebooks, it is read once.
    return Graded(student, level, score, points, tuple(dict.fromkeys([*first, *notes])), unchanged=bool(first))


def _not_graded(folder: ClassFolder, level: str, student: str, reason: str, log: str = "") -> Graded:
    withdraw_grades(folder, level, student)
    return Graded(student, level, reason=note_attention(folder.root, level, student, reason, log))
