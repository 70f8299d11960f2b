"""Claims about the kernels where Triton, torch or a GPU is missing: a sentence each, and the rest of the course works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from llmserving.bandwidth import ahead_of_time, kernel_arguments, kernels
from llmserving.bandwidth.launch_sizes import gemv_sizes, gemv_w4a16_sizes, stream_sizes

from tests import skips

skips.need_torch()

import torch  # noqa: E402


def without(*missing: str) -> Callable[..., Any]:
    """`find_spec` on a machine that has all of them but these."""
    return lambda name: None if name in missing else find_spec("sys")


@pytest.fixture(autouse=True)
def asked_afresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    kernels.missing.cache_clear()
    yield
    kernels.missing.cache_clear()


def test_without_triton_a_sentence_says_so_and_what_works_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_arguments, "find_spec", without("triton"))
    with pytest.raises(
        RuntimeError, match="Triton is not installed here: pip install -r requirements-kernels.txt"
    ) as told:
        kernels.read(torch.ones(4))
    assert str(told.value).endswith(
        "The torch operations of `python -m llmserving bandwidth` measure the same without it."
    )


def test_without_torch_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_arguments, "find_spec", without("torch"))
    assert kernels.missing() == (
        "The Triton kernels work on torch tensors, and torch is not installed here: pip install torch."
    )


def test_without_a_gpu_a_sentence_says_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_arguments, "find_spec", without())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="torch finds no CUDA device .* still be compiled.* TRITON_INTERPRET=1"):
        kernels.copy(torch.ones(4), torch.ones(4))


def test_with_all_of_them_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_arguments, "find_spec", without())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert kernels.missing() is None


def test_compiling_without_triton_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead_of_time, "find_spec", without("triton"))
    with pytest.raises(RuntimeError, match="Triton compiles the kernels and is not installed: pip install"):
        ahead_of_time.compile_kernel("copy")


def test_importing_the_launches_loads_neither_torch_nor_triton() -> None:
    code = (
        "import sys, llmserving.bandwidth.kernels, llmserving.bandwidth.ahead_of_time\n"
        "print('torch' in sys.modules, 'triton' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "False False", ran.stderr


@pytest.mark.parametrize("size", [1, 2048, 2049, 10**6])
def test_the_programs_of_a_stream_cover_it_and_none_is_idle(size: int) -> None:
    for tiles in (1, 16):
        sizes = stream_sizes(size, tiles)
        each = sizes.constants["BLOCK"] * tiles
        assert (sizes.programs - 1) * each < size <= sizes.programs * each


def test_the_threads_of_a_gemv_lie_side_by_side_and_load_16_bytes() -> None:
    """128 threads with 8 values of 16 bits, or 32 codes of 4; a narrow matrix has fewer columns than they could take."""
    wide = gemv_sizes(10, 4096)
    assert (wide.programs, wide.constants["BLOCK"] * 2) == (3, wide.warps * 32 * 16)
    packed = gemv_w4a16_sizes(10, 8192, 128)
    assert packed.constants["BLOCK"] * packed.constants["GROUP"] // 2 == packed.warps * 32 * 16
    assert gemv_sizes(1, 96).constants["BLOCK"] == 128
    assert gemv_w4a16_sizes(1, 96, 32).constants["BLOCK"] == 4


@pytest.mark.parametrize("group_size", [16, 96])
def test_groups_that_fill_no_whole_load_are_refused(group_size: int) -> None:
    with pytest.raises(ValueError, match=f"groups of 32, 64, 128 … weights \\(a power of two\\), but got {group_size}"):
        gemv_w4a16_sizes(4, 96, group_size)


@pytest.mark.parametrize(
    ("line", "loads"),
    {
        "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];": {16: 1},
        "@%p1 ld.global.L1::evict_last.v2.b64 { %rd4, %rd5 }, [ %rd1 + 0 ];": {16: 1},
        "ld.global.v8.b32 {}, [%rd1];": {32: 1},
        "ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];\n ld.global.nc.u8 %rs1, [%rd1];": {1: 1, 8: 1},
        "ld.shared.v4.b32 {}, [%r1];\n st.global.v4.b32 [%rd1], {};": {},
    }.items(),
)
def test_the_count_tells_how_wide_a_load_from_memory_is(line: str, loads: dict[int, int]) -> None:
    found = ahead_of_time.Compiled("copy", 90, line, b"", 0)
    assert found.loads_by_bytes == loads
    assert found.vector_loads == sum(count for width, count in loads.items() if width >= 16)
