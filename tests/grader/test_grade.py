"""Grading a class from the command line: who gets which rows, and that nobody's notebook harms another's."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.class_folder import init_class_folder, open_class_folder
from grader.errors import UserError
from grader.grade import grade
from nbgrader.api import Gradebook

from grader import __main__ as cli
from tests.grader.submissions import (
    assignments,
    auto_scores,
    before_everything,
    claims,
    command,
    copied,
    deleted,
    hand_in,
    new_class,
    right,
    small_course,
    tagged,
    then,
    written,
)

ALL = {"L2_1": 2, "L2_2": 2, "EC8": 1, "L2_3": 4, "SC6": 1}

WARNS_IN_EVERY_CELL = """
import sys
get_ipython().events.register("pre_run_cell", lambda info: print("a warning", file=sys.stderr))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_course(tmp_path_factory.mktemp("course"), "L2/kv_size", "L2/weights")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, course: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A class folder in which `python -m grader grade L2` has run, and what it said."""
    root = tmp_path_factory.mktemp("classes") / "class"
    assert command("init", str(root), "--notebooks", str(course)).returncode == 0
    assert command("release", "L2", cwd=root).returncode == 0
    both: dict[str, Any] = {"kv_size": right(), "weights": right()}
    hand_in(root, "right", "L2", both)
    hand_in(root, "half", "L2", {"kv_size": right("L2.2", "EC8"), "weights": right("L2.3")})
    hand_in(root, "untouched", "L2", {})
    hand_in(root, "damaged", "L2", {**both, "kv_size": then(right(), copied("check", "L2.1"))})
    never_run = then(tagged("check", "L2.1", "skip-execution"), tagged("check", "L2.2", "live"))
    hand_in(root, "skipper", "L2", {"kv_size": never_run, "weights": tagged("check", "L2.3", "skip-execution")})
    stumbles = then(right(), written("L2.1", "L2_1_kv_gb = = 1"), before_everything(WARNS_IN_EVERY_CELL))
    hand_in(root, "stumbler", "L2", {"kv_size": stumbles, "weights": then(right(), deleted("check", "L2.3"))})
    (hand_in(root, "torn", "L2", {}) / "kv_size.ipynb").write_text('{"cells": [')
    (hand_in(root, "partial", "L2", {}) / "weights.ipynb").unlink()
    hand_in(root, "impostor", "L2", {"kv_size": claims(learner="ada")})
    return root, command("grade", "L2", cwd=root)


def test_four_submissions_get_the_expected_rows(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "right") == ALL
        assert auto_scores(gradebook, "L2", "half") == {**ALL, "L2_2": 0, "EC8": 0, "L2_3": 0}
        assert auto_scores(gradebook, "L2", "untouched") == dict.fromkeys(ALL, 0)
        assert auto_scores(gradebook, "L2", "damaged") == ALL


def test_a_check_that_is_tagged_not_to_run_earns_nothing(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "skipper") == dict.fromkeys(ALL, 0)


def test_a_syntax_error_costs_its_item_and_a_warning_costs_nothing(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "stumbler") == {**ALL, "L2_1": 0}


def test_one_line_a_learner_with_what_was_repaired(graded: Any) -> None:
    _, told = graded
    assert "right  L2  10 of 10\n" in told.stdout
    assert "damaged  L2  10 of 10  L2.1: the check cell was copied; graded from the original.\n" in told.stdout
    assert "partial  L2  0 of 10  weights.ipynb was not handed in.\n" in told.stdout
    assert "L2.1: the answer cell stopped with SyntaxError: invalid syntax (line 1)." in told.stdout
    assert "L2.3: the check cell was missing; it was added back from the release." in told.stdout


def test_what_cannot_be_graded_is_listed_and_is_no_zero(graded: Any) -> None:
    root, told = graded
    assert told.returncode == 1
    assert "torn  L2  not graded, needs attention: kv_size.ipynb: it is not JSON" in told.stdout
    assert (
        "impostor  L2  not graded, needs attention: kv_size.ipynb: the notebook says it was made for 'ada'"
        in told.stdout
    )
    assert told.stdout.endswith("7 of 9 graded. Needs attention: impostor (L2), torn (L2).\n")
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        for student in ("torn", "impostor"):
            assert auto_scores(gradebook, "L2", student) == dict.fromkeys(ALL, None)


def test_the_instructor_reads_no_traceback_and_no_noise(graded: Any) -> None:
    _, told = graded
    assert told.stderr == ""
    assert not any(word in told.stdout for word in ("Traceback", "Warning", "Kernel is running"))


def test_the_learner_reads_the_note_and_the_verdict_in_the_feedback(graded: Any) -> None:
    root, _ = graded
    feedback = (root / "feedback" / "damaged" / "L2" / "kv_size.html").read_text()
    assert "Note: L2.1: the check cell was copied; graded from the original." in feedback
    assert "L2.1 · right · 2 of 2 points" in feedback
    assert not (root / "feedback" / "torn").exists()


def test_grading_leaves_no_learner_records(graded: Any) -> None:
    root, _ = graded
    assert not list(root.rglob("progress.json"))


def test_the_report_has_a_line_for_each_exercise(graded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    root, _ = graded
    assert cli.main(["report", "L2", "--class", str(root)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["half", "L2.2", "0", "of", "2", "requests", "open"] in lines
    assert [line[1] for line in lines if line[0] == "right"] == ["L2.1", "L2.2", "EC8", "L2.3", "SC6"]
    assert next(line for line in lines if line[:2] == ["right", "L2.3"])[:5] == ["right", "L2.3", "4", "of", "4"]
    assert any(line[:2] == ["torn", "not"] for line in lines)


def test_export_has_blanks_and_no_zero_for_what_is_not_graded(graded: Any, tmp_path: Path) -> None:
    root, _ = graded
    assert cli.main(["export", "--to", str(tmp_path / "grades.csv"), "--class", str(root)]) == 0
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert (rows["half"]["score"], rows["half"]["max_score"], rows["half"]["status"]) == ("3.0", "10.0", "graded")
    assert (rows["torn"]["score"], rows["torn"]["status"]) == ("", "not graded")


@pytest.mark.slow
def test_plain_nbgrader_gives_the_same_rows(tmp_path: Path) -> None:
    root = tmp_path / "class"
    init_class_folder(root, small_course(tmp_path / "notebooks", "L2/kv_size"))
    assert command("generate_assignment", "L2", module="nbgrader", cwd=root).returncode == 0
    damaged = then(right("L2.2"), copied("check", "L2.1"), tagged("check", "L2.2", "skip-execution"))
    hand_in(root, "damaged", "L2", {"kv_size": damaged})
    (hand_in(root, "torn", "L2", {}) / "kv_size.ipynb").write_text('{"cells": [')
    told = command("autograde", "L2", module="nbgrader", cwd=root)
    assert told.returncode == 1, "nbgrader says so of the torn one"
    assert command("generate_feedback", "L2", module="nbgrader", cwd=root).returncode == 0
    assert command("export", module="nbgrader", cwd=root).returncode == 0
    assert "L2,,,torn,,,,,,,5.0,not graded" in (root / "grades.csv").read_text()
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "damaged") == {"L2_1": 2, "L2_2": 0, "EC8": 1}


def test_a_submission_that_cannot_be_graded_loses_the_scores_of_the_one_before(tmp_path: Path) -> None:
    folder = new_class(tmp_path / "class", small_course(tmp_path / "notebooks", "L2/kv_size"), "L2")
    path = hand_in(folder.root, "ada", "L2", {"kv_size": right()}) / "kv_size.ipynb"
    assert [one.score for one in grade(folder, ["L2"], say=lambda line: None)] == [5]
    path.write_text("")
    assert [one.reason is None for one in grade(folder, ["L2"], say=lambda line: None)] == [False]
    with folder.gradebook as gradebook:
        assert set(auto_scores(gradebook, "L2", "ada").values()) == {None}
    assert not (folder.root / "feedback" / "ada" / "L2").exists()


def test_personal_numbers_are_graded_for_the_learner_of_the_folder(tmp_path: Path) -> None:
    folder = new_class(
        tmp_path / "class", small_course(tmp_path / "notebooks", "L2/kv_size"), "L2", roster="ada\nbob\ncem\n"
    )
    personal = folder.root / "personal"
    hand_in(folder.root, "ada", "L2", {"kv_size": right(learner="ada")}, personal / "ada" / "L2")
    hand_in(folder.root, "bob", "L2", {"kv_size": right(learner="ada")}, personal / "bob" / "L2")
    hand_in(folder.root, "cem", "L2", {"kv_size": right(learner="ada")}, personal / "ada" / "L2")
    ada, bob, cem = grade(folder, ["L2"], say=lambda line: None)
    assert (ada.score, ada.points) == (5, 5)
    assert assignments("L2.1", "ada") != assignments("L2.1", "bob")
    assert bob.score < 5
    assert cem.reason is not None
    assert "made for 'ada', but the copy released to cem was made for cem" in cem.reason
    kept = nbformat.read(folder.root / "autograded" / "bob" / "L2" / "kv_size.ipynb", as_version=4)
    assert any('check("L2.1", learner="bob")' in cell.source for cell in kept.cells)


def test_nothing_is_graded_where_the_kernel_finds_no_key(graded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root, _ = graded
    before = (root / "gradebook.db").read_bytes()
    monkeypatch.setattr("grader.kernel._ASK", "import sys; sys.exit(3)")
    with pytest.raises(UserError, match="finds no answer key"):
        grade(open_class_folder(root), ["L2"])
    assert (root / "gradebook.db").read_bytes() == before
