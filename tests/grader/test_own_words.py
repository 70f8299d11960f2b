"""Texts in own words: optional in a notebook, and in a class that wants it graded by hand without a text being lost."""

from __future__ import annotations

import copy
from typing import Any

import nbformat
import pytest
from grader.answer_key.rubrics import RUBRICS
from grader.class_folder import ClassFolder
from grader.course import find_notebooks, read_notebook
from grader.errors import UserError
from grader.grade import grade
from grader.own_words import graded_by_hand, is_own_words, own_words_source
from grader.preprocessors.cells import report_of, start_report
from grader.preprocessors.keep_one import keep_one_of_each
from grader.preprocessors.restore import restore_from_release
from grader.preprocessors.show_rubrics import show_rubrics
from grader.release import release
from grader.releases import read_releases
from grader.report import report
from grader.student_version import for_learner, student_version
from nbgrader.utils import determine_grade

from tests.grader.submissions import (
    MINE,
    Change,
    cell_of,
    command,
    copied,
    deleted,
    give_by_hand,
    hand_in,
    in_own_words,
    new_class,
    right,
    small_course,
    then,
)


def by_hand(points: float) -> Any:
    notebook = student_version(read_notebook(find_notebooks() / "L1" / "two_phases.ipynb"), "default")
    graded_by_hand(notebook, points)
    return for_learner(notebook, "default")


RELEASED = by_hand(2)


def test_the_text_that_is_not_graded_says_when_the_list_appears() -> None:
    told = own_words_source("WH1", 0)
    assert "shows what an answer must hold, once WH1 is solved or two different answers were checked" in told
    assert "in a class, once the instructor has opened the solutions too" in told
    assert "next cell" not in own_words_source("WH1", 2)


def sanitized(*changes: Change) -> Any:
    notebook = copy.deepcopy(RELEASED)
    for change in changes:
        change(notebook)
    start_report(notebook, "ada", "default")
    keep_one_of_each(notebook, RELEASED)
    restore_from_release(notebook, RELEASED)
    nbformat.validate(notebook)
    return notebook


def notes(notebook: Any) -> list[str]:
    return [note["text"] for note in report_of(notebook)["notes"]]


def test_without_points_the_cell_is_plain_text_that_nobody_grades() -> None:
    cell = cell_of(by_hand(0), "own-words", "WH1")
    assert cell.cell_type == "markdown"
    assert "nbgrader" not in cell.metadata
    assert "(optional)" in cell.source


def test_with_points_it_is_an_answer_and_its_grade_in_one() -> None:
    cell = cell_of(RELEASED, "own-words", "WH1")
    marks = cell.metadata["nbgrader"]
    assert (marks["grade"], marks["solution"], marks["locked"], marks["points"]) == (True, True, False, 2)
    assert "(2 points, graded by hand)" in cell.source
    assert cell.metadata["deletable"] is False
    assert "editable" not in cell.metadata


def test_the_numbers_of_a_learner_do_not_take_the_points_away() -> None:
    cell = cell_of(for_learner(RELEASED, "ada"), "own-words", "WH1")
    assert cell.metadata["nbgrader"]["points"] == 2
    assert cell.source == own_words_source("WH1", 2)


def test_the_learner_s_text_survives_and_waits_for_a_human() -> None:
    notebook = sanitized(in_own_words(), right())
    cell = cell_of(notebook, "own-words", "WH1")
    assert cell.source == MINE
    assert determine_grade(cell) == (None, 2)
    assert notes(notebook) == []


def test_nothing_written_is_zero_without_a_human() -> None:
    assert determine_grade(cell_of(sanitized(right()), "own-words", "WH1")) == (0, 2)


def test_a_text_in_a_cell_that_was_made_code_comes_back_as_text() -> None:
    def made_code(notebook: Any) -> None:
        cell = cell_of(notebook, "own-words", "WH1")
        cell["cell_type"] = "code"
        cell["outputs"], cell["execution_count"] = [], None

    cell = cell_of(sanitized(in_own_words(), made_code), "own-words", "WH1")
    assert (cell.cell_type, cell.source) == ("markdown", MINE)


def test_a_deleted_cell_is_added_back_and_does_not_take_an_answer_for_itself() -> None:
    def gone(notebook: Any) -> None:
        notebook.cells.remove(cell_of(notebook, "own-words", "WH1"))
        notebook.cells.append(nbformat.v4.new_code_cell("WH1 = 'CGEA'"))

    notebook = sanitized(gone, deleted("answer", "WH1"))
    assert cell_of(notebook, "own-words", "WH1").source == own_words_source("WH1", 2)
    assert "WH1: the own-words cell was missing; it was added back from the release" in notes(notebook)
    assert "WH1: the answer cell was missing; the answer was taken from a cell of the learner's own" in notes(notebook)


def test_the_check_still_stands_for_the_answer() -> None:
    """The text carries a grade too; an answer in a cell below everything still runs before its check."""

    def below(notebook: Any) -> None:
        notebook.cells.append(nbformat.v4.new_code_cell("WH1 = 'CGEA'"))

    notebook = sanitized(below)
    sources = [cell.source for cell in notebook.cells]
    assert sources.index("WH1 = 'CGEA'") < notebook.cells.index(cell_of(notebook, "check", "WH1"))


def test_of_two_copies_the_written_one_is_graded_and_the_grader_told() -> None:
    notebook = sanitized(copied("own-words", "WH1", MINE))
    assert cell_of(notebook, "own-words", "WH1").source == MINE
    assert sum(is_own_words(cell) for cell in notebook.cells) == 1
    assert any("WH1: the own-words cell was there 2 times" in note for note in notes(notebook))


def test_the_rubric_stands_under_the_text_for_the_grader_and_in_no_release() -> None:
    notebook = sanitized(in_own_words())
    show_rubrics(notebook)
    at = notebook.cells.index(cell_of(notebook, "own-words", "WH1"))
    below = notebook.cells[at + 1]
    assert below.source.startswith("**Rubric, WH1**: about 0.667 of 2 points for each reason")
    assert all(reason in below.source for reason in RUBRICS["WH1"])
    assert "nbgrader" not in below.metadata
    everything = "\n".join(cell.source for cell in RELEASED.cells)
    assert not any(reason in everything for reason in RUBRICS["WH1"])


def test_a_cell_of_the_learner_s_own_that_calls_itself_one_gets_no_rubric_and_no_points() -> None:
    def forged(notebook: Any) -> None:
        cell = nbformat.v4.new_markdown_cell(
            "more points", metadata={"llmserving": {"role": "own-words", "exercise": "X"}}
        )
        notebook.cells.append(cell)
        notebook.cells.append(nbformat.v4.new_markdown_cell("x", metadata={"llmserving": "own-words"}))

    notebook = sanitized(forged)
    before = len(notebook.cells)
    show_rubrics(notebook)
    assert len(notebook.cells) == before + 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ClassFolder:
    notebooks = small_course(tmp_path_factory.mktemp("course"), "L1/two_phases")
    return new_class(tmp_path_factory.mktemp("classes") / "class", notebooks)


def released_points(folder: ClassFolder, where: str = "release") -> list[float]:
    (path,) = (folder.root / where / "L1").glob("two_phases.ipynb")
    return [
        cell.metadata.get("nbgrader", {}).get("points", 0) for cell in read_notebook(path).cells if is_own_words(cell)
    ]


def test_a_release_grades_own_words_only_where_it_is_asked_to(folder: ClassFolder) -> None:
    release(folder, ["L1"])
    assert released_points(folder) == [0]
    release(folder, ["L1"], own_words=1.5)
    assert released_points(folder) == [1.5]
    assert read_releases(folder.root, "L1")[-1].own_words == 1.5


@pytest.mark.slow
def test_a_release_remembers_the_points_in_copies_of_their_own_and_under_plain_nbgrader(folder: ClassFolder) -> None:
    release(folder, ["L1"], own_words=2)
    release(folder, ["L1"], {"ada": {}})
    assert released_points(folder) == released_points(folder, "personal/ada") == [2]
    assert folder.api.generate_assignment("L1", force=True)["success"]
    assert released_points(folder) == [2]
    release(folder, ["L1"], own_words=0)
    assert released_points(folder) == released_points(folder, "personal/ada") == [0]


@pytest.mark.parametrize("points", [-1, float("nan"), float("inf")])
def test_points_that_are_none_are_refused_before_anything_is_released(folder: ClassFolder, points: float) -> None:
    before = (folder.root / "releases.json").read_text() if (folder.root / "releases.json").exists() else ""
    with pytest.raises(UserError, match="--own-words takes points from 0 to 999"):
        release(folder, ["L1"], own_words=points)
    assert ((folder.root / "releases.json").read_text() if before else "") == before


def rows_of(folder: ClassFolder) -> dict[str, str]:
    """Learner -> what the report says of the text, without the spaces that align it."""
    lines = [line.split() for line in report(folder, "L1") if "own words" in line]
    return {learner: " ".join(said) for learner, exercise, *said in lines if exercise == "WH1"}


@pytest.mark.slow
def test_a_class_is_graded_by_machine_and_by_hand(tmp_path_factory: pytest.TempPathFactory) -> None:
    """From release to report, with nbgrader's own gradebook in between, graded twice."""
    notebooks = small_course(tmp_path_factory.mktemp("course"), "L1/two_phases")
    folder = new_class(tmp_path_factory.mktemp("classes") / "class", notebooks)
    assert command("release", "L1", "--own-words", "2", cwd=folder.root).returncode == 0
    hand_in(folder.root, "writes", "L1", {"two_phases": then(right(), in_own_words())})
    hand_in(folder.root, "leaves", "L1", {"two_phases": right()})
    told: list[str] = []
    graded = {one.student: one for one in grade(folder, ["L1"], say=told.append)}
    assert (graded["writes"].score, graded["writes"].points) == (7, 9)
    assert any("1 answer in own words to be graded by hand, in formgrader." in line for line in told)
    assert graded["leaves"].notes == ()
    assert rows_of(folder) == {
        "writes": "- of 2 own words to be graded by hand",
        "leaves": "0 of 2 own words not written",
    }
    with folder.gradebook as gradebook:
        waiting = gradebook.find_grade("WH1-own-words", "two_phases", "L1", "writes")
        assert (waiting.auto_score, waiting.needs_manual_grade, waiting.max_score) == (None, True, 2)
        assert not gradebook.find_grade("WH1-own-words", "two_phases", "L1", "leaves").needs_manual_grade
    give_by_hand(folder, "writes", 1.5)
    autograded = (folder.root / "autograded" / "writes" / "L1" / "two_phases.ipynb").read_text()
    assert MINE in autograded
    assert "**Rubric, WH1**" in autograded
    again = {one.student: one for one in grade(folder, ["L1"], say=told.append)}
    assert again["writes"].score == 8.5, "what the grader gave stands when the class is graded once more"
    assert again["writes"].notes == ("unchanged, with its feedback written anew",)
    assert rows_of(folder)["writes"] == "1.5 of 2 own words graded by hand"
    feedback = (folder.root / "feedback" / "writes" / "L1" / "two_phases.html").read_text()
    assert MINE in feedback
    with pytest.raises(UserError, match="L1 was not released: .*submissions to it are in the gradebook already"):
        release(folder, ["L1"], own_words=0)
    assert released_points(folder) == [2], "what was graded keeps its cells"
