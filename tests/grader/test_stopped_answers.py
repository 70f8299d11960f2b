"""An answer that never ends, or that ends the kernel, costs its own exercise: a sentence says so, the others are graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from grader.class_folder import ClassFolder, open_class_folder
from grader.grade import Graded, grade
from grader.report import report

from tests.grader.submissions import (
    auto_scores,
    before_everything,
    hand_in,
    new_class,
    right,
    small_course,
    then,
    written,
)

pytestmark = pytest.mark.slow

ALL = {"LAB2_1": 4, "LAB2_2": 3, "LAB2_3": 4, "LAB2_4": 3}
TIMEOUT_S = 10

HEAD = "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n"
ENDLESS = f"{HEAD}    while True:\n        pass"
NOT_TO_BE_STOPPED = f"""{HEAD}    while True:
        try:
            while True:
                pass
        except BaseException:
            pass"""
HANDED_IN = {
    "looping": then(
        right("LAB2.1", "LAB2.2"),
        written("LAB2.1", ENDLESS),
        written("LAB2.2", "LAB2_2_heads = 4\nwhile True:\n    pass\nLAB2_2_token_bytes = 57344"),
    ),
    "stubborn": then(right("LAB2.1"), written("LAB2.1", NOT_TO_BE_STOPPED)),
    "killing": then(
        right("LAB2.1"),
        written("LAB2.1", f"import os\n\n{HEAD}    os._exit(3)"),
        before_everything("import os\nos._exit(1)"),
    ),
    "leaving": then(
        right("LAB2.1", "LAB2.2"),
        written("LAB2.1", f"{HEAD}    exit()"),
        written("LAB2.2", "LAB2_2_heads = 4\nexit()\nLAB2_2_token_bytes = 57344"),
    ),
}
ENDLESS_NOTE = (
    "LAB2.1: the check calls `kv_bytes_per_token`, which ran longer than is allowed, so it counts as 0; look for a loop that "
    "does not end"
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[ClassFolder, dict[str, Graded]]:
    """A class whose instructor gives a cell a few seconds."""
    base = tmp_path_factory.mktemp("stopped")
    root = new_class(base / "class", small_course(base / "course", "L2/lab_kv_bytes"), "L2").root
    with open(root / "nbgrader_config.py", "a") as config:
        config.write(f"c.Execute.timeout = {TIMEOUT_S}\n")
    for student, change in HANDED_IN.items():
        hand_in(root, student, "L2", {"lab_kv_bytes": change})
    folder = open_class_folder(root)
    return folder, {one.student: one for one in grade(folder, ["L2"], say=lambda line: None)}


@pytest.mark.parametrize(
    ("student", "scores", "notes"),
    [
        (
            "looping",
            {**ALL, "LAB2_1": 0, "LAB2_2": 2},
            (ENDLESS_NOTE, "LAB2.2: the answer cell was stopped, since it ran longer than is allowed"),
        ),
        ("stubborn", {**ALL, "LAB2_1": 0}, (ENDLESS_NOTE,)),
        (
            "killing",
            {**ALL, "LAB2_1": 0},
            (
                "the cell that starts with 'import os' was stopped, since it ended the kernel",
                "LAB2.1: the check calls `kv_bytes_per_token`, which ended the kernel, so it counts as 0",
                # The lesson's last cell calls the function too.
                "the cell that starts with 'from llmserving import MODELS, kv_bytes_' was stopped, since it ended the kernel",
            ),
        ),
        ("leaving", {**ALL, "LAB2_1": 0, "LAB2_2": 2}, ("LAB2.2: the answer cell stopped with SystemExit",)),
    ],
)
def test_it_costs_its_own_exercise_with_a_sentence(graded: Any, student: str, scores: Any, notes: Any) -> None:
    folder, by_student = graded
    assert by_student[student].reason is None
    with folder.gradebook as gradebook:
        assert auto_scores(gradebook, "L2", student) == scores
    assert set(by_student[student].notes) == set(notes)


def test_the_learner_reads_the_sentence_in_the_feedback(graded: Any) -> None:
    folder, _ = graded
    feedback = Path(folder.root / "feedback" / "looping" / "L2" / "lab_kv_bytes.html").read_text()
    assert f"Note: {ENDLESS_NOTE}." in feedback


def test_the_report_has_its_line_all_the_same(graded: Any) -> None:
    folder, _ = graded
    lines = {tuple(line.split()[:2]): line for line in report(folder, "L2")}
    for student, name in (("looping", "ran_too_long"), ("stubborn", "ran_too_long"), ("killing", "ended_the_kernel")):
        assert "0 of 4" in lines[student, "LAB2.1"]
        assert lines[student, "LAB2.1"].endswith(name)
    assert "stopped" in lines["leaving", "LAB2.1"]
