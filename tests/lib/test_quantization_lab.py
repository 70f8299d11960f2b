"""The quantization lab's steps: with the learner's functions where torch is, and from the record, marked as such, where not."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import pytest
from llmserving.exercises import EXERCISES
from llmserving.exercises.lab_matmul import matmul_fields
from llmserving.exercises.read_recording import checked_fields
from llmserving.tinylm import lab_measured, lab_steps
from llmserving.tinylm.lab_record import lab_record, recorded_timings

from tests.lib.test_imports import BLOCK_TORCH, python
from tests.skips import need_torch


def test_without_torch_every_step_says_so_and_shows_the_record() -> None:
    told = python(
        f"{BLOCK_TORCH}\nfrom llmserving.tinylm.lab_steps import *\n"
        "from llmserving.tinylm.lab_measured import library_scales\n"
        "def plain(weight, bits, group_size=None):\n    return weight\n"
        "assert set(three_perplexities(plain)) == {'float32', 'one_step', 'groups'}\n"
        "where_weights_fall()\n"
        "print(protected_channels(plain, library_scales).alt_text)\n"
        "assert {timing.rows for timing in timed_matmuls()} == {1, 512}"
    )
    assert told.count("torch, which is not installed") == 4
    assert told.count("What follows was recorded on another machine") == 4
    assert "live" not in told
    assert "one_step: perplexity 363" in told
    assert "The library's quantizer, without and with scales, recorded. Two panels over 256 input channels" in told


def test_without_torch_no_other_model_s_record_is_taken_for_the_one_that_was_asked_for() -> None:
    told = python(
        f"{BLOCK_TORCH}\nfrom llmserving.tinylm.lab_steps import *\n"
        "def plain(weight, bits, group_size=None):\n    return weight\n"
        "assert three_perplexities(plain, 'smollm2-135m') is None"
    )
    assert "torch, which is not installed" in told
    assert "perplexity" not in told


def round_trip(weight: Any, bits: int, group_size: int | None = None) -> Any:
    raise NotImplementedError("LAB3B.2: the round trip")


def test_a_function_that_is_not_written_is_told_before_a_model_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab_measured, "perplexities", lambda *given: pytest.fail("it was measured"))
    monkeypatch.setattr(lab_measured, "protected", lambda *given: pytest.fail("it was measured"))
    assert lab_steps.three_perplexities(round_trip) is None
    assert lab_steps.protected_channels(round_trip, lab_measured.library_scales) is None
    line = "round_trip is not written yet: LAB3B.2: the round trip.\n"
    assert capsys.readouterr().out == 2 * line


def test_a_function_that_stops_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def input_scales(inputs: Any, alpha: float) -> Any:
        return inputs.means

    def plain(weight: Any, bits: int, group_size: int | None = None) -> Any:
        return weight

    assert lab_steps.protected_channels(plain, input_scales) is None
    assert capsys.readouterr().out.startswith("input_scales stopped with AttributeError: ")


def test_a_function_that_stops_at_groups_alone_is_told_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def round_trip(weight: Any, bits: int, group_size: int | None = None) -> Any:
        return weight if group_size is None else weight / None

    assert lab_steps.three_perplexities(round_trip) is None
    assert capsys.readouterr().out.startswith("round_trip stopped with TypeError: ")


def test_the_recorded_timings_can_be_recorded_as_the_learner_s() -> None:
    fields = matmul_fields(recorded_timings())
    assert checked_fields(EXERCISES["LAB3B.6"].part_by_name["measured"], fields) == (fields, [])
    assert fields["w4a16_many_s"] == [0.0401, 0.0408, 0.0656], "expanded first is the better at M = 512"
    assert all(timing.best <= timing.median <= timing.worst for timing in recorded_timings())


def test_what_the_steps_need_is_installed_with_the_package() -> None:
    """Data that a checkout has and an installed package lacks is missed only by those who cannot mend it."""
    import tomllib
    from fnmatch import fnmatch
    from pathlib import Path

    import llmserving

    settings = tomllib.loads((Path(llmserving.__file__).parents[1] / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["llmserving"]
    folder = resources.files("llmserving.data")
    files = [f"data/{one.name}" for one in folder.iterdir() if one.is_file() and not one.name.endswith(".py")]
    assert "data/lab_two_phases.json" in files
    assert [name for name in files if not any(fnmatch(name, pattern) for pattern in patterns)] == []


@pytest.mark.slow
def test_the_record_is_what_is_measured() -> None:
    need_torch()
    record = lab_record()
    found = dict(lab_measured.perplexities(lab_measured.library_round_trip))
    assert found["float32"] == pytest.approx(record.perplexities["float32"], rel=1e-3)
    assert found["groups"] == pytest.approx(record.perplexities["groups"], rel=1e-2)
    assert found["one_step"] == pytest.approx(record.perplexities["one_step"], rel=0.1)
    assert lab_measured.fallen().zeros_one_step == pytest.approx(record.fallen.zeros_one_step, abs=1e-3)
    protected = lab_measured.protected(lab_measured.library_round_trip, lab_measured.library_scales)
    np.testing.assert_allclose(protected.magnitude, record.protected.magnitude, rtol=1e-2)
    np.testing.assert_allclose(protected.scaled.sum(), record.protected.scaled.sum(), rtol=2e-2)
