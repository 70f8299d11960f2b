"""record: measurements are kept beside the notebook, in order, never overwritten, and only in the form that is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving import record
from llmserving.exercises import EXERCISES, collect, recordings, session
from llmserving.exercises.faults import fault_sentence
from llmserving.exercises.read_recording import read_fields
from llmserving.exercises.recordings import RECORDINGS_FILE

from tests.measured_exercise import MEASURED

NAME = "L1.lab.decode"
GOOD = {"seconds": [0.5, 0.52, 0.49], "tokens": 64}


@pytest.fixture(autouse=True)
def _beside_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(recordings, "_in_memory", [])
    monkeypatch.setitem(EXERCISES, MEASURED.id, MEASURED)


def read() -> Any:
    return collect(MEASURED.id, {})["parts"]["decode"]


def sentence() -> str:
    return fault_sentence(MEASURED.part_by_name["decode"], read())


def test_what_is_recorded_is_read_back_and_shown(tmp_path: Path) -> None:
    shown = repr(record(NAME, **GOOD))
    assert "L1.lab.decode · recorded" in shown
    assert "0.5, 0.52, 0.49" in shown
    assert read() == {"kind": "measurement", "first": 0, "fields": GOOD}
    [entry] = json.loads((tmp_path / RECORDINGS_FILE).read_text())["recordings"]
    assert entry["name"] == NAME
    assert entry["at"].endswith("+00:00")


def test_a_name_in_small_letters_is_the_recording_that_it_can_only_mean() -> None:
    assert "L1.lab.decode · recorded" in repr(record(" l1.LAB.decode ", **GOOD))
    assert "L1.lab.decode · nothing was recorded" in repr(record("l1.lab.decode", tokens=64))
    assert read() == {"kind": "measurement", "first": 0, "fields": GOOD}


def test_the_last_counts_and_the_first_keeps_its_place(tmp_path: Path) -> None:
    record("L1.lab.decode.predicted", tokens_per_s=100)
    record(NAME, **GOOD)
    record(NAME, **{**GOOD, "tokens": 65})
    assert (read()["fields"]["tokens"], read()["first"], read()["place"]) == (65, 1, 2)
    assert read()["earlier"] == [{"place": 1, "fields": GOOD}], "answers may have been worked out from it"
    assert len(json.loads((tmp_path / RECORDINGS_FILE).read_text())["recordings"]) == 3


def test_of_what_was_recorded_before_the_latest_ten_of_the_right_form_are_read(tmp_path: Path) -> None:
    for tokens in range(1, 15):
        record(NAME, **{**GOOD, "tokens": tokens})
    stored = json.loads((tmp_path / RECORDINGS_FILE).read_text())
    stored["recordings"][-2]["fields"] = {"tokens": "changed by hand"}
    (tmp_path / RECORDINGS_FILE).write_text(json.dumps(stored))
    assert [entry["fields"]["tokens"] for entry in read()["earlier"]] == list(range(4, 13))


def test_numpy_numbers_and_arrays_are_numbers() -> None:
    record(NAME, seconds=np.array([0.5, 0.25, 0.5]), tokens=np.int64(64))
    assert read()["fields"] == {"seconds": [0.5, 0.25, 0.5], "tokens": 64}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tokens": 64}, "seconds is missing: 3 or more numbers of s."),
        ({**GOOD, "seconds": 0.5}, "seconds holds 1 number; it is 3 or more numbers of s."),
        (
            {**GOOD, "seconds": [500, 520, 490]},
            "in s it lies between 0.000001 and 60 on any machine. Is it in another unit?",
        ),
        ({**GOOD, "seconds": [0.5, -0.1, 0.5]}, "seconds is -0.1, and in s it lies between"),
        ({**GOOD, "tokens": 64.5}, "tokens is 64.5, and it is a whole number of tokens."),
        ({**GOOD, "tokens": [64, 64]}, "tokens holds 2 numbers; it is a whole number of tokens."),
        ({**GOOD, "tokens": "64"}, "decimals; it is a whole number of tokens."),
        ({**GOOD, "tokens": ...}, "tokens still holds ...: put an answer in its place, and run that cell"),
        ({**GOOD, "tokens": True}, "tokens is of type bool"),
        ({**GOOD, "seconds": [0.5, float("nan"), 0.5]}, "seconds holds something that is not a number"),
        ({**GOOD, "speed": 7}, "speed does not belong to this recording; it takes seconds and tokens."),
        (
            {**GOOD, "tokens": "6,4"},
            "tokens is the text '6,4'. Write the number without quotes, with a point before",
        ),
    ],
)
def test_a_form_that_is_off_is_told_and_nothing_is_recorded(tmp_path: Path, fields: Any, said: str) -> None:
    shown = repr(record(NAME, **fields))
    assert said in shown
    assert "nothing was recorded" in shown
    assert not (tmp_path / RECORDINGS_FILE).exists()


def test_a_name_that_no_exercise_asks_for_gets_the_nearest() -> None:
    assert "did you mean L1.lab.decode" in repr(record("L1.lab.decod", **GOOD))
    assert "named by text" in repr(record(7, **GOOD))
    assert 'record needs a name in its brackets; write record("L1.lab.predicted", tokens_per_s=40)' in repr(record())


def test_nothing_recorded_yet_is_open_and_says_what_to_run() -> None:
    assert sentence() == (
        'Nothing was recorded as L1.lab.decode yet. Run the cell with `record("L1.lab.decode", …)`, then this one.'
    )


@pytest.mark.parametrize("text", ["", "[]", "{", '{"recordings": 7}', '{"recordings": [{"name": 1}]}', "\x00"])
def test_a_damaged_file_is_kept_aside_and_a_new_one_begun(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORDINGS_FILE).write_text(text)
    assert "recordings.json could not be read" in sentence()
    assert "it was kept as recordings.unreadable-1.json, and a new file begun" in repr(record(NAME, **GOOD))
    assert (tmp_path / "recordings.unreadable-1.json").read_text() == text
    assert read()["fields"] == GOOD


def test_a_recording_that_was_changed_by_hand_is_looked_at_again(tmp_path: Path) -> None:
    record(NAME, **GOOD)
    file = tmp_path / RECORDINGS_FILE
    file.write_text(file.read_text().replace("64", '"many"'))
    assert sentence() == (
        "What was recorded as L1.lab.decode is off. `tokens` is the text 'many'. Write the number without quotes, with a "
        "point before decimals; it is a whole number of tokens."
    )


def test_while_grading_nothing_is_written_and_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(NAME, **GOOD)
    before = (tmp_path / RECORDINGS_FILE).read_text()
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    assert read()["fields"] == GOOD
    record(NAME, **{**GOOD, "tokens": 8})
    assert read()["fields"]["tokens"] == 8
    assert (tmp_path / RECORDINGS_FILE).read_text() == before


def test_a_folder_that_cannot_be_written_keeps_it_in_memory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, entries: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recordings, "_write", full)
    assert "could not be saved (No space left on device)" in repr(record(NAME, **GOOD))
    assert read()["fields"] == GOOD
    assert not (tmp_path / RECORDINGS_FILE).exists()


@given(st.dictionaries(st.text(), st.from_type(object) | st.lists(st.floats())) | st.integers())
def test_whatever_the_fields_are_they_become_numbers_or_a_fault(fields: Any) -> None:
    data = read_fields(MEASURED.part_by_name["decode"], fields)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
