"""What report and export say of scores that are not of what lies in the class folder now."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

from grader.class_folder import ClassFolder
from grader.export import export_grades
from grader.out_of_date import behind, out_of_date
from grader.report import report

from tests.grader.submissions import give_by_hand, graded, hand_in, in_own_words, right, then

LATER = "to be looked at again"


def exported(folder: ClassFolder, to: Path) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """What was said beside where the grades are, and student -> score and status."""
    said = export_grades(folder, to)
    assert said[0] == f"grades were written to {to}"
    with open(to, newline="", encoding="utf-8") as file:
        return said[1:], {row["student_id"]: (row["score"], row["status"]) for row in csv.DictReader(file)}


def test_points_by_hand_for_a_text_that_was_changed_are_marked_until_a_human_has_looked(
    folder: ClassFolder, tmp_path: Path
) -> None:
    to = tmp_path / "grades.csv"
    give_by_hand(folder, "ada", 1.5)
    assert not any(LATER in line for line in report(folder, "L1"))
    assert exported(folder, to)[1]["ada"] == ("8.5", "graded")
    hand_in(folder.root, "ada", "L1", {"two_phases": then(right(), in_own_words("Another text."))})
    graded(folder, students=["ada"])
    said = [" ".join(line.split()) for line in report(folder, "L1") if LATER in line]
    assert said == [
        f"ada WH1 1.5 of 2 own words graded by hand before, {LATER}",
        f"ada 1 score given by hand is from before it was graded anew, {LATER} in formgrader.",
    ]
    assert exported(folder, to) == ([], {"ada": ("8.5", LATER), "bob": ("7.0", "graded"), "cem": ("", "not graded")})
    give_by_hand(folder, "ada", 2)
    assert not any(LATER in line for line in report(folder, "L1"))
    assert exported(folder, to)[1]["ada"] == ("9.0", "graded")


def test_a_hand_in_that_cannot_be_graded_any_more_has_no_points_by_hand_to_look_at(folder: ClassFolder) -> None:
    give_by_hand(folder, "ada", 1.5)
    (folder.root / "submitted" / "ada" / "L1" / "two_phases.ipynb").write_text("")
    assert graded(folder, students=["ada"])["ada"].reason is not None
    assert not any(LATER in line for line in report(folder, "L1"))


def test_scores_that_are_not_of_what_lies_there_are_told_with_the_command_that_grades_it(
    folder: ClassFolder, tmp_path: Path
) -> None:
    to = tmp_path / "grades.csv"
    assert out_of_date("L1", behind(folder, "L1")) == []
    assert exported(folder, to)[1] == {"ada": ("", "not graded"), "bob": ("7.0", "graded"), "cem": ("", "not graded")}
    hand_in(folder.root, "ada", "L1", {"two_phases": right("SC1")})
    hand_in(folder.root, "dov", "L1", {})
    (folder.root / "submitted" / "cem" / "L1" / "two_phases.ipynb").write_text("still torn")
    shutil.rmtree(folder.root / "submitted" / "bob" / "L1")
    told = [
        "L1  the scores of ada are from before: what was handed in or released has changed since; first: "
        "python -m grader grade L1",
        "L1  handed in and not graded yet: dov; first: python -m grader grade L1",
        "L1  nothing is handed in any more by bob; the gradebook keeps what it has of them.",
    ]
    said = report(folder, "L1")
    assert said[-3:] == told
    assert not any("  not handed in" in line for line in said), "no exercise of bob's, since they were graded"
    rows = {
        "ada": ("", "not graded"),
        "bob": ("7.0", "graded before the hand-in was removed"),
        "cem": ("", "not graded"),
        "dov": ("", "not graded yet"),
    }
    assert exported(folder, to) == (told, rows), "in the file as on the screen"


def test_nbgraders_own_export_says_in_each_row_whose_score_is_out_of_date(folder: ClassFolder) -> None:
    hand_in(folder.root, "bob", "L1", {"two_phases": right("SC1")})
    hand_in(folder.root, "dov", "L1", {})
    wanted = {
        "ada": ("", "not graded"),
        "bob": ("7.0", "graded before a later hand-in or release"),
        "cem": ("", "not graded"),
        "dov": ("", "not graded yet"),
    }
    assert exported(folder, folder.root / "ours.csv")[1] == wanted
    subprocess.run([sys.executable, "-m", "nbgrader", "export", "--to", "theirs.csv"], cwd=folder.root, check=True)
    assert (folder.root / "theirs.csv").read_text() == (folder.root / "ours.csv").read_text()
    one = ["export", "--to", "one.csv", "--student", "['dov']"]
    subprocess.run([sys.executable, "-m", "nbgrader", *one], cwd=folder.root, check=True)
    assert [row.split(",")[3] for row in (folder.root / "one.csv").read_text().splitlines()[1:]] == ["dov"]


def test_another_release_makes_every_score_one_of_before(folder: ClassFolder) -> None:
    path = folder.root / "release" / "L1" / "two_phases.ipynb"
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    [line] = out_of_date("L1", behind(folder, "L1"))
    assert line.startswith("L1  the scores of ada, bob are from before")


def test_of_a_class_that_plain_nbgrader_has_graded_nothing_is_told(folder: ClassFolder) -> None:
    hand_in(folder.root, "bob", "L1", {"two_phases": right("SC1")})
    shutil.rmtree(folder.root / ".graded")
    assert out_of_date("L1", behind(folder, "L1")) == []
    (folder.root / "releases.json").unlink()
    assert out_of_date("L1", behind(folder, "L1")) == []
