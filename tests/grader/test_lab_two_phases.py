"""The lab of level 1 by the learner's own numbers: whatever the machine, and in the order in which it is to be done."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.answer_key import KEY, grade
from grader.answer_key.solutions import wrong_inputs
from grader.answer_key.sources import Source
from grader.selftest.as_run import run_cell
from llmserving import record
from llmserving.bandwidth.lab_record import lab_record
from llmserving.bandwidth.phases import Phases
from llmserving.exercises import EXERCISES, collect, recordings, session
from llmserving.exercises.verdict import PartVerdict

from tests.notebook_runs import ROOT

NOTEBOOK = ROOT / "notebooks" / "L1" / "lab_two_phases.ipynb"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(recordings, "_in_memory", [])


def verdicts(exercise_id: str, **answers: Any) -> dict[str, PartVerdict]:
    return dict(grade({exercise_id: collect(exercise_id, answers)})[exercise_id].parts)


def states(exercise_id: str, **answers: Any) -> dict[str, str]:
    return {name: part.state for name, part in verdicts(exercise_id, **answers).items()}


def machine(rng: random.Random) -> dict[str, Any]:
    """What a machine that nobody knows would have recorded of a model that nobody knows."""
    seconds = rng.uniform(1e-4, 1)
    return {
        "weights": rng.randrange(10**6, 10**9), "bytes_a_weight": rng.choice([1, 2, 4]), "cached_tokens": rng.randrange(100, 900),
        "kv_bytes_a_token": rng.randrange(10**4, 10**5), "prompt_tokens": rng.randrange(50, 800),
        "prefill_seconds": [rng.uniform(1, 9) * seconds for _ in range(5)],
        "decode_seconds": [seconds * rng.uniform(1, 1.1) for _ in range(9)],
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_what_a_token_costs_is_judged_by_the_learner_s_own_recording(seed: int) -> None:
    m = machine(random.Random(seed))
    record("L1.lab.phases", **m)
    prefill, decode = sorted(m["prefill_seconds"])[2], sorted(m["decode_seconds"])[4]
    weight_bytes = m["weights"] * m["bytes_a_weight"]
    right = {
        "LAB1_1_slower": decode / (prefill / m["prompt_tokens"]),
        "LAB1_1_read": weight_bytes + m["cached_tokens"] * m["kv_bytes_a_token"],
        "LAB1_1_prompt_read": f"{weight_bytes / m['prompt_tokens'] / 1e6} MB",
    }
    assert set(states("LAB1.1", **right).values()) == {"right"}
    told = verdicts(
        "LAB1.1",
        LAB1_1_slower=decode / prefill,
        LAB1_1_read=m["cached_tokens"] * m["kv_bytes_a_token"],
        LAB1_1_prompt_read=weight_bytes / m["prompt_tokens"] / 1e6,
    )
    assert "passes_compared" in told["slower"].diagnoses
    assert "cache_alone" in told["read"].diagnoses
    assert "mb_for_bytes" in told["prompt_read"].diagnoses


def test_nothing_can_be_worked_out_before_it_was_recorded() -> None:
    told = verdicts("LAB1.1", LAB1_1_slower=30, LAB1_1_read=12.6, LAB1_1_prompt_read=0.1)
    assert {part.state for part in told.values()} == {"open"}
    assert told["read"].message.endswith(
        'L1.lab.phases. Run the cell with `record("L1.lab.phases", …)`, then this one.'
    )


def foretell(tokens_per_s: float = 25.0) -> None:
    record("L1.lab.predicted", tokens_per_s=tokens_per_s)


def measure(*seconds: float) -> None:
    record("L1.lab.measured", decode_seconds=list(seconds or (0.05, 0.06, 0.055)))


def test_the_gap_is_between_what_was_foretold_and_what_was_measured_whatever_both_are() -> None:
    for rate, seconds in ((25.0, 0.06), (900.0, 0.002), (3.0, 0.2)):
        foretell(rate)
        measure(seconds, 0.9 * seconds, 1.1 * seconds)
        assert states("LAB1.3", LAB1_3_gap=rate * seconds)["gap"] == "right"
        assert "ratio_inverted" in verdicts("LAB1.3", LAB1_3_gap=1 / (rate * seconds))["gap"].diagnoses


def test_a_measurement_before_the_prediction_is_named_and_stays_so() -> None:
    measure()
    foretell()
    measure()
    told = verdicts("LAB1.3")
    assert told["measured"].diagnoses == ("measured_before_predicted",)
    assert told["predicted"].state == "right"


def cell(cell_id: str) -> str:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return next(str(cell.source) for cell in cells if cell.get("id") == cell_id)


def test_running_all_cells_of_an_untouched_copy_does_not_spoil_the_prediction(
    capsys: pytest.CaptureFixture[str],
) -> None:
    measured: list[str] = []

    def two_phases(name: str) -> Phases:
        measured.append(name)
        return lab_record().phases[name]

    names: dict[str, Any] = {
        "record": record,
        "two_phases": two_phases,
        "larger": lab_record().phases["smollm2-135m"].sizes,
        "LAB1_2_tokens_per_s": ...,
    }
    for name in ("record-prediction", "measure-larger"):
        run_cell(cell(name), names)
    assert capsys.readouterr().out.endswith("Record your prediction first, in the cell above; then run this one.\n")
    assert measured == []
    assert recordings.recordings() == []
    names["LAB1_2_tokens_per_s"] = 25.5
    for name in ("record-prediction", "measure-larger"):
        run_cell(cell(name), names)
    assert measured == ["smollm2-135m"]
    assert states("LAB1.3")["measured"] == "right"


@pytest.mark.parametrize("exercise_id", ["LAB1.1", "LAB1.2", "LAB1.3", "LAB1.4"])
def test_every_exercise_names_three_mistakes_and_more(exercise_id: str) -> None:
    exercise = EXERCISES[exercise_id]
    assert exercise.lab
    wrong = wrong_inputs(exercise, "default")
    assert len({one.name for one in wrong}) >= 3
    for one in wrong:
        if isinstance(one.written, Source):
            foretell()
            run_cell(one.written)
            assert one.name in verdicts(exercise_id)[one.part].diagnoses


def test_the_key_s_recordings_are_the_recorded_machine_s() -> None:
    assert KEY["LAB1.2"].parts["memory"].example["read_bytes_per_s"] == lab_record().report.read_bytes_per_s  # type: ignore[union-attr]
