"""Progress lies in the learner's own folder; what cannot be read is kept, what cannot be written is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llmserving import another, check, hint, solution, status
from llmserving.exercises import learner, session
from llmserving.exercises.progress import PROGRESS_FILE, Progress


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    records = tmp_path / session.RECORDS_FOLDER
    records.mkdir()
    (tmp_path / "L2").mkdir()
    monkeypatch.chdir(tmp_path / "L2")
    monkeypatch.delenv(session.LEARNER_VARIABLE, raising=False)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    restart_kernel(monkeypatch)
    return records


def restart_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "PROGRESS", Progress())


def stored(folder: Path) -> dict[str, Any]:
    exercises: dict[str, Any] = json.loads((folder / PROGRESS_FILE).read_text())["exercises"]
    return exercises


def test_an_attempt_is_kept_in_the_folder_above_the_notebook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("L2.1", 1.07)
    kept = stored(folder)["L2.1"]
    (digest,) = kept.pop("answers")
    assert len(digest) == 12
    assert kept == {
        "attempts": 1, "best": 2.0, "solved": "right first time", "hints": {}, "parts_off": [], "practice": 0, "ticked": [],
        "recalled": 0, "recalled_right": 0, "recall_draw": 0, "turn": 1, "groups_off": {}, "parts_unread": [],
    }  # fmt: skip
    restart_kernel(monkeypatch)
    assert repr(status()).startswith("1 of ")


def test_nothing_that_the_learner_wrote_is_kept(folder: Path) -> None:
    check("L2.1", "0.123456 GB")
    assert "0.123456" not in (folder / PROGRESS_FILE).read_text()


def test_an_answer_that_could_not_be_read_is_no_attempt(folder: Path) -> None:
    check("L2.1", ...)
    assert not (folder / PROGRESS_FILE).exists()


def test_a_solved_exercise_stays_solved_and_keeps_its_best(folder: Path) -> None:
    check("L2.1", 1.07)
    check("L2.1", 5)
    assert stored(folder)["L2.1"]["solved"] == "right first time"
    assert stored(folder)["L2.1"]["best"] == 2
    assert stored(folder)["L2.1"]["parts_off"] == ["kv_gb"]


def test_the_learner_of_the_folder_gets_the_learner_s_numbers(folder: Path) -> None:
    (folder / session.LEARNER_FILE).write_text('{"learner": "ada"}')
    assert session.current_learner() == "ada"
    assert check("L2.1", 1.07) == 0.0


NOBODY = ["", "{", "[]", '{"learner": 7}', '{"learner": "../x"}', "[" * 100_000]


@pytest.mark.parametrize("text", NOBODY, ids=[text[:20] for text in NOBODY])
@pytest.mark.parametrize(
    "call", [lambda: check("L2.1", 1.07), status, lambda: solution("L2.1"), lambda: another("L2.1")]
)
def test_a_learner_file_that_names_nobody_gives_the_course_s_numbers_and_that_is_told_once(
    folder: Path, text: str, call: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / session.LEARNER_FILE
    path.write_text(text)
    assert session.current_learner() == "default"
    told = repr(call()) + capsys.readouterr().out
    assert str(path) in told
    assert "cannot be read, so the course's own numbers are used" in told
    assert f'python -m grader learn "{folder.parent}" makes it again.' in told
    assert path.read_text() == text
    again = repr(call()) + repr(status()) + capsys.readouterr().out
    assert "cannot be read" not in again


@pytest.mark.parametrize("text", [None, '{"learner": "ada"}'])
def test_a_learner_file_that_is_read_or_not_there_is_not_talked_about(folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / session.LEARNER_FILE).write_text(text)
    assert "learner.json" not in repr(status())


def test_a_learner_that_the_environment_names_needs_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / session.LEARNER_FILE).write_text("{")
    monkeypatch.setenv(session.LEARNER_VARIABLE, "ada")
    assert "learner.json" not in repr(status())


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    '{"exercises": 3}',
    '{"exercises": {"L2.1": 3}}',
    '{"exercises": {"L2.1": {"unknown": 1}}}',
    '{"exercises": {"L2.1": {"attempts": "two"}}}',
    '{"exercises": {"L2.1": {"attempts": -1}}}',
    '{"exercises": {"L2.1": {"best": NaN}}}',
    '{"exercises": {"L2.1": {"best": 1e300}}}',
    '{"exercises": {"L2.1": {"hints": null}}}',
    '{"exercises": {"L2.1": {"hints": {"kv_gb": "x"}}}}',
    '{"exercises": {"L2.1": {"parts_off": 5}}}',
    '{"exercises": {"L2.1": {"recalled": -1}}}',
    '{"exercises": {"L2.1": {"recalled": 1, "recalled_right": 2}}}',
    '{"exercises": {"L2.1": {"recall_draw": "1"}}}',
    '{"exercises": {"L2.1": {"turn": null}}}',
    '{"exercises": {"L2.1": {"answers": [1]}}}',
    '{"exercises": {"L2.1": {"answers": "x"}}}',
    '{"exercises": {"L2.1": {"ticked": [-1]}}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("text", BROKEN, ids=[text[:50] for text in BROKEN])
def test_a_corrupt_file_is_set_aside_and_told_and_a_new_one_begun(
    folder: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / PROGRESS_FILE).write_text(text)
    assert check("L2.1", 1.07) == 2.0
    assert "could not be read; it was kept as progress.unreadable-1.json" in capsys.readouterr().out
    assert (folder / "progress.unreadable-1.json").read_text() == text
    assert stored(folder)["L2.1"]["solved"] == "right first time"
    check("L2.1", 1.07)
    assert "Records" not in capsys.readouterr().out, "told once"


def test_a_file_from_before_there_was_recall_is_read_and_goes_on(folder: Path) -> None:
    old = {
        "attempts": 2,
        "best": 2.0,
        "solved": "right after hints",
        "hints": {"kv_gb": 1},
        "parts_off": [],
        "practice": 3,
    }
    (folder / PROGRESS_FILE).write_text(json.dumps({"exercises": {"L2.1": old}}))
    assert repr(status()).startswith("1 of ")
    check("L2.1", 1.07)
    kept = stored(folder)["L2.1"]
    assert len(kept.pop("answers")) == 1
    assert kept == old | {
        "attempts": 3, "recalled": 0, "recalled_right": 0, "recall_draw": 0, "turn": 1, "ticked": [],
        "groups_off": {}, "parts_unread": [],
    }  # fmt: skip
    assert [path.name for path in folder.iterdir()] == [PROGRESS_FILE]


def test_a_file_that_is_no_text_is_set_aside_beside_an_earlier_one(folder: Path) -> None:
    (folder / "progress.unreadable-1.json").write_text("the earlier one")
    (folder / PROGRESS_FILE).write_bytes(b"\xff\xfe\x00")
    assert "kept as progress.unreadable-2.json" in repr(hint("L2.1"))
    assert (folder / "progress.unreadable-1.json").read_text() == "the earlier one"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
                        st.sampled_from(["exercises", "L2.1", "attempts", "answers", "best", "hints", "parts_off",
                                         "ticked", "kv_gb", "groups_off", "parts_unread"]),
                        inner, max_size=3)))  # fmt: skip
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_of_the_file_ends_in_a_traceback(folder: Path, content: Any) -> None:
    for text in (json.dumps(content), json.dumps({"exercises": {"L2.1": content}})):
        learner.PROGRESS = Progress()
        (folder / PROGRESS_FILE).write_text(text)
        assert check("L2.1", 1.07) == 2.0
        hint("L2.1")
        status()


def _read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a read-only folder answers; a root user in a container could write to a real one."""

    def refuse(*args: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(os, "replace", refuse)


def test_a_read_only_folder_is_a_sentence_and_the_records_stay_in_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check("L2.2", 37)
    _read_only(monkeypatch)
    assert check("L2.1", 1.07) == 2.0
    told = capsys.readouterr()
    assert "Your progress could not be saved (Permission denied); it is kept until the kernel stops." in told.out
    assert told.err == ""
    shown = repr(status())
    assert "2 of " in shown.splitlines()[0], "both the stored and the unsaved attempt count"


def test_a_corrupt_file_in_a_read_only_folder_is_left_and_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / PROGRESS_FILE).write_text("{")
    _read_only(monkeypatch)
    assert "could not be read (Permission denied)" in repr(status()) + repr(hint("L2.1"))
    assert (folder / PROGRESS_FILE).read_text() == "{"


def test_a_part_that_the_course_no_longer_has_does_not_stop_a_hint(folder: Path) -> None:
    (folder / PROGRESS_FILE).write_text('{"exercises": {"L2.1": {"attempts": 1, "parts_off": ["gone"]}}}')
    assert "Hint 1 of 3 for L2_1_kv_gb" in repr(hint("L2.1"))


def test_grading_leaves_no_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    check("L2.1", 1.07)
    assert list(folder.iterdir()) == []


def test_without_a_folder_records_last_as_long_as_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "records_folder", lambda: None)
    restart_kernel(monkeypatch)
    check("L2.1", 1.07)
    told = repr(status())
    assert told.startswith("1 of ")
    assert "kept until the kernel stops" in told


def test_a_working_folder_that_was_removed_under_the_kernel_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    restart_kernel(monkeypatch)
    gone.rmdir()
    assert check("L2.1", 1.07) == 2.0
    assert "kept until the kernel stops" in repr(status())


def test_no_half_written_file_is_left_behind(folder: Path) -> None:
    for _ in range(3):
        check("L2.1", 1)
    assert [path.name for path in folder.iterdir()] == [PROGRESS_FILE]
