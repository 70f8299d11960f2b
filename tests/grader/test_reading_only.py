"""A notebook with nothing to answer goes through the course like any other: listed, released, graded beside the rest."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from grader.class_folder import ClassFolder
from grader.course import find_notebooks
from grader.learn import prepare
from grader.render import METADATA
from grader.selftest.release_checks import look_at
from grader.student_version import student_version
from llmserving.exercises.course import LEVELS

from tests.grader.submissions import auto_scores, command, hand_in, new_class, right, small_course

PLACE = "L5/what_next"


def test_it_is_listed_with_its_minutes_and_no_exercise() -> None:
    [listed] = [notebook for level in LEVELS for notebook in level.notebooks if notebook.path == PLACE]
    assert listed.exercises == ()
    assert listed.minutes == listed.reading_minutes > 0
    start_here = nbformat.read(find_notebooks() / "START_HERE.ipynb", as_version=4)
    [overview] = [cell for cell in start_here.cells if cell.metadata.get(METADATA, {}).get("role") == "overview"]
    assert f"[What comes next]({PLACE}.ipynb) | none, to read | {listed.minutes} min | 0 |" in overview.source


def test_its_learner_version_holds_every_cell_and_no_output() -> None:
    source = nbformat.read(find_notebooks() / f"{PLACE}.ipynb", as_version=4)
    released = student_version(source, "ada")
    assert [cell.source for cell in released.cells] == [cell.source for cell in source.cells]
    assert not any(look_at(released, source, PLACE, "ada", "here").failures.values())


def test_it_is_copied_for_a_self_learner(tmp_path: Path) -> None:
    notebooks = small_course(tmp_path / "course", PLACE)
    assert Path(f"{PLACE}.ipynb") in prepare(tmp_path / "learn", notebooks)


@pytest.mark.slow
def test_it_is_released_handed_in_and_graded_beside_one_with_exercises(tmp_path: Path) -> None:
    folder: ClassFolder = new_class(tmp_path / "class", small_course(tmp_path / "course", "L5/clinic", PLACE), "L5")
    assert (folder.root / "release" / f"{PLACE}.ipynb").exists()
    hand_in(folder.root, "ada", "L5", {"clinic": right("L5.1B")})
    told = command("grade", "L5", cwd=folder.root)
    assert "ada  L5  12 of 25" in told.stdout, told.stdout + told.stderr
    with folder.gradebook as gradebook:
        assert auto_scores(gradebook, "L5", "ada") == {"L5_1A": 12, "L5_1B": 0}
