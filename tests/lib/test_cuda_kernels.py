"""Claims about the kernels in CUDA C++, without a GPU: their source run on a processor, and what NVRTC compiles it to."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from llmserving.bandwidth import nvrtc
from llmserving.bandwidth.cuda_kernels import PIECE_BYTES, PIECES, THREADS, copy_blocks, gemv_blocks

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.bandwidth import cuda_kernels  # noqa: E402
from llmserving.bandwidth.kernel_weights import expanded, random_packed_weights  # noqa: E402

ON_HOST = Path(__file__).parent / "cuda" / "on_host.cpp"
TARGETS = (80, 90, 100)


def address(tensor: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def compiled_for_the_host(source: Path, folder: Path) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        skips.skip("no C++ compiler")
    library = folder / f"{source.stem}.so"
    options = ["-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-Wno-unknown-pragmas", f'-DKERNELS="{source}"']
    subprocess.run([str(compiler), *options, str(ON_HOST), "-o", str(library)], check=True, capture_output=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled_for_the_host(nvrtc.SOURCE, tmp_path_factory.mktemp("host"))


def gemv_on_host(host: ctypes.CDLL, weight: Any, x: Any) -> Any:
    y = torch.full((weight.shape[0],), float("nan"), dtype=torch.float16)
    given = (weight.codes.data, weight.scale, weight.zero_points.data, x, y)
    sizes = (ctypes.c_int(size) for size in (*weight.shape, weight.group_size))
    host.run_gemv_w4a16(gemv_blocks(weight.shape[0]), THREADS, *map(address, given), *sizes)
    return y


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [1, THREADS * PIECES, 1000])
def test_the_copy_copies_everything_and_no_more(host: ctypes.CDLL, pieces: int) -> None:
    size = pieces * PIECE_BYTES // 4
    source, target = torch.rand(size), torch.full((size + 4,), -1.0)
    host.run_copy(copy_blocks(pieces), THREADS, address(source), address(target), ctypes.c_longlong(pieces))
    assert torch.equal(target[:size], source)
    assert bool((target[size:] == -1).all())


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "group"), [(1, 32, 32), (5, 384, 128), (17, 1184, 32), (3, 2112, 96)])
def test_the_fused_gemv_is_the_matmul_by_the_weights(host: ctypes.CDLL, rows: int, columns: int, group: int) -> None:
    """Rows and columns that fill no block, one and more; also a group that is no power of two."""
    (weight,) = random_packed_weights(1, rows, columns, group, "cpu")
    x = torch.randn(columns, generator=torch.Generator().manual_seed(4)).half()
    found, right = gemv_on_host(host, weight, x), expanded(weight, slice(None)) @ x.double()
    assert float((found.double() - right).abs().max()) <= 2**-11 * float(right.abs().max()) * 1.01


@pytest.mark.slow
def test_a_kernel_that_takes_the_wrong_nibble_fails_that_comparison(tmp_path: Path) -> None:
    text = nvrtc.SOURCE.read_text()
    wrong = tmp_path / "wrong.cu"
    wrong.write_text(text.replace("word : word >> 16", "word >> 16 : word"))
    assert wrong.read_text() != text
    (weight,) = random_packed_weights(1, 4, 128, 32, "cpu")
    x = torch.randn(128, generator=torch.Generator().manual_seed(4)).half()
    found = gemv_on_host(compiled_for_the_host(wrong, tmp_path), weight, x).double()
    right = expanded(weight, slice(None)) @ x.double()
    assert float((found - right).abs().max()) > 0.1 * float(right.abs().max())


@pytest.mark.slow
@pytest.mark.parametrize("capability", TARGETS)
def test_nvrtc_compiles_it_with_loads_of_16_bytes(capability: int) -> None:
    """The copy's four pieces; in the GEMV four rows of codes and four pieces of x, and a scale and a zero-point a row."""
    skips.need_nvrtc()
    compiled = nvrtc.compile_cuda(capability)
    assert compiled.machine_code.startswith(b"\x7fELF")
    assert f".target sm_{capability}" in compiled.ptx
    loads = {name: nvrtc.of_kernel(compiled, name).loads_by_bytes for name in nvrtc.KERNELS}
    assert loads == {"copy": {16: 4}, "gemv_w4a16": {1: 4, 2: 4, 16: 8}}


@pytest.mark.slow
def test_a_copy_of_single_floats_fails_that_count() -> None:
    skips.need_nvrtc()
    narrow = nvrtc.SOURCE.read_text().replace("const uint4* __restrict__ source, uint4*", "const float* source, float*")
    narrow = narrow.replace("uint4 held[PIECES];", "float held[PIECES];", 1)
    loads = nvrtc.of_kernel(nvrtc.compile_cuda(90, narrow), "copy").loads_by_bytes
    assert loads == {4: 4}


@pytest.mark.slow
def test_what_the_compiler_refuses_is_told_in_its_words() -> None:
    skips.need_nvrtc()
    with pytest.raises(ValueError, match="NVRTC refuses the source for sm_90: kernels.cu\\(1\\): error"):
        nvrtc.compile_cuda(90, "__global__ void half() { return 1; }")
    with pytest.raises(ValueError, match="NVRTC refuses the source for sm_12: .*invalid value for --gpu-architecture"):
        nvrtc.compile_cuda(12)


def test_without_nvrtc_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "find_spec", lambda name: None)
    nvrtc._library.cache_clear()
    cuda_kernels.missing.cache_clear()
    try:
        with pytest.raises(RuntimeError, match="NVRTC compiles CUDA C\\+\\+ and is not installed: pip install -r"):
            nvrtc.compile_cuda()
        with pytest.raises(RuntimeError, match="NVRTC, which compiles CUDA C\\+\\+, is not installed: pip install -r"):
            cuda_kernels.copy(torch.ones(4), torch.ones(4))
    finally:
        cuda_kernels.missing.cache_clear()


def test_without_a_gpu_a_sentence_says_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "has_nvrtc", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    cuda_kernels.missing.cache_clear()
    with pytest.raises(RuntimeError, match="can be compiled here, but torch finds no CUDA device"):
        cuda_kernels.gemv_w4a16(random_packed_weights(1, 4, 64, 32, "cpu")[0], torch.ones(64).half())
    cuda_kernels.missing.cache_clear()


def test_the_source_and_its_launches_are_cut_alike() -> None:
    text = nvrtc.SOURCE.read_text()
    assert f"constexpr int PIECES = {PIECES};" in text
    assert f"constexpr int ROWS = {cuda_kernels.ROWS};" in text
