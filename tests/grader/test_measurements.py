"""A recording is judged by its form, never by its number; what is worked out from it is judged by the learner's own numbers."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from grader.answer_key import KEY, Key, grade, reference_answers, worked_solution
from grader.answer_key.key import THREE_FIGURES, Misconception, ValueKey
from grader.answer_key.lab_keys import MeasurementKey, Slip
from grader.answer_key.remeasured import as_they_stood
from grader.answer_key.solutions import other_inputs, reference_inputs, wrong_inputs
from grader.answer_key.sources import Source
from grader.answer_key.worked.solution import STEPS
from grader.course import find_notebooks, read_notebook
from grader.selftest.as_run import as_answers, run_cell
from llmserving import record
from llmserving.exercises import EXERCISES, collect, recordings, session
from llmserving.exercises.faults import fault_verdict
from llmserving.exercises.verdict import PartVerdict

from tests.measured_exercise import MEASURED

ONE_RUN_TWICE = Slip(
    "one_run_copied",
    lambda fields: len(set(fields["seconds"])) == 1,
    {"seconds": [0.5, 0.5, 0.5], "tokens": 64},
    "The three times are one and the same number. Two runs never take equally long: measure each.",
    "Measure",
)
MEASURED_KEY = Key(
    MEASURED,
    {
        "predicted": MeasurementKey({"tokens_per_s": 100}, {"tokens_per_s": 90.5}, "Measure"),
        "decode": MeasurementKey(
            {"seconds": [0.5, 0.52, 0.49], "tokens": 64},
            {"seconds": [2.0, 2.1, 2.2, 1.9], "tokens": 32},
            "Measure",
            after="predicted",
            misconceptions=(ONE_RUN_TWICE,),
        ),
        "rate": ValueKey(
            lambda n, a: a["recorded.decode.tokens"] / a["recorded.decode.seconds"],
            THREE_FIGURES,
            (
                Misconception(
                    "inverted",
                    lambda n, a: a["recorded.decode.seconds"] / a["recorded.decode.tokens"],
                    "Those are seconds a token.",
                    "Measure",
                ),
            ),
        ),
    },
)


ONE_MISSING = (
    "This is worked out from a recording that is missing, L1.lab.decode. Run the cell with "
    '`record("L1.lab.decode", …)`, then this one.'
)


@pytest.fixture(autouse=True)
def _in_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(recordings, "_in_memory", [])
    monkeypatch.setitem(EXERCISES, MEASURED.id, MEASURED)
    monkeypatch.setitem(KEY, MEASURED.id, MEASURED_KEY)


def verdicts(rate: Any = ...) -> dict[str, PartVerdict]:
    return dict(grade({MEASURED.id: collect(MEASURED.id, {"LAB1_1_rate": rate})})[MEASURED.id].parts)


def measure(**fields: Any) -> None:
    record("L1.lab.decode", **{"seconds": [0.5, 0.52, 0.49], "tokens": 64, **fields})


def predict() -> None:
    record("L1.lab.decode.predicted", tokens_per_s=100)


def test_any_machine_s_number_is_right_and_the_rate_is_judged_by_it() -> None:
    predict()
    for seconds in ([0.5, 0.52, 0.49], [50.0, 40.0, 59.0], [0.001, 0.0011, 0.0012]):
        measure(seconds=seconds)
        rate = 64 / sorted(seconds)[1]
        assert {name: part.state for name, part in verdicts(rate).items()} == dict.fromkeys(
            ("predicted", "decode", "rate"), "right"
        )
        assert verdicts(1 / rate)["rate"].diagnoses == ("inverted",)


def test_what_is_worked_out_from_a_recording_waits_for_it() -> None:
    rate = verdicts(128)["rate"]
    assert (rate.score, rate.state) == (0, "open")
    assert rate.message == (
        "This is worked out from a recording that is missing, L1.lab.decode.predicted and L1.lab.decode. Run the cell with "
        '`record("L1.lab.decode.predicted", …)`, then the one with `record("L1.lab.decode", …)`, then this one.'
    )
    predict()
    assert verdicts(128)["rate"].message == ONE_MISSING


def test_every_recording_has_a_cell_in_its_notebook_by_the_words_that_a_card_sends_to() -> None:
    for exercise in EXERCISES.values():
        if exercise.id == MEASURED.id:
            continue
        cells = [cell.source for cell in read_notebook(find_notebooks() / f"{exercise.notebook}.ipynb").cells]
        for part in exercise.parts:
            if part.kind == "measurement":
                fault = fault_verdict(part, {"kind": "fault", "fault": "not_recorded"}).message
                sent_to = re.findall(r"`(record\([^,]+),", fault)
                assert len(sent_to) == 1, fault
                assert any(sent_to[0] in source.replace(f"llmserving.{sent_to[0]}", "") for source in cells), (
                    part.variable
                )


def test_a_prediction_made_after_the_measurement_is_none() -> None:
    measure()
    assert verdicts()["decode"].diagnoses == ("measured_before_predicted",)
    assert "Record your prediction as L1.lab.decode.predicted first" in verdicts()["decode"].message
    predict()
    assert "L1.lab.decode was recorded before L1.lab.decode.predicted" in verdicts()["decode"].message
    measure()
    assert verdicts()["decode"].diagnoses == ("measured_before_predicted",), "measuring again changes nothing about it"


def test_a_slip_in_a_recording_is_named() -> None:
    predict()
    measure(seconds=[0.5, 0.5, 0.5])
    assert verdicts()["decode"].diagnoses == ("one_run_copied",)


def test_the_sweep_s_recordings_are_right_in_two_forms_and_wrong_by_name(tmp_path: Path) -> None:
    for inputs in (reference_inputs, other_inputs):
        written = inputs(MEASURED, "default")
        (tmp_path / recordings.RECORDINGS_FILE).unlink(missing_ok=True)
        for name in ("predicted", "decode"):
            assert isinstance(written[name], Source)
            run_cell(written[name])
        assert {part.state for part in verdicts(written["rate"]).values()} == {"right"}
        assert KEY[MEASURED.id].grade(as_answers(MEASURED, written)).score == MEASURED.points
    for wrong in wrong_inputs(MEASURED, "default"):
        if wrong.part == "decode":
            run_cell(wrong.written)
            assert verdicts()["decode"].diagnoses == (wrong.name,)
    assert reference_answers(MEASURED, "default")["rate"] == 128


def test_the_worked_solution_is_of_the_learner_s_own_recording_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(STEPS, MEASURED.id, {"rate": lambda n, a, answer: f"tokens by seconds: {answer}"})

    def of_rate() -> str:
        return worked_solution(MEASURED.id, data={MEASURED.id: collect(MEASURED.id, {})}).steps["rate"]

    predict()
    assert of_rate() == ONE_MISSING
    measure(seconds=[4.0, 4.2, 3.9], tokens=32)
    assert of_rate() == "tokens by seconds: **8 tokens/s**"
    without = worked_solution(MEASURED.id).steps
    assert without["rate"].startswith("With an example of a recording; work it out with yours.")
    assert "look at `seconds` and `tokens`, and" in without["decode"]
    assert "**" not in without["decode"], "no number of a recording is the right one"


@pytest.mark.parametrize(
    "bent",
    [
        {"first": -1}, {"first": True}, {"first": None}, {"fields": None}, {"fields": {}}, {"fields": {"seconds": [1] * 3}},
        {"fields": {"seconds": [1, 2, 1e9], "tokens": 64}}, {"fields": {"seconds": [1, 2, None], "tokens": 64}},
        {"fields": {"seconds": [1, 2, 3], "tokens": 64, "more": 1}}, {"fields": [["seconds", 1]]},
    ],
    ids=str,
)  # fmt: skip
def test_a_recording_that_collect_could_not_have_read_costs_its_part(bent: Any) -> None:
    sound = {"kind": "measurement", "first": 1, "fields": {"seconds": [1, 2, 3], "tokens": 64}}
    foretold = {"kind": "measurement", "first": 0, "fields": {"tokens_per_s": 100}}

    def graded(decode: Any) -> PartVerdict:
        data = {"parts": {"predicted": foretold, "decode": decode, "rate": {"kind": "fault", "fault": "placeholder"}}}
        return grade({MEASURED.id: data})[MEASURED.id].parts["decode"]

    assert graded(sound).state == "right"
    assert (graded({**sound, **bent}).score, graded({**sound, **bent}).state) == (0, "unreadable")


def test_who_measures_again_after_answering_keeps_what_was_right() -> None:
    predict()
    measure(seconds=[4.0, 4.2, 3.9], tokens=32)
    assert verdicts(8.0)["rate"].state == "right"
    measure(seconds=[2.0, 2.1, 1.9], tokens=32)
    assert verdicts(8.0)["rate"].state == "right", "it was worked out from the recording before"
    assert verdicts(16.0)["rate"].state == "right"
    assert verdicts(0.0625)["rate"].diagnoses == ("inverted",), "a mistake is told by what is there now"
    assert verdicts(12.0)["rate"].state == "wrong", "a number of neither"
    measure(seconds=[0.5, 0.5, 0.5], tokens=32)
    assert verdicts(8.0)["rate"].state == "right"
    assert verdicts(8.0)["decode"].diagnoses == ("one_run_copied",), "a recording itself is judged as it is now"


def test_what_was_worked_out_from_a_recording_with_a_slip_is_not_right_by_it() -> None:
    predict()
    measure(seconds=[4.0, 4.0, 4.0], tokens=32)
    measure(seconds=[2.0, 2.1, 1.9], tokens=32)
    assert verdicts(8.0)["rate"].state == "wrong"
    assert verdicts(16.0)["rate"].state == "right"


def test_numbers_of_different_moments_are_not_put_together() -> None:
    early = {"seconds": [4.0] * 2 + [4.1], "tokens": 32}
    late = {"seconds": [2.0] * 2 + [2.1], "tokens": 32}
    recorded = {("X", "decode"): {"fields": late, "place": 3, "earlier": [{"place": 1, "fields": early}]},
                ("X", "memory"): {"fields": "new", "place": 2, "earlier": [{"place": 0, "fields": "old"}]}}  # fmt: skip
    data = {"X": {"parts": {name: dict(answer) for (_, name), answer in recorded.items()}}}
    stood = [tuple(part["fields"] for part in then["X"]["parts"].values()) for then in as_they_stood(data, recorded)]
    assert stood == [(late, "new"), (early, "new"), (early, "old"), (early, "old")]


@pytest.mark.parametrize(
    "bent",
    [
        {"earlier": None}, {"earlier": [{"place": 1}]}, {"place": 1}, {"place": None}, {"earlier": [{"fields": {}, "place": 0}]},
        {"earlier": [{"fields": {"seconds": [1, 2, 3], "tokens": 64}, "place": n} for n in range(1, 12)], "place": 12},
    ],
    ids=str,
)  # fmt: skip
def test_earlier_recordings_that_collect_could_not_have_read_cost_the_part(bent: Any) -> None:
    fields = {"seconds": [1, 2, 3], "tokens": 64}
    sound = {
        "kind": "measurement",
        "first": 1,
        "fields": fields,
        "place": 2,
        "earlier": [{"place": 1, "fields": fields}],
    }
    foretold = {"kind": "measurement", "first": 0, "fields": {"tokens_per_s": 100}}

    def state(decode: Any) -> str:
        data = {"parts": {"predicted": foretold, "decode": decode, "rate": {"kind": "fault", "fault": "placeholder"}}}
        return grade({MEASURED.id: data})[MEASURED.id].parts["decode"].state

    assert state(sound) == "right"
    assert state({**sound, **bent}) == "unreadable"


def test_the_number_is_never_judged() -> None:
    predict()
    rng = random.Random(0)
    for _ in range(20):
        measure(seconds=[rng.uniform(1e-5, 59) for _ in range(3)])
        assert verdicts()["decode"].state == "right"
