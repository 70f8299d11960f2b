"""Unchanged: hashes of what a grade came from and of what it left, so that only what differs is graded again.

Whatever could alter a score is hashed, and whatever came of it: a file that was removed, or a score that somebody else has
written, differs too. What cannot be hashed counts as changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path
from secrets import token_hex
from typing import Any

import llmserving
from llmserving.exercises.recordings import RECORDINGS_FILE
from nbgrader.api import MissingEntry
from nbgrader.utils import find_all_files

import grader
from grader.class_folder import ClassFolder
from grader.kernel import kernel_python
from grader.releases import RELEASE, read_releases

FOLDER = ".graded"


@dataclass(frozen=True)
class Standing:
    """read: what was handed in and released. work: all that the scores came from, and they. marks: what a human has given on
    top, and the feedback that shows it.
    """

    read: str
    work: str
    marks: str


def hash_of_installed() -> str:
    """Of the key, the preprocessors and whatever else runs a notebook here."""
    if kernel_python() != sys.executable:
        return _unlike_any()  # what is installed there is not seen from here
    packages = [Path(str(package.__file__)).parent for package in (grader, llmserving)]
    code = [_files(package, ["__pycache__", "*.pyc"]) for package in packages]
    return _hash(code, sys.version, sorted(f"{one.name} {one.version}" for one in distributions()))


def hash_of_read(folder: ClassFolder, level: str, student: str) -> str:
    """Of all that grading reads in the class folder. Taken before it: what is handed in meanwhile then differs."""
    coursedir = folder.api.coursedir
    releases = read_releases(folder.root, level)
    return _hash(
        _files(_path(folder, coursedir.submitted_directory, level, student), coursedir.ignore),
        _files(folder.root / RELEASE / level, coursedir.ignore),
        # nbgrader puts what lies beside the course's notebooks in place of what was handed in.
        _files(folder.source / level, [*coursedir.ignore, "*.ipynb", RECORDINGS_FILE]),
        [(path.name, _of_file(path)) for path in sorted(folder.root.glob("*.py"))],
        # A late student on the roster is no news to the others.
        [(release.version, release.exercises) for release in releases],
        (releases[-1].learners is None, releases[-1].learner_of(student), releases[-1].own_words),
    )


def standing_of(folder: ClassFolder, level: str, student: str, read: str, installed: str) -> Standing:
    """Where the submission stands now; read: hash_of_read. installed: hash_of_installed."""
    coursedir = folder.api.coursedir
    scores, marks = _of_gradebook(folder, level, student)
    graded = _files(_path(folder, coursedir.autograded_directory, level, student))
    feedback = _files(_path(folder, coursedir.feedback_directory, level, student))
    return Standing(read, _hash(read, installed, scores, graded), _hash(marks, feedback))


def kept_standing(root: Path, level: str, student: str) -> Standing | None:
    """Where it stood when it was graded; None where it was not, or needed attention, or it cannot be told."""
    try:
        return Standing(**json.loads(_kept(root, level, student).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def keep_standing(root: Path, level: str, student: str, standing: Standing) -> None:
    path = _kept(root, level, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(standing)) + "\n", encoding="utf-8")


def forget_standing(root: Path, level: str, student: str) -> None:
    """Before anything is done to a submission: one that was interrupted is graded again."""
    _kept(root, level, student).unlink(missing_ok=True)


def _of_gradebook(folder: ClassFolder, level: str, student: str) -> tuple[Any, Any]:
    """What the machine has written of a submission, and what a human has."""
    with folder.gradebook as gradebook:
        try:
            submission = gradebook.find_submission(level, student)
        except MissingEntry:
            return _unlike_any(), _unlike_any()
        late = [submission.timestamp, submission.assignment.duedate, submission.late_submission_penalty]
        scores: list[tuple[Any, ...]] = []
        marks: list[tuple[Any, ...]] = []
        for notebook in sorted(submission.notebooks, key=lambda one: str(one.name)):
            for grade in sorted(notebook.grades, key=lambda one: str(one.name)):
                scores.append((notebook.name, grade.name, grade.auto_score, grade.max_score))
                marks.append((notebook.name, grade.name, grade.manual_score, grade.extra_credit))
            for comment in sorted(notebook.comments, key=lambda one: str(one.name)):
                marks.append((notebook.name, comment.name, comment.manual_comment))
        return (late, scores), marks


def _files(folder: Path, ignore: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Name and hash of every file below `folder` that nbgrader would take."""
    paths = sorted(Path(name) for name in find_all_files(str(folder), list(ignore)))
    return [(path.relative_to(folder).as_posix(), _of_file(path)) for path in paths]


def _of_file(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return _unlike_any()


def _path(folder: ClassFolder, step: str, level: str, student: str) -> Path:
    return Path(folder.api.coursedir.format_path(step, student, level))


def _kept(root: Path, level: str, student: str) -> Path:
    return root / FOLDER / level / f"{student}.json"


def _hash(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()


def _unlike_any() -> str:
    return token_hex()
