"""The record of perplexities: whole, honest about where it is from, and the same as its documents and as a measurement."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from llmserving import data
from llmserving.tinylm import record as records
from llmserving.tinylm.record import BASE, FILENAME, from_cells, record, recorded, rows_of
from llmserving.tinylm.surprise import Perplexity
from llmserving.tinylm.texts import HELD_OUT

from tests import skips
from tests.lib.test_imports import BLOCK_TORCH, python

skips.need_torch()

import torch  # noqa: E402
from llmserving.quantization import quantize_tensor  # noqa: E402
from llmserving.tinylm import OWN, SCHEMES, SMOLLM2, has_smollm2, held_out_text, load, perplexity, table  # noqa: E402
from llmserving.tinylm import record_perplexity as script  # noqa: E402
from llmserving.tinylm.readings import change  # noqa: E402
from llmserving.tinylm.registry import calibration_tokens  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs" / "quantization.md"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# What is in it


def test_every_scheme_is_recorded_once_for_each_model_and_text() -> None:
    found = [(row.model, row.text, row.scheme) for row in record()]
    assert len(set(found)) == len(found)
    schemes = {model: (BASE, *SCHEMES, *script.MORE.get(model, ())) for model in (SMOLLM2, OWN)}
    assert set(found) == {(model, text, scheme) for model in schemes for text in HELD_OUT for scheme in schemes[model]}


@pytest.mark.parametrize("row", record(), ids=lambda row: f"{row.model}-{row.text}-{row.scheme}")
def test_every_row_says_where_it_is_from_and_how_sure_it_is(row: records.Recorded) -> None:
    assert date(2026, 11, 29) <= date.fromisoformat(row.date) <= date.today()
    assert row.source == script.COMMAND
    assert re.fullmatch(r"[\w ().,@-]+; one thread of \d+ cores; Python [\d.]+, torch [\d.]+(\+cpu)?", row.machine)
    tokens = calibration_tokens(row.scheme)
    assert row.calibration == (f"austen {tokens}" if tokens else "")
    assert row.seconds > 0
    assert row.tokens == row.window * len(row.window_nats)
    assert len(row.window_nats) >= 18
    # The three numbers are those of the windows beside them.
    for stored, derived in (
        (row.perplexity, row.measured.perplexity), (row.low, row.measured.low), (row.high, row.measured.high)
    ):  # fmt: skip
        assert stored == script.significant(derived)
    assert row.low < row.perplexity < row.high


def test_the_record_can_be_read_without_torch() -> None:
    code = "from llmserving.tinylm.record import record; from llmserving.figures import perplexity_bars; print(len(record()))"
    assert python(BLOCK_TORCH + code) == str(len(record()))


def test_rows_of_a_text_begin_with_the_base_and_what_is_not_there_is_named() -> None:
    assert rows_of(SMOLLM2, "austen")[0].scheme == BASE
    with pytest.raises(KeyError, match="no record of 'int1' on the text 'austen' with 'smollm2-135m'"):
        recorded(SMOLLM2, "austen", "int1")


def test_a_garbled_row_is_refused() -> None:
    cells = data.rows(FILENAME)[0]
    assert from_cells(cells) == record()[0]
    with pytest.raises(ValueError, match="could not convert string to float: 'forty'"):
        from_cells({**cells, "perplexity": "forty"})


# What it says


def ratio(text: str, scheme: str, other: str = BASE, model: str = SMOLLM2) -> tuple[float, float, float]:
    return recorded(model, text, scheme).measured.ratio_to(recorded(model, text, other).measured)


@pytest.mark.parametrize("text", HELD_OUT)
def test_int4_per_tensor_destroys_smollm2_below_guessing(text: str) -> None:
    assert recorded(SMOLLM2, text, "int4-tensor-sym").low > 49_152
    assert ratio(text, "int4-tensor-sym", model=OWN)[2] < 1.05


@pytest.mark.parametrize("text", HELD_OUT)
def test_groups_repair_it_step_by_step(text: str) -> None:
    steps = ["int4-tensor-asym", "int4-channel-asym", "int4-g64-asym"]
    for coarse, fine in pairwise(steps):
        assert ratio(text, fine, coarse)[2] < 1


@pytest.mark.parametrize("per", ["channel", "g64"])
def test_gptq_helps_on_the_text_that_it_was_calibrated_on_and_not_on_one_of_another_kind(per: str) -> None:
    gptq, nearest = f"gptq-int4-{per}-asym", f"int4-{per}-asym"
    assert ratio("austen", gptq, nearest)[2] < 1
    assert ratio("lessons", gptq, nearest)[0] > 1


def test_more_of_the_calibration_text_does_less_harm_to_the_others() -> None:
    assert ratio("lessons", "gptq-int4-g64-asym@7936", "gptq-int4-g64-asym")[2] < 1


@pytest.mark.parametrize("text", HELD_OUT)
def test_awq_helps_on_every_text(text: str) -> None:
    assert ratio(text, "awq-int4-channel-asym", "int4-channel-asym")[2] < 1


@pytest.mark.parametrize("text", HELD_OUT)
def test_smoothing_mends_one_scale_a_tensor(text: str) -> None:
    assert ratio(text, "smoothquant-0.8", "w8a8-tensor")[2] < 1
    assert ratio(text, "w8a8-token")[0] < ratio(text, "w8a8-tensor")[0]


# Its documents


def test_the_document_is_the_record() -> None:
    assert DOCS.read_text(encoding="utf-8") == table.rendered(), (
        "run python -m llmserving.tinylm.table docs/quantization.md"
    )


def test_the_document_is_written_by_its_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "llmserving.tinylm.table"]
    subprocess.run([*command, str(tmp_path / "quantization.md")], check=True)
    assert (tmp_path / "quantization.md").read_text(encoding="utf-8") == table.rendered()


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.85, 0.9, 0.95), "10.0 % lower (-15.0 to -5.0 %)"),
        ((1.01, 1.02, 1.03), "2.0 % higher (+1.0 to +3.0 %)"),
        ((0.99, 1.01, 1.03), "no different for sure (-1.0 to +3.0 %)"),
        ((40_000, 43_309, 45_000), "43,309 times as high"),
    ],
)
def test_a_difference_within_its_interval_is_called_none(interval: tuple[float, float, float], said: str) -> None:
    assert change(*interval) == said


# How it is made


def run(monkeypatch: pytest.MonkeyPatch, path: Path, *schemes: str) -> list[dict[str, str]]:
    monkeypatch.setitem(script.CHARACTERS, OWN, 1000)
    monkeypatch.setattr(sys, "argv", ["record_perplexity", OWN, *schemes, "--to", str(path)])
    script.main()
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_that_was_stopped_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    first = run(monkeypatch, path, BASE)
    assert [row["text"] for row in first] == list(HELD_OUT)
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")  # stopped after one text
    measured: list[tuple[str, str]] = []

    def counted(model: Any, text: str, name: str, wanted: Any, original: Any = script.measured) -> Any:
        measured.append((text, name))
        return original(model, text, name, wanted)

    monkeypatch.setattr(script, "measured", counted)
    rows = run(monkeypatch, path, BASE, "int8-channel-sym")
    assert measured == [("devil", BASE), ("lessons", BASE), *((text, "int8-channel-sym") for text in HELD_OUT)]
    assert [row["scheme"] for row in rows] == [BASE] * 3 + ["int8-channel-sym"] * 3
    again = run(monkeypatch, path, BASE, "int8-channel-sym")
    assert (again, len(measured)) == (rows, 5)


def test_what_it_writes_is_what_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = from_cells(run(monkeypatch, tmp_path / "found.csv", BASE)[0])
    found = perplexity(load(), held_out_text("austen")[:1000], window=256)
    assert row.measured.window_nats == pytest.approx(found.window_nats, abs=1e-5)
    assert row.perplexity == pytest.approx(found.perplexity, rel=1e-4)
    assert row.machine == script.machine()


# Measured again


@pytest.mark.parametrize("scheme", [None, "int3-g64-asym", "w8a8-token"])
def test_the_small_model_is_as_recorded(scheme: str | None) -> None:
    again = perplexity(load(), held_out_text("devil")[:5000], scheme)
    then = recorded(OWN, "devil", scheme or BASE)
    assert again.nats_per_token == pytest.approx(_start(then, again).nats_per_token, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [None, "int4-tensor-sym", "int4-g64-asym"])
def test_smollm2_is_as_recorded(scheme: str | None) -> None:
    """On the first windows of the text; on another machine, sums come in another order."""
    if not has_smollm2():
        skips.skip("no SmolLM2")
    again = perplexity(load(SMOLLM2), held_out_text("austen")[:9000], scheme, window=256)
    then = recorded(SMOLLM2, "austen", scheme or BASE)
    ratio_now, *_ = again.ratio_to(_start(then, again))
    assert ratio_now == pytest.approx(1, abs=0.02 if scheme != "int4-tensor-sym" else 0.2)
    assert (
        then.low
        < Perplexity(again.window_nats + then.window_nats[len(again.window_nats) :], then.tokens).perplexity
        < then.high
    )


@pytest.mark.slow
def test_the_base_is_itself_4_bit_and_only_a_float_minimum_gets_it_back() -> None:
    if not has_smollm2():
        skips.skip("no SmolLM2")
    for _, matrix in list(load(SMOLLM2).decoder.matrices())[::10]:
        groups = matrix.weight.reshape(-1, 32)
        low, high = groups.amin(1, keepdim=True), groups.amax(1, keepdim=True)
        scale = ((high - low) / 15).clamp(min=1e-30)
        codes = ((groups - low) / scale).round()
        assert torch.allclose(codes * scale + low, groups, rtol=0, atol=1e-6 * float(groups.abs().max()))
        rounded = quantize_tensor(groups, 4, axis=0).dequantize()
        assert 0.04 < float((rounded - groups).norm() / groups.norm()) < 0.2


@pytest.mark.slow
def test_one_scale_a_matrix_rounds_more_than_half_of_the_weights_to_0_in_most_matrices() -> None:
    if not has_smollm2():
        skips.skip("no SmolLM2")
    shares = [
        float((quantize_tensor(matrix.weight, 4, "symmetric").codes == 0).float().mean())
        for _, matrix in list(load(SMOLLM2).decoder.matrices())[::5]
    ]
    assert 0.5 < median(shares) < 0.95
    assert min(shares) < 0.5


def _start(row: records.Recorded, other: Perplexity) -> Perplexity:
    return Perplexity(row.window_nats[: len(other.window_nats)], other.tokens)
