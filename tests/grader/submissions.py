"""What learners hand in, made from a release: right, half right, untouched, damaged."""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from grader.answer_key.solutions import reference_inputs
from grader.answer_key.sources import Source
from grader.class_folder import ClassFolder, init_class_folder, open_class_folder
from grader.course import course_files, find_notebooks
from grader.grade import Graded, grade
from grader.release import release
from grader.render_command import render_all
from grader.roster import read_roster
from grader.selftest.as_run import run_cell
from llmserving.exercises import EXERCISES, GROUPS, Exercise
from llmserving.exercises.draws import DEFAULT_LEARNER

MINE = "Decode reads everything for one token, prefill for a thousand."

Change = Callable[[Any], None]
Inputs = Callable[[Exercise, str], dict[str, Any]]


def hand_in(root: Path, student: str, level: str, changes: dict[str, Change], source: Path | None = None) -> Path:
    """Copy a release (or `source`, a personal copy) to submitted/<student>/<level>, changed notebook by notebook."""
    folder = root / "submitted" / student / level
    shutil.copytree(source or root / "release" / level, folder, dirs_exist_ok=True)
    for name, change in changes.items():
        path = folder / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        change(notebook)
        # As a plain file: nbformat would put right, on the way out, what is to be damaged.
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return folder


def saved_as(encoding: str, path: Path, add: str = "") -> None:
    """The notebook in another encoding, as an editor or a download leaves it; add: text for the end of its first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    notebook["cells"][0]["source"] += add
    text = json.dumps(notebook, ensure_ascii=False)
    path.write_bytes(text.encode(encoding, errors="replace"))


def right(
    *but_not: str, learner: str = DEFAULT_LEARNER, inputs: Inputs = reference_inputs, records: bool = True
) -> Change:
    """Every answer right, as plain assignments; the exercises in `but_not` stay as released.

    records: what is measured is recorded in the answer cell; else the cell has values alone, as a learner's has.
    """

    def change(notebook: Any) -> None:
        for cell in notebook.cells:
            belongs = cell.metadata.get("llmserving", {})
            if belongs.get("role") != "answer":
                continue
            wanted = [one for one in GROUPS[belongs["exercise"]] if one not in but_not]
            lines = [line for one in wanted for line in assignments(one, learner, inputs, records=records)]
            cell.source = "\n".join([cell.source, *lines])

    return change


def assignments(
    exercise_id: str, learner: str = DEFAULT_LEARNER, inputs: Inputs = reference_inputs, *, records: bool = True
) -> list[str]:
    exercise = EXERCISES[exercise_id]
    answers = inputs(exercise, learner)
    return [
        str(answers[part.name])
        if isinstance(answers[part.name], Source)
        else f"{part.variable} = {answers[part.name]!r}"
        for part in exercise.parts
        if records or part.kind != "measurement"
    ]


def record_beside(folder: Path, *exercises: str, inputs: Inputs = reference_inputs) -> None:
    """recordings.json in `folder`, as the cells that measure leave it on a learner's machine."""
    with contextlib.chdir(folder):
        for exercise in (EXERCISES[name] for name in exercises):
            made = inputs(exercise, DEFAULT_LEARNER)
            for part in exercise.parts:
                if part.kind == "measurement":
                    run_cell(made[part.name])


def then(*changes: Change) -> Change:
    def change(notebook: Any) -> None:
        for one in changes:
            one(notebook)

    return change


def cell_of(notebook: Any, role: str, exercise: str) -> Any:
    return next(
        cell for cell in notebook.cells if cell.metadata.get("llmserving") == {"role": role, "exercise": exercise}
    )


def copied(role: str, exercise: str, source: str | None = None) -> Change:
    """Copy a cell below itself, as copy and paste in JupyterLab does: metadata and all, with an id of its own."""

    def change(notebook: Any) -> None:
        cell = cell_of(notebook, role, exercise)
        twin = copy.deepcopy(cell)
        twin["id"] = f"{cell['id']}-copy"
        if source is not None:
            twin.source = source
        notebook.cells.insert(notebook.cells.index(cell) + 1, twin)

    return change


def copied_up(role: str, exercise: str) -> Change:
    """A copy at the top that has taken the cell's id along."""

    def change(notebook: Any) -> None:
        notebook.cells.insert(0, copy.deepcopy(cell_of(notebook, role, exercise)))

    return change


def deleted(role: str, exercise: str) -> Change:
    def change(notebook: Any) -> None:
        notebook.cells.remove(cell_of(notebook, role, exercise))

    return change


def tagged(role: str, exercise: str, *tags: str) -> Change:
    def change(notebook: Any) -> None:
        cell_of(notebook, role, exercise).metadata["tags"] = list(tags)

    return change


def written(exercise: str, source: str) -> Change:
    """`source` in place of the answer cell's text."""

    def change(notebook: Any) -> None:
        cell_of(notebook, "answer", exercise).source = source

    return change


def in_own_words(source: str = MINE) -> Change:
    """`source` as the text that is graded by hand."""

    def change(notebook: Any) -> None:
        cell_of(notebook, "own-words", "WH1").source = source

    return change


def before_everything(source: str) -> Change:
    """A cell of the learner's own at the top."""

    def change(notebook: Any) -> None:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(source))

    return change


def moved(role: str, exercise: str, to: int) -> Change:
    """A cell taken from its place to the place `to`; -1 is the end."""

    def change(notebook: Any) -> None:
        cell = cell_of(notebook, role, exercise)
        notebook.cells.remove(cell)
        notebook.cells.insert(to if to >= 0 else len(notebook.cells), cell)

    return change


def own(source: str, before: int, *tags: str) -> Change:
    """A code cell of the learner's own; before: the place it gets, -1 is the end."""

    def change(notebook: Any) -> None:
        cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {})
        notebook.cells.insert(before if before >= 0 else len(notebook.cells), cell)

    return change


def reverse(notebook: Any) -> None:
    notebook.cells.reverse()


def new_ids(notebook: Any) -> None:
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"new-{number}"


def no_metadata(notebook: Any) -> None:
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})


def no_nbgrader(notebook: Any) -> None:
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)


def only_sources(notebook: Any) -> None:
    """Rebuilt from text, as a round trip through another format leaves it: an older format, without ids and metadata."""
    notebook.metadata, notebook.nbformat_minor = nbformat.from_dict({}), 4
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        cell.source = "\n".join(line.rstrip() for line in cell.source.strip().splitlines())
        cell.pop("id")


def claims(**said: Any) -> Change:
    def change(notebook: Any) -> None:
        notebook.metadata["llmserving"] = {**notebook.metadata["llmserving"], **said}

    return change


def graded(folder: ClassFolder, **options: Any) -> dict[str, Graded]:
    """What became of each hand-in to L1, by student."""
    return {one.student: one for one in grade(folder, ["L1"], lambda line: None, **options)}


def give_by_hand(folder: ClassFolder, student: str, points: float, comment: str | None = None) -> None:
    """Points for the text in own words, as formgrader writes them."""
    at = ("WH1-own-words", "two_phases", "L1", student)
    with folder.gradebook as gradebook:
        one = gradebook.find_grade(*at)
        one.manual_score, one.needs_manual_grade = points, False
        if comment is not None:
            gradebook.find_comment(*at).manual_comment = comment
        gradebook.db.commit()


def stopped(*_: Any, **__: Any) -> Any:
    """In place of a step of grading: Ctrl-C in it."""
    raise KeyboardInterrupt


def auto_scores(gradebook: Any, level: str, student: str) -> dict[str, float | None]:
    """grade_id -> auto score, as the gradebook has it."""
    submission = gradebook.find_submission(level, student)
    return {grade.name: grade.auto_score for notebook in submission.notebooks for grade in notebook.grades}


def small_course(folder: Path, *names: str) -> Path:
    """The notebooks `names` ("L2/kv_size") and the pages, rendered, in a folder of their own; all of them without names."""
    source = find_notebooks()
    for name in course_files(source):
        if not names or len(name.parts) == 1 or name.with_suffix("").as_posix() in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, folder / name)
    render_all(folder)
    return folder


def new_class(folder: Path, notebooks: Path, *levels: str, roster: str | None = None) -> ClassFolder:
    """A class folder with `levels` released; roster: ids, one a line."""
    init_class_folder(folder, notebooks)
    opened = open_class_folder(folder)
    learners = None
    if roster is not None:
        (folder / "roster.txt").write_text(roster)
        learners = read_roster(folder / "roster.txt")
    release(opened, levels, learners)
    return opened


def command(*arguments: str, module: str = "grader", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=600, check=False, cwd=cwd
    )
