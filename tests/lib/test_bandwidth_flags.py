"""Claims about the flags of the command: none is ignored, and what cannot be done is told before anything is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llmserving.bandwidth import recorded, recorded_names, write_report
from llmserving.bandwidth.recordings import recorded_decode, recorded_decode_names
from llmserving.bandwidth.report import told
from llmserving.bandwidth.vendor import vendor_of

from tests.lib.bandwidth_fakes import measured, report
from tests.lib.test_bandwidth_report import run
from tests.skips import need_torch

REPORT, DECODE = recorded_names()[0], recorded_decode_names()[0]


@pytest.fixture
def never_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("measured, though the question could have been refused before")

    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", refuse)
    monkeypatch.setattr("llmserving.bandwidth.decode_report.decode_table", refuse)


@pytest.mark.usefixtures("never_measured")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--json", "/nonexistent/a.json"), "cannot write '/nonexistent/a.json': No such file or directory"),
        (("--json", "/"), "cannot write '/': Is a directory"),
        (("--figure", "/nonexistent/a.svg"), "--figure cannot write '/nonexistent/a.svg': No such file"),
        (("--decode", "--json", "/nonexistent/a.json"), "cannot write '/nonexistent/a.json'"),
        (("--decode", "--figure", "a.svg", "--batches", "3"), "give two --batches at least"),
        (("--only", "memory", "--figure", "a.svg"), "add roofline to --only"),
        (("--figure", "a.svg", "--dtype", "int3"), "--dtype is float32 or bfloat16 on cpu, but got 'int3'"),
        (("--buffer", "0"), "--buffer is the MiB of the buffer and must be at least 1, but got 0"),
    ],
)
def test_what_cannot_be_done_is_told_before_measuring(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    need_torch()
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.usefixtures("never_measured")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--compare", "a", "a", "--json", "q", "--figure", "q.svg"), "--compare does not use --json or --figure"),
        (("--only", "memory", "--batches", "3"), "measuring a machine does not use --batches; leave it out"),
        (("--recorded", REPORT, "--device", "cuda"), "--recorded of a report does not use --device"),
        (("--recorded", REPORT, "--dtype", "float32"), "--dtype chooses what --figure draws"),
        (("--recorded", DECODE, "--gpu", "h200"), "--recorded of decode does not use --gpu"),
        (("--recorded", "list", "--json", "q"), "--recorded list does not use --json"),
        (("--decode", "--only", "memory", "--buffer", "3"), "--decode does not use --only or --buffer"),
        (("--dtype", "float32"), "--dtype chooses what --figure draws"),
        (("--only", "memory", "--size", "128"), "--size is of the matmuls' weights"),
        (("--gpu", "h200", "--vendor-bandwidth", "3"), "give one of them"),
    ],
)
def test_no_flag_is_ignored(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    need_torch()
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not Path("q").exists()


def test_what_was_measured_is_shown_where_its_file_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()

    def measure(*_: Any, **__: Any) -> Any:
        folder.rmdir()
        return report()

    monkeypatch.setattr("llmserving.bandwidth.suite.measure_machine", measure)
    code, out, err = run(capsys, "--json", str(folder / "a.json"))
    assert code == 1
    assert out.strip() == told(report())
    assert "cannot write" in err


# The vendor


def test_the_vendor_is_named_with_its_number_and_called_theoretical() -> None:
    words = told(report(), vendor_of("", "h200-141gb"))
    assert "of vendor: of 4.8 TB/s, theoretical, that the vendor names for h200-141gb" in words
    assert "that the vendor names for h200-141gb: theoretical, 9" in words


def test_a_name_that_is_sold_with_several_bandwidths_is_refused() -> None:
    with pytest.raises(ValueError, match=r"h100 is sold as h100-80gb \(3.35 TB/s\) and h100-pcie-80gb \(2 TB/s\)"):
        vendor_of("", "h100")
    found = vendor_of("", "h100-pcie")
    assert found is not None
    assert found.name == "h100-pcie-80gb"


# Records


def test_a_record_is_shown_with_exit_0_and_without_advice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in recorded_names():
        assert run(capsys, "--recorded", name)[::2] == (0, "")
        assert "close what runs" not in told(recorded(name))
    disturbed = report(measurements=(measured("read", stolen=9e-4),))
    assert "close what runs, or try again later" in told(disturbed)


def test_a_record_is_written_again_as_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_report(recorded(REPORT), tmp_path / "a.json")
    assert run(capsys, "--recorded", REPORT, "--json", str(tmp_path / "b.json"))[0] == 0
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_a_name_that_is_not_recorded_gets_all_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--recorded", "nope")
    assert code == 2
    assert REPORT in err.replace(DECODE, "")
    assert DECODE in err


def test_no_sentence_of_a_record_is_said_twice() -> None:
    for name in recorded_decode_names():
        skipped = recorded_decode(name).skipped
        assert len(set(skipped)) == len(skipped)


def test_a_reader_who_has_read_enough_gets_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "llmserving", "bandwidth", "--recorded", REPORT]
    found = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (0, "")


def test_writing_past_the_caches_is_named_as_the_exception() -> None:
    assert "unless it is stored past the caches (non-temporal stores)" in told(report())


def test_the_heading_of_the_sweep_says_which_caches_do_not_show() -> None:
    assert "as long as rates still rise, the time of the calls themselves shows, and no cache as small as that" in told(
        report()
    )
