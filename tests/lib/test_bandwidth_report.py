"""Claims about a report: what its table, its JSON, its comparison and its figure say, and what the command answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from llmserving.__main__ import main
from llmserving.bandwidth import compare, read_report, recorded, recorded_names, write_report
from llmserving.bandwidth.machine import NoDevice
from llmserving.bandwidth.report import told
from llmserving.bandwidth.results import BandwidthReport
from llmserving.bandwidth.vendor import vendor_of
from llmserving.bandwidth_flags import PART_NAMES
from llmserving.figures import cache_sweep, measured_roofline
from llmserving.hardware import GPUS
from llmserving.step_prediction import Roof
from llmserving.units import MiB
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from tests.figure_texts import outside, overlapping, text_boxes
from tests.lib.bandwidth_fakes import MACHINE, measured, report
from tests.lib.test_imports import BLOCK_TORCH, python
from tests.skips import need_torch

# What is measured


def test_the_roof_is_the_best_matmul_and_the_best_reading() -> None:
    found = report()
    assert found.read_bytes_per_s == pytest.approx(1e10)
    assert found.peak_flops_per_s("bfloat16") == pytest.approx(1e12)
    roof = found.roof("bfloat16")
    assert roof is not None
    assert roof.ridge == pytest.approx(100)
    assert [point.rows for point in found.points("bfloat16")] == [1, 16, 512]
    assert found.dtypes == ("bfloat16",)


def test_a_gemv_that_reads_faster_raises_the_roof_and_a_copy_does_not() -> None:
    fast = measured("linear", 1e-3, dtype="bfloat16", rows=1, num_bytes=20_000_000, flops=1)
    assert report(measurements=(measured("read"), fast)).read_bytes_per_s == pytest.approx(2e10)
    copy = measured("copy", 1e-3, num_bytes=50_000_000)
    assert report(measurements=(measured("read"), copy)).read_bytes_per_s == pytest.approx(1e10)


def test_what_was_disturbed_makes_no_roof() -> None:
    found = report(measurements=(measured("read", stolen=5e-4),))
    assert found.read_bytes_per_s is None
    assert found.roof("bfloat16") is None
    assert [m.operation for m in found.without_figure] == ["read"]


# The table


def test_the_table_says_what_it_counts_where_it_comes_from_and_how_quiet_it_was() -> None:
    words = told(report())
    assert words.startswith(f"{MACHINE}\nmeasured live, 2026-11-30 by python -m llmserving bandwidth")
    assert "a window that moves through 64 MiB = 4 last-level caches" in words
    assert re.search(r"^read +10 GB/s +10 GB/s +10 GB/s +100 %$", words, re.MULTILINE)
    assert "copy counts bytes read and bytes written: twice what is copied" in words
    assert "on a CPU, what is written is read first (write-allocate)" in words
    assert re.search(r"^ +1 MiB +30 GB/s$", words, re.MULTILINE)
    assert "measured roof: 1 TFLOP/s and 10 GB/s of reading meet at 100 FLOP/byte" in words
    assert "vendor" not in words


def test_a_disturbed_row_has_its_verdict_in_the_place_of_a_number() -> None:
    words = told(report(measurements=(measured("read", stolen=5e-4), measured("copy", right=False))))
    assert re.search(r"^read +DISTURBED +0 %$", words, re.MULTILINE)
    assert re.search(r"^copy +WRONG RESULT +100 %$", words, re.MULTILINE)
    assert "in fewer than 20 % of the samples was the core free of others" in words
    assert "WRONG RESULT: what was computed differs" in words
    assert "DISTURBED" not in told(report())


def test_remarks_and_what_was_skipped_are_told() -> None:
    words = told(report(remarks=("a remark.",), skipped=("W8A8: skipped, for a reason",)))
    assert words.endswith("a remark.\nW8A8: skipped, for a reason")


def test_quantized_matmuls_are_told_against_those_in_16_bits() -> None:
    rows = tuple(
        measured(name, seconds, dtype="bfloat16", rows=1, flops=10**6)
        for name, seconds in (("bfloat16, beside", 2e-3), ("W4A16, fused", 1e-3), ("W8A8", 4e-3))
    )
    words = told(report(measurements=rows))
    assert re.search(r"W4A16, fused .* 2.00 times as fast", words)
    assert re.search(r"W8A8 .* 0.50 times as fast", words)


# The vendor


def test_per_cent_of_the_vendor_s_figure_only_for_a_device_that_is_named() -> None:
    h200 = vendor_of("whatever it is", "h200")
    assert h200 is not None
    assert h200.bandwidth_bytes_per_s == GPUS["h200"].bandwidth_bytes_per_s
    words = told(report(), h200)
    assert f"{100 * 1e10 / GPUS['h200'].bandwidth_bytes_per_s:.1f} %" in words
    assert f"{100 * 1e12 / GPUS['h200'].peak_flops['bf16']:.1f} % of the FLOP/s that the vendor names" in words


def test_a_device_is_known_by_its_very_name_alone() -> None:
    known = vendor_of("NVIDIA H100 PCIe")
    assert known is not None
    assert known.name == "h100-pcie-80gb"
    assert vendor_of("NVIDIA H100 something new") is None
    assert vendor_of("Intel(R) Xeon(R) Processor") is None


def test_a_vendor_s_figure_may_be_given() -> None:
    given = vendor_of("", bandwidth_gb_per_s=20)
    assert given is not None
    assert "50.0 %" in told(report(), given)
    with pytest.raises(ValueError, match="vendor_bandwidth is the vendor's bandwidth"):
        vendor_of("", bandwidth_gb_per_s=-1)
    with pytest.raises(ValueError, match="there is no GPU 'h20'"):
        vendor_of("", "h20")


# JSON


def test_json_brings_back_the_same_report_as_a_record(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    write_report(report(remarks=("one",), skipped=("two",)), path)
    assert read_report(path) == report(remarks=("one",), skipped=("two",), origin="recorded")
    assert "recorded 2026-11-30" in told(read_report(path))
    assert json.loads(path.read_text())["machine"]["name"] == "A processor"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a report of"),
        ('{"format": "another"}', "another format"),
        ('{"format": "llmserving bandwidth 1"}', "is not a report of"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        read_report(path)


def test_a_file_that_is_not_there_or_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot read .*No such file"):
        read_report(tmp_path / "none.json")
    with pytest.raises(ValueError, match="cannot write .*No such file"):
        write_report(report(), tmp_path / "none" / "at.json")


# Comparison


def test_two_reports_are_compared_line_by_line() -> None:
    other = report(measurements=(measured("read", 5e-4), measured("triad")))
    words = compare(report(), other)
    assert re.search(r"^read, float32 +10 GB/s +20 GB/s +2.00x$", words, re.MULTILINE)
    assert "only in B: triad, float32" in words
    assert "only in A: copy, float32; linear, bfloat16 (3); square matmul, bfloat16" in words


def test_a_disturbed_side_gets_no_ratio_and_other_bytes_are_told() -> None:
    disturbed = report(measurements=(measured("read", stolen=9e-4),))
    assert re.search(r"^read, float32 +10 GB/s +DISTURBED$", compare(report(), disturbed), re.MULTILINE)
    other = report(measurements=(measured("read", convention="twice"),))
    assert compare(report(), other).endswith("not comparable, for they count other bytes: read")
    with pytest.raises(ValueError, match="nothing in common|no measurement in common"):
        compare(report(), report(measurements=(measured("triad"),)))


# The figure


def test_the_figure_says_in_words_what_it_draws() -> None:
    assert measured_roofline(report(), title="Ours").alt_text == (
        "Ours. Roofline of A processor, bfloat16, measured live, 2026-11-30. Reading at 10 GB/s and 1 TFLOP/s meet at 100 FLOP "
        "a byte. A matmul with M = 1 reaches 8 GFLOP/s at 1 FLOP a byte, 80 % of the roof above it; with M = 512, 819 GFLOP/s "
        "at 512, 82 %."
    )


def test_a_record_is_called_one_and_the_vendor_s_roof_theoretical(tmp_path: Path) -> None:
    write_report(report(), tmp_path / "r.json")
    figure = measured_roofline(read_report(tmp_path / "r.json"), vendor=Roof(2e12, 2e10))
    assert "recorded 2026-11-30" in figure.alt_text
    assert "Theoretical, by the vendor: 20 GB/s and 2 TFLOP/s." in figure.alt_text
    named = measured_roofline(report(), vendor=Roof(2e12, 2e10), vendor_name="h200-141gb")
    assert "by the vendor of h200-141gb" in named.alt_text
    assert "the vendor's figures of h200-141gb: theoretical" in " ".join(text_boxes(named))
    words = " ".join(text_boxes(figure))
    assert "roof, recorded 2026-11-30" in words
    assert "the vendor's figures: theoretical" in words


def test_each_point_is_drawn_and_no_text_lies_over_another() -> None:
    figure = measured_roofline(report(), title="Ours", vendor=Roof(2e12, 2e10))
    assert len(figure.findobj(Circle)) == 3
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []
    assert figure.svg() == measured_roofline(report(), title="Ours", vendor=Roof(2e12, 2e10)).svg()


@pytest.mark.parametrize(
    ("found", "dtype", "words"),
    [
        (report(measurements=(measured("read"),)), None, "has no matmuls to draw"),
        (report(), "float64", "dtype is one of bfloat16, but got 'float64'"),
        (report(measurements=report().measurements[1:3], sweep=()), None, None),
        (
            report(measurements=(measured("linear", rows=1, flops=1, stolen=9e-4),)),
            None,
            "the report has no roofline in float32",
        ),
    ],
)
def test_what_was_not_measured_is_not_drawn(found: BandwidthReport, dtype: str | None, words: str | None) -> None:
    if words is None:
        assert measured_roofline(found, dtype).alt_text  # a GEMV is a reading too
        return
    with pytest.raises(ValueError, match=words):
        measured_roofline(found, dtype)


def swept(*rates: float) -> BandwidthReport:
    sweep = [
        measured(name, 1e-3, num_bytes=int(rate * 1e6) * (1 + (name == "copy")), buffer_bytes=MiB << 3 * index)
        for name in ("read", "copy")
        for index, rate in enumerate(rates)
    ]
    return report(sweep=tuple(sweep))


def test_the_sweep_s_figure_tells_every_size_and_where_it_comes_from() -> None:
    figure = cache_sweep(swept(50, 30, 10), title="Caches")
    assert figure.alt_text == (
        "Caches. Bandwidth of A processor by the bytes touched again and again, measured live, 2026-11-30. Read: 50 GB/s over "
        "1 MiB, 30 GB/s over 8 MiB, 10 GB/s over 64 MiB. Copy: 100 GB/s over 1 MiB, 60 GB/s over 8 MiB, 20 GB/s over 64 MiB."
    )
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


def test_a_size_without_a_figure_is_a_gap_in_the_sweep_and_told() -> None:
    sweep = [measured("read", buffer_bytes=MiB << index, stolen=9e-4 if index == 2 else 0) for index in range(5)]
    figure = cache_sweep(report(sweep=tuple(sweep)))
    assert "no figure (DISTURBED) over 4 MiB, 10 GB/s over 8 MiB" in figure.alt_text
    curves = [line for line in figure.findobj(Line2D) if isinstance(line, Line2D) and line.get_linewidth() == 2.8]
    # The legend's, and one on each side of the gap.
    assert [len(list(line.get_path().iter_segments())) for line in curves] == [2, 2, 2]
    alone = cache_sweep(report(sweep=tuple(sweep[:4])))
    assert len(alone.findobj(Circle)) == 1  # a point between gaps
    assert overlapping(text_boxes(figure)) == []


def test_a_sweep_of_one_size_or_a_disturbed_one_is_no_curve() -> None:
    with pytest.raises(ValueError, match="the report has no sweep to draw"):
        cache_sweep(swept(50))
    disturbed = [measured("read", stolen=9e-4, buffer_bytes=MiB << index) for index in range(3)]
    with pytest.raises(ValueError, match="the report has no sweep to draw"):
        cache_sweep(report(sweep=tuple(disturbed)))


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code: Any = main(["bandwidth", *arguments])
    except SystemExit as leaving:
        code = leaving.code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring answers at once with a report, and remembers what it was asked."""
    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", lambda *given, **named: report())


@pytest.mark.usefixtures("small")
def test_what_was_asked_for_and_measured_is_exit_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = (tmp_path / "m.json", tmp_path / "m.svg", tmp_path / "m.png")
    code, out, err = run(capsys, "--json", str(files[0]), "--figure", str(files[1]))
    assert (code, err) == (0, "")
    assert out.strip() == told(report())
    assert read_report(files[0]).measurements == report().measurements
    assert files[1].read_text().startswith("<svg")
    assert run(capsys, "--figure", str(files[2]), "--vendor-bandwidth", "20")[0] == 0
    assert files[2].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measurements": (measured("read", stolen=9e-4),)}, "no figure for read (float32): DISTURBED"),
        ({"measurements": (measured("copy", right=False),)}, "no figure for copy (float32): WRONG RESULT"),
        ({"sweep": (measured("copy", stolen=9e-4),)}, "no figure for copy (float32, over 64 MiB): DISTURBED"),
        ({"skipped": ("roofline: skipped, for there is no memory",)}, "roofline: skipped, for there is no memory"),
    ],
)
def test_what_has_no_figure_is_a_sentence_and_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", lambda *_, **__: report(**changes))
    code, out, err = run(capsys)
    assert (code, err.strip()) == (1, words)
    assert out


def test_a_kernel_that_is_not_here_is_told_and_no_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped = ("W4A16, fused: skipped, for this torch has no int4 matmul for processors",)
    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", lambda *_, **__: report(skipped=skipped))
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert skipped[0] in out


def test_a_figure_that_cannot_be_drawn_is_a_sentence_and_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only_memory = report(measurements=(measured("read"),))
    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", lambda *_, **__: only_memory)
    code, out, err = run(capsys, "--figure", str(tmp_path / "f.svg"))
    assert (code, err.startswith("no figure was drawn: ")) == (1, True)
    assert out
    assert not (tmp_path / "f.svg").exists()


@pytest.mark.parametrize("refusal", [NoDevice("the GPU was not measured: none"), MemoryError("nothing was measured")])
def test_no_device_and_no_memory_are_one_sentence_and_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise refusal

    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", refuse)
    assert run(capsys) == (1, "", f"python -m llmserving bandwidth: {refusal}\n")


def test_without_torch_it_says_so_and_still_shows_what_is_recorded() -> None:
    program = (
        "from llmserving.__main__ import main\nimport sys\nsys.stderr = sys.stdout\n"
        "print(main(['bandwidth'])); print(main(['bandwidth', '--recorded', 'list']))"
    )
    said = python(BLOCK_TORCH + program).splitlines()
    assert said[:2] == [
        "python -m llmserving bandwidth: nothing was measured: torch is not installed (pip install torch)",
        "1",
    ]
    assert said[2:] == [*recorded_names(), *[name for name in said[2:-1] if name.endswith("-decode")], "0"]


def test_an_interrupted_command_says_so_and_has_the_status_that_shells_give_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    need_torch()
    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", stopped)
    assert run(capsys, "--only", "memory") == (
        130,
        "",
        "python -m llmserving bandwidth: stopped before there was an answer\n",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--colour",), "unrecognized arguments: --colour"),
        (("--only", "memry"), "invalid choice: 'memry'"),
        (("--threads", "two"), "invalid int value: 'two'"),
        (("--threads", "0"), "threads is the number of threads"),
        (("--buffer", "-1"), "--buffer is the MiB of the buffer"),
        (("--size", "100"), "size is a multiple of 128"),
        (("--samples", "0"), "samples is the least number of samples"),
        (("--device", "tpu"), "device is 'cpu' or 'cuda', but got 'tpu'"),
        (("--gpu", "h20"), "there is no GPU 'h20'"),
        (("--gpu", "h100-80gb"), "--gpu h100-80gb is no figure of a processor"),
        (("--recorded", "xeon-vm-2-cores", "--gpu", "h100-80gb"), "--gpu h100-80gb is no figure of a processor"),
        (("--vendor-bandwidth", "0"), "vendor_bandwidth is"),
        (("--figure", "roof.pdf"), "--figure writes .svg or .png, but got 'roof.pdf'"),
        (("--compare", "a.json"), "expected 2 arguments"),
        (("--compare", "a.json", "b.json"), "cannot read 'a.json'"),
        (("--recorded", "nothing"), "there is no record 'nothing'"),
        (("--recorded", "list", "--compare", "a", "b"), "not allowed with argument"),
        (("--decode", "gpt-5"), "names are austen-bierce, smollm2-135m, random-110m, but got 'gpt-5'"),
        (("--decode", "--device", "cuda"), "--decode measures one thread of a CPU"),
        (("--decode", "--dtype", "int8"), "dtype is float32 or bfloat16, but got 'int8'"),
    ],
)
def test_a_question_that_makes_no_sense_gets_a_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    need_torch()
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_two_files_are_compared_by_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_report(report(), tmp_path / "a.json")
    code, out, err = run(capsys, "--compare", str(tmp_path / "a.json"), str(tmp_path / "a.json"))
    assert (code, err) == (0, "")
    assert "read, float32" in out


def test_the_parts_of_the_command_are_those_that_can_be_measured() -> None:
    need_torch()
    from llmserving.bandwidth.parts import PARTS

    assert PARTS == PART_NAMES


# A small machine, measured for real: forms and results, never speeds


def test_a_real_run_over_little_data_has_every_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    need_torch()
    path = tmp_path / "m.json"
    code, _, err = run(capsys, "--buffer", "3", "--size", "128", "--samples", "2", "--json", str(path))
    found = read_report(path)
    assert {m.operation for m in found.measurements} >= {
        "read",
        "write",
        "copy",
        "triad",
        "linear",
        "square matmul",
        "W8A8",
    }
    assert {m.verdict for m in found.measurements} <= {"ok", "TOO FEW", "DISTURBED"}
    assert sorted({m.buffer_bytes for m in found.sweep}) == [48 * 1024 << step for step in range(7)]
    assert [line for line in err.splitlines() if line.startswith("measuring")] == [
        f"measuring: {p}" for p in PART_NAMES
    ]
    assert code in (0, 1)


# What ships


def test_what_is_recorded_has_date_and_command_and_right_results() -> None:
    assert recorded_names()
    for name in recorded_names():
        found = recorded(name)
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.date)
        assert found.command.startswith("python -m llmserving bandwidth")
        assert found.origin == "recorded"
        assert all(m.result_is_right for m in (*found.measurements, *found.sweep))
        memory = [m for m in found.measurements if m.operation in ("read", "write", "copy", "triad")]
        assert len(memory) == 4
        assert all(m.cache_bytes is not None and m.buffer_bytes >= 4 * m.cache_bytes for m in memory)
        assert "recorded" in told(found)
    with pytest.raises(ValueError, match="there is no record"):
        recorded("none")
