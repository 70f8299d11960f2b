"""Measurements in a class: recordings.json travels with the notebook, is judged by its form, and is missed with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.answer_key.solutions import other_inputs
from grader.grade import grade
from grader.preprocessors.cells import report_of, start_report
from grader.preprocessors.recordings_note import note_recordings
from grader.report import report
from llmserving.exercises import recordings, session
from llmserving.exercises.recordings import RECORDINGS_FILE

from tests.grader.submissions import (
    Change,
    auto_scores,
    hand_in,
    new_class,
    record_beside,
    right,
    small_course,
    then,
)

MEASURED = ("LAB1.1", "LAB1.2", "LAB1.3")
ALL = {"LAB1_1": 4, "LAB1_2": 2, "LAB1_3": 3, "LAB1_4": 3}
SO = "so what was measured counts as not recorded; with the file beside the notebook it can be graded again"


@pytest.fixture(autouse=True, scope="module")
def _a_learner_s_machine() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(session.RECORDS_VARIABLE, raising=False)
        patch.setattr(recordings, "_in_memory", [])
        yield


def shown_as_recorded(notebook: Any) -> None:
    """The outputs of the cells that measure, as they stand in a notebook that was worked through."""
    for cell in notebook.cells:
        if "record(" in cell.source and "live" in cell.metadata.get("tags", []):
            shown = {"text/plain": "L1.lab.phases · recorded"}
            cell.outputs = [nbformat.v4.new_output("execute_result", shown, execution_count=1)]


def forge(folder: Path) -> None:
    record_beside(folder, *MEASURED)
    path = folder / RECORDINGS_FILE
    made = json.loads(path.read_text())
    made["recordings"][0]["fields"]["decode_seconds"] = [-1, "fast", 1e12]
    path.write_text(json.dumps(made))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A class of which the instructor has done the lab in the course's own folder."""
    base = tmp_path_factory.mktemp("recordings")
    course = small_course(base / "course", "L1/lab_two_phases")
    record_beside(course / "L1", *MEASURED)
    folder = new_class(base / "class", course, "L1")

    def submitted(student: str, change: Change) -> Path:
        return hand_in(folder.root, student, "L1", {"lab_two_phases": change})

    answers, elsewhere = right(records=False), right(records=False, inputs=other_inputs)
    record_beside(submitted("here", answers), *MEASURED)
    record_beside(submitted("elsewhere", elsewhere), *MEASURED, inputs=other_inputs)
    record_beside(submitted("neighbour", answers), *MEASURED, inputs=other_inputs)
    submitted("shown", then(answers, shown_as_recorded))
    (submitted("torn", answers) / RECORDINGS_FILE).write_text('{"recordings": [')
    forge(submitted("forged", answers))
    submitted("untouched", lambda notebook: None)
    return folder, {one.student: one for one in grade(folder, ["L1"], say=lambda line: None)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("student", "scores", "note"),
    [
        ("here", ALL, None),
        ("elsewhere", ALL, None),
        # Another machine's recording is as good as any; numbers that were worked out from one's own do not fit it.
        ("neighbour", {"LAB1_1": 1, "LAB1_2": 1, "LAB1_3": 2, "LAB1_4": 3}, None),
        ("shown", {"LAB1_1": 0, "LAB1_2": 0, "LAB1_3": 1, "LAB1_4": 3}, f"{RECORDINGS_FILE} was not handed in, {SO}"),
        ("torn", {"LAB1_1": 0, "LAB1_2": 0, "LAB1_3": 1, "LAB1_4": 3}, f"{RECORDINGS_FILE} could not be read, {SO}"),
        ("forged", {**ALL, "LAB1_1": 0}, None),
        ("untouched", dict.fromkeys(ALL, 0), None),
    ],
)
def test_a_recording_counts_from_whichever_machine_it_is(
    graded: Any, student: str, scores: dict[str, float], note: str | None
) -> None:
    folder, by_student = graded
    assert by_student[student].reason is None
    with folder.gradebook as gradebook:
        assert auto_scores(gradebook, "L1", student) == scores
    assert by_student[student].notes == ((f"{', '.join(MEASURED)}: {note}",) if note else ())


@pytest.mark.slow
def test_the_learner_and_the_instructor_read_why(graded: Any) -> None:
    folder, _ = graded

    def feedback(student: str) -> str:
        return Path(folder.root / "feedback" / student / "L1" / "lab_two_phases.html").read_text()

    assert f"Note: {', '.join(MEASURED)}: {RECORDINGS_FILE} was not handed in, {SO}." in feedback("shown")
    assert "Nothing was recorded as L1.lab.phases yet" in feedback("shown")
    assert "What was recorded as L1.lab.phases is off" in feedback("forged")
    lines = [line for line in report(folder, "L1") if line.startswith("forged ") and "LAB1.1" in line]
    assert "phases unreadable, slower open, read open, prompt_read open" in lines[0]


@pytest.mark.slow
def test_the_instructor_s_own_recordings_are_neither_handed_out_nor_graded(graded: Any) -> None:
    folder, _ = graded
    assert not list((folder.root / "release").rglob(RECORDINGS_FILE))
    kept = folder.root / "autograded" / "elsewhere" / "L1" / RECORDINGS_FILE
    assert kept.read_bytes() == (folder.root / "submitted" / "elsewhere" / "L1" / RECORDINGS_FILE).read_bytes()
    assert not (folder.root / "autograded" / "untouched" / "L1" / RECORDINGS_FILE).exists()


def check_cell(name: str, role: str, source: str) -> Any:
    return nbformat.v4.new_code_cell(source, metadata={"llmserving": {"role": role, "exercise": name}})


@pytest.mark.parametrize(
    ("files", "answer", "note"),
    [
        ({}, "LAB1_1_slower = 3", f"LAB1.1: {RECORDINGS_FILE} was not handed in, {SO}"),
        (
            {"recordings (1).json": "{}"},
            "LAB1_1_slower = 3",
            f"LAB1.1: {RECORDINGS_FILE} was not handed in under that name, but recordings (1).json was, {SO}",
        ),
        ({RECORDINGS_FILE: "[]"}, "LAB1_1_slower = 3", f"LAB1.1: {RECORDINGS_FILE} could not be read, {SO}"),
        ({RECORDINGS_FILE: '{"recordings": []}'}, "LAB1_1_slower = 3", None),
        ({}, "LAB1_1_slower = ...", None),
        ({}, "record('L1.lab.phases', weights=1)\nLAB1_1_slower = 3", None),
    ],
)
def test_a_file_that_is_missing_is_told_to_whoever_has_answered(
    tmp_path: Path, files: dict[str, str], answer: str, note: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [check_cell("LAB1.1", "answer", answer), check_cell("LAB1.1", "check", 'check("LAB1.1")')]
    start_report(notebook, "ada", "default")
    note_recordings(notebook, tmp_path)
    assert [one["text"] for one in report_of(notebook)["notes"]] == ([note] if note else [])
