"""A class of four, handed in by hand: right, half right, untouched, and right with a copied check cell."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from tests.notebook_runs import ROOT

LEVEL = "L2"

STUDENTS = """id,first_name,last_name,email
ada,Ada,Larsen,
ben,Ben,Okafor,
chen,Chen,Wei,
dora,Dora,Rossi,
"""

HALF_RIGHT = {
    "l2-1-answer": "L2_1_kv_gb = 0.537",
    "l2-2-answer": "L2_2_requests = 37",
    "l2-3-answer": "L2_3_fp16_gb = 26\nL2_3_int8_gb = 13\nL2_3_int4_gb = 26\nL2_3_shrink = 4",
}


def say(folder: Path, *command: str) -> str:
    """What `python -m ...` says in `folder`."""
    run = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    return run.stdout


def make_class(folder: Path) -> Path:
    """A class folder with level 2 released, and what its four students have handed in."""
    say(folder.parent, "grader", "init", str(folder))
    say(folder, "grader", "release", LEVEL)
    (folder / "students.csv").write_text(STUDENTS)
    say(folder, "nbgrader", "db", "student", "import", "students.csv")
    _hand_in(folder, "ada", _answer_rightly)
    _hand_in(folder, "ben", _answer_half)
    _hand_in(folder, "chen", lambda notebook, _: None)
    _hand_in(folder, "dora", _answer_rightly_and_copy_a_check)
    return folder


def _hand_in(folder: Path, student: str, fill_in: Callable[[Any, Any], None]) -> None:
    submission = folder / "submitted" / student / LEVEL
    submission.mkdir(parents=True)
    for path in sorted((folder / "release" / LEVEL).glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        fill_in(notebook, nbformat.read(ROOT / "notebooks" / LEVEL / path.name, as_version=4))
        nbformat.write(notebook, submission / path.name)


def _answer_rightly(notebook: Any, instructor: Any) -> None:
    solutions = {cell.id: cell.source for cell in instructor.cells if "BEGIN SOLUTION" in cell.source}
    for cell in notebook.cells:
        cell.source = solutions.get(cell.id, cell.source)


def _answer_half(notebook: Any, _: Any) -> None:
    for cell in notebook.cells:
        cell.source = HALF_RIGHT.get(cell.id, cell.source)


def _answer_rightly_and_copy_a_check(notebook: Any, instructor: Any) -> None:
    _answer_rightly(notebook, instructor)
    for check in [cell for cell in notebook.cells if cell.id == "l2-1-check"]:
        twin = copy.deepcopy(check)
        twin.id = "copied"
        notebook.cells.append(twin)
