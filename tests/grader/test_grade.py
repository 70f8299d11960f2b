"""Grading a class from the command line: who gets which rows, and that nobody's notebook harms another's."""

from __future__ import annotations

import codecs
import csv
import re
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.class_folder import init_class_folder, open_class_folder
from grader.errors import UserError
from grader.grade import grade
from grader.report import report
from grader.submission_files import called_otherwise, notes_on_files, why_not_found
from nbgrader.api import Gradebook

from grader import __main__ as cli
from tests.grader.submissions import (
    assignments,
    auto_scores,
    before_everything,
    claims,
    command,
    copied,
    copied_up,
    deleted,
    hand_in,
    moved,
    new_class,
    only_sources,
    right,
    saved_as,
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
    upset = then(right(), copied_up("check", "L2.1"), moved("answer", "L2.2", -1))
    marked = hand_in(root, "marked", "L2", {"kv_size": upset, "weights": then(right(), only_sources)})
    for name, encoding in (("kv_size", "utf-8-sig"), ("weights", "utf-16")):
        saved_as(encoding, marked / f"{name}.ipynb")
    renamed = hand_in(root, "renamed", "L2", both) / "kv_size.ipynb"
    renamed.rename(renamed.with_name("kv_size (1).ipynb"))
    saved_as("latin-1", hand_in(root, "unreadable", "L2", both) / "weights.ipynb", add="\xe9")
    hand_in(root, "impostor", "L2", {"kv_size": claims(learner="ada")})
    return root, command("grade", "L2", cwd=root)


def test_four_submissions_get_the_expected_rows(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "right") == ALL
        assert auto_scores(gradebook, "L2", "half") == {**ALL, "L2_2": 0, "EC8": 0, "L2_3": 0}
        assert auto_scores(gradebook, "L2", "untouched") == dict.fromkeys(ALL, 0)
        assert auto_scores(gradebook, "L2", "damaged") == ALL
        assert auto_scores(gradebook, "L2", "marked") == ALL


def test_a_check_that_is_tagged_not_to_run_earns_nothing(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "skipper") == dict.fromkeys(ALL, 0)


def test_a_syntax_error_costs_its_item_and_a_warning_costs_nothing(graded: Any) -> None:
    root, _ = graded
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert auto_scores(gradebook, "L2", "stumbler") == {**ALL, "L2_1": 0}


def close_up(told: str) -> str:
    """Without the spaces that put the levels of a class under each other."""
    return re.sub(r" +  L2  ", "  L2  ", told)


def test_one_line_a_learner_with_what_was_repaired(graded: Any) -> None:
    said = close_up(graded[1].stdout)
    assert "right  L2  10 of 10\n" in said
    assert "damaged  L2  10 of 10  L2.1: the check cell was copied; graded from the original.\n" in said
    assert "partial  L2  0 of 10  weights.ipynb was not handed in.\n" in said
    assert "L2.1: the answer cell stopped with SyntaxError: invalid syntax (line 1)." in said
    assert "L2.3: the check cell was missing; it was added back from the release." in said


def test_what_cannot_be_graded_is_listed_and_is_no_zero(graded: Any) -> None:
    root, told = graded
    assert told.returncode == 1
    said = close_up(told.stdout)
    assert "torn  L2  not graded, needs attention: kv_size.ipynb: it is not JSON" in said
    assert "impostor  L2  not graded, needs attention: kv_size.ipynb: the notebook says it was made for 'ada'" in said
    assert (
        "renamed  L2  not graded, needs attention: kv_size.ipynb was not handed in under that name, "
        "but kv_size (1).ipynb was; rename it if that is the notebook\n"
    ) in said
    assert "unreadable  L2  not graded, needs attention: weights.ipynb: it is not saved as UTF-8" in said
    assert said.endswith("8 of 12 graded. Needs attention: impostor (L2), renamed (L2), torn (L2), unreadable (L2).\n")
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        for student in ("torn", "impostor", "renamed", "unreadable"):
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
    of_partial = [" ".join(line[1:]) for line in lines if line[0] == "partial"]
    assert of_partial[3:] == [
        "L2.3 0 of 4 not handed in", "SC6 0 of 1 not handed in", "weights.ipynb was not handed in."
    ]  # fmt: skip
    assert [line.split()[0] for line in of_partial[:3]] == ["L2.1", "L2.2", "EC8"]


def test_export_has_blanks_and_no_zero_for_what_is_not_graded(graded: Any, tmp_path: Path) -> None:
    root, _ = graded
    assert cli.main(["export", "--to", str(tmp_path / "grades.csv"), "--class", str(root)]) == 0
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert (rows["half"]["score"], rows["half"]["max_score"], rows["half"]["status"]) == ("3.0", "10.0", "graded")
    assert (rows["torn"]["score"], rows["torn"]["status"]) == ("", "not graded")


def test_what_was_handed_in_stays_as_it_was(graded: Any) -> None:
    root, _ = graded
    assert (root / "submitted" / "marked" / "L2" / "kv_size.ipynb").read_bytes().startswith(codecs.BOM_UTF8)
    assert not list(root.glob(".reading-*"))


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (["kv_size.ipynb", "weights.ipynb", "notes.ipynb"], None),
        (["weights.ipynb"], None),
        (["weights.ipynb", "notes.ipynb"], None),
        (
            ["weights.ipynb", "kv_size_final.ipynb"],
            "kv_size.ipynb was not handed in under that name, but kv_size_final.ipynb",
        ),
        (
            ["weights.ipynb", "L2/KV size.ipynb"],
            "kv_size.ipynb was not handed in under that name, but L2/KV size.ipynb was",
        ),
        (
            ["L2/kv_size.ipynb", "b (1).ipynb"],
            "wanted kv_size.ipynb, weights.ipynb; found L2/kv_size.ipynb, b (1).ipynb",
        ),
        ([".ipynb_checkpoints/kv_size.ipynb"], "wanted kv_size.ipynb, weights.ipynb; found no notebook"),
    ],
)
def test_a_file_under_another_name_is_named(
    graded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], sentence: str | None
) -> None:
    monkeypatch.setattr("grader.submission_files._submitted", lambda *_: tmp_path)
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    told = why_not_found(open_class_folder(graded[0]), "L2", "somebody")
    assert (told is None) if sentence is None else (sentence in str(told))


def test_a_second_file_beside_the_notebook_is_mentioned(
    graded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.submission_files._submitted", lambda *_: tmp_path)
    for name in ("kv_size.ipynb", "kv_size (1).ipynb"):
        (tmp_path / name).write_text("")
    assert notes_on_files(open_class_folder(graded[0]), "L2", "somebody") == (
        "weights.ipynb was not handed in",
        "kv_size (1).ipynb was not graded; kv_size.ipynb was",
    )


def test_a_level_that_does_not_exist_is_not_to_be_released(graded: Any) -> None:
    with pytest.raises(UserError, match="there is no level 'L9' here; there is L2"):
        grade(open_class_folder(graded[0]), ["L9"])
    with pytest.raises(UserError, match="there is no level 'L9' here; there is L2"):
        report(open_class_folder(graded[0]), "L9")


def test_each_of_two_files_under_other_names_is_named(
    graded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.submission_files._submitted", lambda *_: tmp_path)
    monkeypatch.setattr("grader.submission_files._wanted", lambda *_: ["a.ipynb", "kv_size.ipynb", "weights.ipynb"])
    for name in ("a.ipynb", "kv_size (1).ipynb", "weights-2.ipynb"):
        (tmp_path / name).write_text("")
    told = str(why_not_found(open_class_folder(graded[0]), "L2", "somebody"))
    assert "kv_size.ipynb was not handed in under that name, but kv_size (1).ipynb was; " in told
    assert "weights.ipynb was not handed in under that name, but weights-2.ipynb was; " in told


def test_a_file_is_tried_for_a_notebook_only_where_it_can_be_no_other(
    graded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.submission_files._submitted", lambda *_: tmp_path)
    folder = open_class_folder(graded[0])
    (tmp_path / "old").mkdir()
    for name in ("old/kv_size.ipynb", "Weights.ipynb"):
        (tmp_path / name).write_text("")
    found = {"kv_size.ipynb": "old/kv_size.ipynb", "weights.ipynb": "Weights.ipynb"}
    assert called_otherwise(folder, "L2", "somebody") == found
    (tmp_path / "weights 2.ipynb").write_text("")
    assert called_otherwise(folder, "L2", "somebody") == {"kv_size.ipynb": "old/kv_size.ipynb"}
    (tmp_path / "kv_size and weights.ipynb").write_text("")
    assert called_otherwise(folder, "L2", "somebody") == {}


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


def test_a_name_with_accents_is_one_student_however_it_is_spelt(tmp_path: Path) -> None:
    composed, apart = "Zo\xeb", "Zoe\u0308"
    course = small_course(tmp_path / "notebooks", "L2/kv_size")
    folder = new_class(tmp_path / "class", course, "L2", roster=f"{apart}\n\u674e\u5a1c\n")
    assert sorted(path.name for path in (folder.root / "personal").iterdir()) == [composed, "\u674e\u5a1c"]
    for student in (composed, apart, "\u674e\u5a1c"):
        owner = composed if student == apart else student
        hand_in(folder.root, student, "L2", {"kv_size": right(learner=owner)}, folder.root / "personal" / owner / "L2")
    by_student = {one.student: one for one in grade(folder, ["L2"], say=lambda line: None)}
    assert by_student[composed].score == by_student["\u674e\u5a1c"].score == 5
    assert str(by_student[apart].reason).endswith(f"that is another name; rename the folder to {composed}")
    with folder.gradebook as gradebook:
        assert {student.id for student in gradebook.students} == {composed, "\u674e\u5a1c"}
    assert cli.main(["export", "--to", str(tmp_path / "grades.csv"), "--class", str(folder.root)]) == 0
    assert f",{composed}," in (tmp_path / "grades.csv").read_text(encoding="utf-8")


def test_a_folder_that_is_on_no_roster_has_the_course_s_numbers_whatever_it_is_called(tmp_path: Path) -> None:
    folder = new_class(tmp_path / "class", small_course(tmp_path / "notebooks", "L2/kv_size"), "L2", roster="ada\n")
    hand_in(folder.root, "Zo\xeb, late", "L2", {"kv_size": right()})
    assert [one.score for one in grade(folder, ["L2"], say=lambda line: None)] == [5]


def test_nothing_is_graded_where_the_kernel_finds_no_key(graded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root, _ = graded
    before = (root / "gradebook.db").read_bytes()
    monkeypatch.setattr("grader.kernel._ASK", "import sys; sys.exit(3)")
    with pytest.raises(UserError, match="finds no answer key"):
        grade(open_class_folder(root), ["L2"])
    assert (root / "gradebook.db").read_bytes() == before
