"""Grading once more: only what differs since is graded, nothing stale stands, and what a human gave is never lost."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grader.class_folder import ClassFolder
from grader.errors import UserError
from grader.export import export_grades
from grader.grade import grade, summary
from grader.unchanged import Standing, hash_of_installed, hash_of_read, kept_standing, standing_of

from grader import __main__ as cli
from grader import unchanged
from tests.grader.submissions import (
    claims,
    give_by_hand,
    graded,
    hand_in,
    in_own_words,
    new_class,
    right,
    saved_as,
    small_course,
    stopped,
    then,
)


class Runs:
    """What nbgrader was asked to do, submission by submission, beside doing it."""

    def __init__(self, folder: ClassFolder, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, str]] = []
        for step in ("autograde", "generate_feedback"):
            monkeypatch.setattr(folder.api, step, self._noting(step, getattr(folder.api, step)))

    def _noting(self, step: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def noted(level: str, student: str, **options: Any) -> Any:
            self.done.append((step, student))
            return run(level, student, **options)

        return noted

    def since(self) -> list[tuple[str, str]]:
        done, self.done = self.done, []
        return done


@pytest.fixture
def runs(folder: ClassFolder, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(folder, monkeypatch)


BOTH = [("autograde", "bob"), ("generate_feedback", "bob")]
CEM = [("autograde", "cem")]


def test_what_has_not_changed_is_told_and_not_run_and_what_needed_attention_is_tried_again(
    folder: ClassFolder, runs: Runs
) -> None:
    again = graded(folder)
    assert runs.since() == CEM
    assert again["bob"].line() == "bob  L1  7 of 9  unchanged."
    assert again["ada"].notes == ("unchanged", "1 answer in own words to be graded by hand, in formgrader")
    assert again["cem"].reason is not None
    assert summary(list(again.values())) == (
        "2 of 3 graded, 2 of them before and unchanged since (--again grades all). Needs attention: cem (L1)."
    )


def test_again_grades_all(folder: ClassFolder, runs: Runs) -> None:
    again = graded(folder, students=["bob"], again=True)
    assert runs.since() == BOTH
    assert again["bob"].line() == "bob  L1  7 of 9"
    assert summary(list(again.values())) == "1 of 1 graded."


def add_a_space(path: Path) -> None:
    path.chmod(0o644)
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")


def write_score(folder: ClassFolder, **fields: Any) -> None:
    with folder.gradebook as gradebook:
        for one in gradebook.find_submission("L1", "bob").notebooks[0].grades:
            for name, value in fields.items():
                setattr(one, name, value)
        gradebook.db.commit()


def lose_row(folder: ClassFolder) -> None:
    with folder.gradebook as gradebook:
        gradebook.remove_submission("L1", "bob")


def set_a_due_date(folder: ClassFolder) -> None:
    with folder.gradebook as gradebook:
        gradebook.update_or_create_assignment("L1", duedate="2026-01-01 00:00:00")


def standing_now(folder: ClassFolder) -> Standing:
    return standing_of(folder, "L1", "bob", read_by(folder, "bob"), "installed")


CHANGES: dict[str, Callable[[ClassFolder], Any]] = {
    "the notebook": lambda of: add_a_space(of.root / "submitted" / "bob" / "L1" / "two_phases.ipynb"),
    "a file beside it": lambda of: (of.root / "submitted" / "bob" / "L1" / "recordings.json").write_text("{}"),
    "the release": lambda of: add_a_space(of.root / "release" / "L1" / "two_phases.ipynb"),
    "nbgrader's settings": lambda of: add_a_space(of.root / "nbgrader_config.py"),
    "a module of theirs": lambda of: (of.root / "late.py").write_text("POINTS = 1\n"),
    "the graded notebook": lambda of: add_a_space(of.root / "autograded" / "bob" / "L1" / "two_phases.ipynb"),
    "no graded notebook": lambda of: shutil.rmtree(of.root / "autograded" / "bob"),
    "a score in the gradebook": lambda of: write_score(of, auto_score=0.5),
    "no row in the gradebook": lose_row,
    "when it was due": set_a_due_date,
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_a_score_comes_from_differs_when_it_is_another(folder: ClassFolder, what: str) -> None:
    before = standing_now(folder)
    assert standing_now(folder) == before
    CHANGES[what](folder)
    assert standing_now(folder).work != before.work


def test_what_differs_is_graded_once_more(folder: ClassFolder, runs: Runs) -> None:
    lose_row(folder)
    again = graded(folder, students=["bob"])["bob"]
    assert runs.since() == BOTH
    assert (again.score, again.unchanged) == (7, False)
    graded(folder, students=["bob"])
    assert runs.since() == []


def test_whatever_shows_the_scores_is_written_again_without_running_anything(folder: ClassFolder, runs: Runs) -> None:
    shutil.rmtree(folder.root / "feedback" / "bob")
    again = graded(folder, students=["bob"])["bob"]
    assert runs.since() == [("generate_feedback", "bob")]
    assert again.line() == "bob  L1  7 of 9  unchanged, with its feedback written anew."
    assert (folder.root / "feedback" / "bob" / "L1" / "two_phases.html").exists()


def needs_manual_grade(folder: ClassFolder) -> bool:
    with folder.gradebook as gradebook:
        return bool(gradebook.find_grade("WH1-own-words", "two_phases", "L1", "ada").needs_manual_grade)


def test_what_a_human_gives_is_in_the_feedback_the_next_time_and_nothing_is_run(
    folder: ClassFolder, runs: Runs
) -> None:
    for points, comment in ((1.5, "the first half"), (2.0, "both halves")):
        give_by_hand(folder, "ada", points, comment)
        again = graded(folder, students=["ada"])["ada"]
        assert runs.since() == [("generate_feedback", "ada")]
        assert (again.score, again.notes) == (7 + points, ("unchanged, with its feedback written anew",))
        assert comment in (folder.root / "feedback" / "ada" / "L1" / "two_phases.html").read_text()
        assert not needs_manual_grade(folder)
    graded(folder, students=["ada"])
    assert runs.since() == []


def test_what_a_human_gave_stands_for_a_new_hand_in_and_is_to_be_looked_at_again(folder: ClassFolder) -> None:
    give_by_hand(folder, "ada", 1.5, "the first half")
    graded(folder, students=["ada"])
    hand_in(folder.root, "ada", "L1", {"two_phases": then(right("SC1"), in_own_words())})
    for _ in range(2):
        again = graded(folder, students=["ada"])["ada"]
        assert again.notes[-1] == (
            "1 score given by hand is from before it was graded anew, to be looked at again in formgrader"
        )
        assert again.score < 8.5
        assert needs_manual_grade(folder)
    give_by_hand(folder, "ada", 1, "less")
    assert graded(folder, students=["ada"])["ada"].notes == ("unchanged, with its feedback written anew",)


def test_a_run_that_is_stopped_half_way_leaves_nothing_that_stands(
    folder: ClassFolder, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(folder.api, "generate_feedback", stopped)
        with pytest.raises(KeyboardInterrupt):
            graded(folder, students=["bob"], again=True)
    assert kept_standing(folder.root, "L1", "bob") is None
    runs.since()
    assert not graded(folder, students=["bob"])["bob"].unchanged
    assert runs.since() == BOTH


def test_a_run_that_is_stopped_while_it_grades_leaves_no_score_of_before(
    folder: ClassFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(folder.api, "autograde", stopped)
        with pytest.raises(KeyboardInterrupt):
            graded(folder, students=["bob"], again=True)
    export_grades(folder, tmp_path / "grades.csv")
    with open(tmp_path / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: (row["score"], row["status"]) for row in csv.DictReader(file)}
    assert rows["bob"] == ("", "not graded yet")
    assert graded(folder, students=["bob"])["bob"].score == 7


def test_a_score_whose_hand_in_was_removed_is_told_of(folder: ClassFolder) -> None:
    shutil.rmtree(folder.root / "submitted" / "bob" / "L1")
    said: list[str] = []
    grade(folder, ["L1"], said.append)
    assert said[-1] == "L1  nothing is handed in any more by bob; the gradebook keeps what it has of them."
    said.clear()
    grade(folder, ["L1"], said.append, students=["ada"])
    assert not any("any more" in line for line in said)


def test_what_cannot_be_graded_any_more_is_not_known_as_graded(folder: ClassFolder) -> None:
    path = folder.root / "submitted" / "bob" / "L1" / "two_phases.ipynb"
    before = path.read_bytes()
    path.write_text("")
    assert graded(folder, students=["bob"])["bob"].reason is not None
    path.write_bytes(before)
    again = graded(folder, students=["bob"])["bob"]
    assert (again.score, again.unchanged) == (7, False)


def test_another_key_another_library_or_another_kernel_is_another_installation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = hash_of_installed()
    assert hash_of_installed() == before
    for name in ("grader", "llmserving"):
        with monkeypatch.context() as patch:
            package = getattr(unchanged, name)
            copy = tmp_path / name
            copy.mkdir()
            (copy / "__init__.py").write_text("changed = True\n")
            patch.setattr(package, "__file__", str(copy / "__init__.py"))
            assert hash_of_installed() != before
    with monkeypatch.context() as patch:
        patch.setattr(unchanged, "distributions", list)
        assert hash_of_installed() != before
    monkeypatch.setattr(unchanged, "kernel_python", lambda: "/elsewhere/python")
    assert hash_of_installed() != hash_of_installed(), "what is installed elsewhere is not seen"


def test_another_installation_is_another_work(made: ClassFolder) -> None:
    works = {standing_of(made, "L1", "bob", read_by(made, "bob"), installed).work for installed in "ab"}
    assert len(works) == 2


def read_by(folder: ClassFolder, student: str) -> str:
    return hash_of_read(folder, "L1", student)


def test_a_note_of_how_it_stood_that_cannot_be_read_stands_for_nothing(folder: ClassFolder) -> None:
    assert kept_standing(folder.root, "L1", "bob") is not None
    for damage in ("{", "[]", '{"work": "x"}'):
        (folder.root / ".graded" / "L1" / "bob.json").write_text(damage)
        assert kept_standing(folder.root, "L1", "bob") is None


def list_releases(folder: ClassFolder, **fields: Any) -> None:
    path = folder.root / "releases.json"
    rows = json.loads(path.read_text())["releases"]
    path.write_text(json.dumps({"releases": [*rows[:-1], {**rows[-1], **fields}]}))


def test_a_late_student_on_the_roster_is_no_news_to_the_others(folder: ClassFolder) -> None:
    course = read_by(folder, "bob")
    list_releases(folder, learners=["ada"])
    default = read_by(folder, "bob")
    list_releases(folder, learners=["ada", "bob"])
    own = read_by(folder, "bob")
    assert len({course, default, own}) == 3
    list_releases(folder, learners=["ada", "bob", "cem"], date="2030-01-01")
    assert read_by(folder, "bob") == own


@pytest.mark.parametrize("fields", [{"version": "v9"}, {"exercises": {"TF1": 9}}, {"own_words": 3.0}])
def test_a_release_that_could_change_a_verdict_is_news(folder: ClassFolder, fields: dict[str, Any]) -> None:
    before = read_by(folder, "bob")
    list_releases(folder, **fields)
    assert read_by(folder, "bob") != before


def test_a_file_that_cannot_be_read_counts_as_changed(folder: ClassFolder) -> None:
    (folder.root / "submitted" / "bob" / "L1" / "gone").symlink_to("nowhere")
    assert read_by(folder, "bob") != read_by(folder, "bob")
    assert Standing("read", "work", "marks") != kept_standing(folder.root, "L1", "bob")


def test_only_the_students_that_are_named_are_graded(folder: ClassFolder, runs: Runs) -> None:
    told: list[str] = []
    assert [one.student for one in grade(folder, ["L1"], told.append, students=["cem"])] == ["cem"]
    assert runs.since() == CEM
    assert len(told) == 1


def test_the_options_are_those_of_the_command_line(folder: ClassFolder, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*words: str) -> list[str]:
        cli.main(["grade", "L1", "--class", str(folder.root), *words])
        return capsys.readouterr().out.splitlines()

    assert said("--student", "bob", "--student", "cem")[0] == "bob  L1  7 of 9  unchanged."
    assert said("--student", "bob", "cem", "--again")[0] == "bob  L1  7 of 9"
    assert cli.main(["grade", "L1", "--class", str(folder.root), "--student", "bo"]) == 2
    assert "did you mean bob?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "there"),
    [("Adda", "did you mean ada?"), ("zoe", "there is ada, bob, cem"), ("", "there is ada, bob, cem")],
)
def test_a_student_who_has_handed_in_nothing_is_told_with_those_near(
    folder: ClassFolder, runs: Runs, name: str, there: str
) -> None:
    with pytest.raises(UserError) as refused:
        graded(folder, students=["bob", name], again=True)
    assert str(refused.value) == f"{name!r} has handed in nothing of L1 in submitted/; {there}"
    assert runs.since() == []


def test_of_two_faults_of_a_hand_in_both_are_told(tmp_path: Path) -> None:
    course = small_course(tmp_path / "course", "L2/kv_size", "L2/weights")
    folder = new_class(tmp_path / "class", course, "L2")
    both = hand_in(folder.root, "both", "L2", {})
    for name in ("kv_size", "weights"):
        (both / f"{name}.ipynb").write_text('{"cells": [')
    differ = hand_in(folder.root, "differ", "L2", {"kv_size": claims(learner="ada")})
    (differ / "weights.ipynb").write_text("")
    hand_in(folder.root, "one", "L2", {"kv_size": claims(learner="ada"), "weights": right()})
    renamed = hand_in(folder.root, "renamed", "L2", {"kv_size": right()})
    saved_as("utf-16", renamed / "kv_size.ipynb")
    (renamed / "kv_size.ipynb").rename(renamed / "kv_size (1).ipynb")
    (renamed / "weights.ipynb").write_text("")
    torn = hand_in(folder.root, "torn", "L2", {"weights": right()})
    (torn / "kv_size.ipynb").write_text("")
    for name in ("kv_size", "weights"):
        (torn / f"{name}.ipynb").rename(torn / f"{name} (1).ipynb")
    reasons = {one.student: one.reason or "" for one in grade(folder, ["L2"], lambda line: None)}
    assert reasons["renamed"] == (
        "kv_size.ipynb was not handed in under that name, but kv_size (1).ipynb was; rename it if that is the notebook; "
        "weights.ipynb: it is not JSON, so no notebook; perhaps it was cut short"
    )
    assert reasons["torn"] == (
        "none of the level's notebooks was handed in: wanted kv_size.ipynb, weights.ipynb; found kv_size (1).ipynb, "
        "weights (1).ipynb; kv_size (1).ipynb: it is not JSON, so no notebook; perhaps it was cut short"
    )
    assert sorted(path.name for path in torn.glob("*.ipynb")) == ["kv_size (1).ipynb", "weights (1).ipynb"]
    assert reasons["both"] == ("kv_size.ipynb, weights.ipynb: it is not JSON, so no notebook; perhaps it was cut short")
    assert reasons["differ"].startswith("kv_size.ipynb: the notebook says it was made for 'ada', ")
    assert reasons["differ"].endswith("; weights.ipynb: it is not JSON, so no notebook; perhaps it was cut short")
    assert "weights.ipynb" not in reasons["one"]
    with folder.gradebook as gradebook:
        for student in reasons:
            submission = gradebook.find_submission("L2", student)
            scores = [one.auto_score for notebook in submission.notebooks for one in notebook.grades]
            assert set(scores) == {None}, "no part of a submission is graded"
    assert not (folder.root / "autograded" / "one" / "L2").exists()
