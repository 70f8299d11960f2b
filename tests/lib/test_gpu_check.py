"""Claims about the prepared run on a GPU, as far as they can be held without one: what it refuses, writes and concludes."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

skips.need_torch()

from llmserving.bandwidth import cuda_kernels, gpu_check, kernels  # noqa: E402
from llmserving.bandwidth.gpu_goals import COPY, goals  # noqa: E402
from llmserving.bandwidth.machine import Machine  # noqa: E402
from llmserving.bandwidth.matmuls import BESIDE  # noqa: E402
from llmserving.bandwidth.measurement import Measurement  # noqa: E402
from llmserving.bandwidth.results import BandwidthReport, read_report  # noqa: E402

from tests.lib.bandwidth_fakes import measured, report  # noqa: E402

GPU = Machine("cuda", "NVIDIA H200", 132, 60 * 2**20, "Linux x86_64, Python 3.11.7", "2.13.0+cu130")


def at(name: str, rate: float, seconds: float = 1e-3, rows: int | None = None) -> Measurement:
    return measured(name, seconds, num_bytes=int(rate * seconds), rows=rows)


@pytest.fixture
def reached() -> BandwidthReport:
    """Invented figures: each just as good as its goal."""
    return report(
        machine=GPU,
        measurements=(
            at("copy", 0.9 * COPY),
            at("copy, Triton", COPY),
            at("read, Triton", 0.85 * COPY),
            at("large GEMV", 0.85 * COPY, 3e-3, 1),
            at("large GEMV W4A16, Triton", COPY, 1e-3, 1),
            at(BESIDE, COPY, 1e-3, 512),
            at("W4A16, expanded first", COPY, 1e-3, 512),
        ),
    )


def test_without_a_gpu_it_says_so_writes_nothing_and_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "llmserving.bandwidth.gpu_check", str(tmp_path / "gpu.json")]
    hidden = {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(Path(gpu_check.__file__).parents[2])}
    ran = subprocess.run(command, capture_output=True, text=True, env=hidden)
    assert ran.returncode == 1
    assert ran.stderr.startswith("python -m llmserving.bandwidth.gpu_check: the GPU was not measured: ")
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stdout == ""
    assert not list(tmp_path.iterdir())


def test_without_triton_it_says_so_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_check, "this_machine", lambda device: GPU)
    monkeypatch.setattr(kernels, "missing", lambda: "Triton is not installed here.")
    assert gpu_check.main([str(tmp_path / "gpu.json")]) == 1
    assert capsys.readouterr().err == (
        "python -m llmserving.bandwidth.gpu_check: the kernels were not measured: Triton is not installed here.\n"
    )


def test_a_goal_is_reached_at_its_figure(reached: BandwidthReport) -> None:
    lines = list(goals(reached))
    assert [line.split()[0] for line in lines] == ["reached"] * 5
    assert lines[0] == "reached    copy: 4.3 TB/s, goal 4.3 TB/s"
    assert lines[3].endswith("M = 1: 3.00 times as fast, goal 3.00 times as fast")


@pytest.mark.parametrize(
    ("name", "changed", "line"),
    [
        ("copy, Triton", at("copy, Triton", 0.99 * COPY), 0),
        ("read, Triton", at("read, Triton", 0.84 * COPY), 1),
        ("large GEMV", at("large GEMV", 0.84 * COPY, 3e-3, 1), 2),
        ("large GEMV W4A16, Triton", at("large GEMV W4A16, Triton", COPY, 1.01e-3, 1), 3),
        ("W4A16, expanded first", at("W4A16, expanded first", COPY, 0.99e-3, 512), 4),
    ],
)
def test_a_goal_is_missed_below_it(reached: BandwidthReport, name: str, changed: Measurement, line: int) -> None:
    measurements = tuple(changed if found.operation == name else found for found in reached.measurements)
    assert list(goals(dataclasses.replace(reached, measurements=measurements)))[line].startswith("missed ")


def test_a_goal_without_a_figure_is_neither(reached: BandwidthReport) -> None:
    wrong = measured("large GEMV W4A16, Triton", right=False, rows=1)
    lines = list(goals(dataclasses.replace(reached, measurements=(at("copy", COPY), wrong))))
    assert [line.split("  ")[0] for line in lines] == ["reached", *["no figure"] * 4]


@pytest.mark.parametrize("fault", [None, "CUDA: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "NVRTC is not installed."])
def test_it_writes_what_it_found_and_fails_where_something_is_missing(
    reached: BandwidthReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Also where the kernels in CUDA C++ break, which nothing could try without a GPU."""
    cuda = at("copy, CUDA C++", COPY)

    def measured_cuda(*_: object) -> tuple[list[Measurement], list[str]]:
        if fault and fault.startswith("CUDA"):
            raise RuntimeError(fault)
        return [cuda], []

    why = None if fault is None or fault.startswith("CUDA") else fault
    monkeypatch.setattr(gpu_check, "_without_cuda_cpp", lambda: reached)
    monkeypatch.setattr(gpu_check, "_measured", measured_cuda)
    monkeypatch.setattr(cuda_kernels, "missing", lambda: why)
    path = tmp_path / "gpu.json"
    assert gpu_check.main([str(path)]) == (1 if fault else 0)
    told = capsys.readouterr()
    assert "reached    copy: 4.3 TB/s" in told.out
    assert told.err == (f"the kernels in CUDA C++: skipped, for {fault}\n" if fault else "")
    names = [found.operation for found in read_report(path).measurements]
    assert names == [found.operation for found in (*reached.measurements, *([] if fault else [cuda]))]
