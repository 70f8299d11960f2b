"""Learn: a self-learner's copies of the course. What is there is never touched, whatever it holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.session import (
    LEARNER_FILE,
    LEARNER_VARIABLE,
    RECORDS_FOLDER,
    learner_file_is_damaged,
    learner_of,
    unreadable_name,
    valid_learner,
)

from grader.course import course_files, read_notebook, write_notebook
from grader.errors import UserError
from grader.render import METADATA
from grader.student_version import student_version


def prepare(folder: Path, notebooks: Path, learner: str | None = None) -> list[Path]:
    """Add what is missing of the course to `folder`; the names of the notebooks that were added.

    learner: whose numbers; the folder's own where it is not given, then LLMSERVING_LEARNER, then the course's. UserError
    where the folder was prepared for somebody else: the numbers of half a course would change.
    """
    folder = folder.resolve()
    if folder == notebooks or notebooks in folder.parents:
        raise UserError(f"{folder} holds the course itself; name another folder for the copies")
    wanted = _valid(learner or os.environ.get(LEARNER_VARIABLE) or None)
    present = prepared_for(folder, notebooks)
    if wanted is not None and present is not None and wanted != present:
        raise UserError(
            f"{folder} was prepared for the learner {present!r}, not for {wanted!r}; name another folder for "
            f"{wanted!r}, as in: make lab LEARN=learn-{wanted} LEARNER={wanted}"
        )
    whose = present or wanted or DEFAULT_LEARNER
    _note_learner(folder, whose)
    missing = [name for name in course_files(notebooks) if not (folder / name).exists()]
    for name in missing:
        write_notebook(student_version(read_notebook(notebooks / name), whose), folder / name)
    return missing


def prepared_for(folder: Path, notebooks: Path) -> str | None:
    """The learner that `folder` was prepared for: by its records where they can be read, or else by a notebook in it.

    None for a new folder.
    """
    records = folder / RECORDS_FOLDER
    if (records / LEARNER_FILE).exists() and not learner_file_is_damaged(records):
        return learner_of(records)
    for name in course_files(notebooks):
        try:
            return str(nbformat.read(folder / name, as_version=4).metadata[METADATA]["learner"])
        except Exception:
            continue
    return None


def _note_learner(folder: Path, learner: str) -> None:
    """Write down whose numbers these are. A file that says so stays; one that cannot be read is kept under another name."""
    path = folder / RECORDS_FOLDER / LEARNER_FILE
    damaged = learner_file_is_damaged(path.parent)
    if path.exists() and not damaged:
        return
    try:
        if damaged:
            os.replace(path, unreadable_name(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"learner": learner}) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder} could not be prepared: {error.strerror}") from None


def _valid(learner: str | None) -> str | None:
    try:
        return learner if learner is None else valid_learner(learner)
    except ValueError as error:
        raise UserError(str(error)) from None
