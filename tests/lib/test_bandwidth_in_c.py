"""Claims about the C program that torch's bandwidth is held against: it does the same, and its absence is a sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.skips import need_torch

need_torch()

import torch  # noqa: E402
from llmserving.bandwidth.operation import Rotation  # noqa: E402
from llmserving.bandwidth.operations import memory_operations, random_buffer, slots_of  # noqa: E402

from tests.benchmarks import bench_bandwidth  # noqa: E402
from tests.benchmarks.stream import COMPILERS, NoCompiler, compiled, stream_operations  # noqa: E402
from tests.lib.bandwidth_fakes import measured  # noqa: E402

SLOT = 48 * 1024


def test_c_does_the_same_to_the_same_bytes_and_passes_the_same_checks(tmp_path: Path) -> None:
    if not any(shutil.which(name) for name in COMPILERS):
        with pytest.raises(NoCompiler):
            compiled(tmp_path)
        return
    library = compiled(tmp_path)
    results = []
    for by_c in (True, False):
        slots = slots_of(random_buffer(2 * SLOT), SLOT)
        rotation = Rotation(2)
        names = ("read", "write", "copy", "triad")
        made = stream_operations(library, slots, rotation) if by_c else memory_operations(slots, names, rotation)
        read, write, copy, triad = made
        assert [operation.bytes_counted for operation in made] == [SLOT] * 4
        found = float(read.run(0))
        assert read.is_right(0, found)
        copy.run(0)
        assert copy.is_right(0, None)
        triad.run(0)
        assert triad.is_right(0, None)
        assert write.is_right(1, write.run(1))
        results.append((found, slots[0].clone(), slots[1].clone()))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-4)
    assert torch.allclose(results[0][1], results[1][1])
    assert torch.equal(results[0][2], results[1][2])


def test_c_leaves_the_numbers_of_the_process_that_loads_it_as_they_were(tmp_path: Path) -> None:
    """gcc's -ffast-math would have subnormal numbers rounded to 0 from then on, in every computation of this process."""
    if any(shutil.which(name) for name in COMPILERS):
        compiled(tmp_path)
    smallest = float("5e-324")
    assert smallest * float("1") == smallest > 0


def test_no_compiler_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(NoCompiler, match="the comparison with C was skipped: there is no compiler"):
        compiled(tmp_path)


def test_a_compiler_that_fails_is_a_sentence_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: Any) -> Any:
        return subprocess.CompletedProcess(command, 1, "", "cc: no headers\nmore")

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("subprocess.run", run)
    with pytest.raises(NoCompiler, match=r"cc could not compile stream.c \(cc: no headers\)"):
        compiled(tmp_path)


def test_a_ratio_is_ours_over_c_and_there_is_none_of_a_disturbed_side() -> None:
    assert bench_bandwidth.ratio(measured("read", 1e-3), measured("read", 1.02e-3)) == " 1.02 best,  1.02 median"
    assert bench_bandwidth.ratio(measured("read", 2e-3), measured("read", 1e-3)).endswith("beyond the goal of 8 %")
    disturbed = measured("read", stolen=9e-4)
    assert bench_bandwidth.ratio(measured("read"), disturbed) == "no ratio: DISTURBED"
    assert bench_bandwidth.ratio(measured("read", right=False), measured("read")) == "no ratio: WRONG RESULT"
