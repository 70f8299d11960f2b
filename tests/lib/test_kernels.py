"""Claims about the Triton kernels, without a GPU: what they compute, by Triton's interpreter, and what they compile to.

What a GPU makes of them, and how fast, only a GPU can tell: llmserving.bandwidth.gpu_check is for that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llmserving.bandwidth.ahead_of_time import EXAMPLES, TARGETS, Compiled, compile_function, compile_kernel
from llmserving.bandwidth.launch_sizes import stream_sizes

from tests import skips
from tests.notebook_runs import ROOT

pytestmark = pytest.mark.slow

# Results in 16 bits: half of what such a float's last bit counts, or all of it where the interpreter cuts bfloat16 off
# (Triton rounds it on a GPU; see https://github.com/triton-lang/triton/issues/5424). In float32 the order of a sum shows.
ROUNDING = {"float32": 2e-6, "float16": 2**-11, "bfloat16": 2**-7}

Arrays = dict[str, np.ndarray[Any, Any]]


@pytest.fixture(scope="module", autouse=True)
def triton() -> None:
    skips.need_triton()


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    path = tmp_path_factory.mktemp("interpreted") / "results.npz"
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT / "lib")}
    command = [sys.executable, str(ROOT / "tests" / "lib" / "interpreted_kernels.py"), str(path)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=path.parent)
    assert ran.returncode == 0, ran.stderr
    with np.load(path) as results:
        return dict(results)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, int], Compiled]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield {
            (kernel, capability): compile_kernel(kernel, capability)
            for kernel in EXAMPLES
            for capability in {*TARGETS.values()}
        }


def cases(arrays: Arrays, kernel: str) -> list[str]:
    return [name.removesuffix("/found") for name in arrays if f" {kernel} " in name and name.endswith("/found")]


@pytest.mark.parametrize("kernel", ["copy", "triad", "read", "gemv", "gemv_w4a16"])
def test_a_kernel_computes_what_it_says(interpreted: Arrays, kernel: str) -> None:
    """In every dtype, at sizes that fill no tile, one, and several with a rest."""
    names = cases(interpreted, kernel)
    assert len(names) >= 9
    for case in names:
        found, right = interpreted[f"{case}/found"], interpreted[f"{case}/right"]
        assert found.shape == right.shape
        # read gives float32 in any case; GEMVs are held to the size of their sums' terms, which may cancel.
        rounding = ROUNDING["float32" if kernel == "read" else case.split()[0]]
        assert np.abs(found - right).max() <= rounding * np.abs(right).max() * 1.01 + 1e-6, case


def test_a_copy_is_exact(interpreted: Arrays) -> None:
    for case in cases(interpreted, "copy"):
        assert np.array_equal(interpreted[f"{case}/found"], interpreted[f"{case}/right"])


def test_the_fused_kernel_agrees_with_the_plain_w4a16_layer(interpreted: Arrays) -> None:
    """Which expands all weights first: the same bytes, read by two readers."""
    for case in cases(interpreted, "gemv_w4a16"):
        found, plain = interpreted[f"{case}/found"], interpreted[f"{case}/linear"]
        rounding = ROUNDING[case.split()[0]]
        assert np.abs(found - plain).max() <= rounding * np.abs(plain).max() * 1.01 + 1e-6, case


def test_codes_in_another_order_would_be_noticed(interpreted: Arrays) -> None:
    """The check above fails for the same weight with the two codes of each byte exchanged."""
    case = "float32 gemv_w4a16 4 512 64"
    found, exchanged = interpreted[f"{case}/found"], interpreted[f"{case}/exchanged"]
    assert np.abs(found - exchanged).max() > 0.1 * np.abs(found).max()


def test_operations_made_of_kernels_are_right_and_notice_a_wrong_result(interpreted: Arrays) -> None:
    verdicts = {name: tuple(value) for name, value in interpreted.items() if name.startswith("operation/")}
    assert len(verdicts) == 5  # read, copy, triad and two GEMVs
    assert set(verdicts.values()) == {(True, False)}


@pytest.mark.parametrize(
    ("case", "sentence"),
    {
        "shape": "ValueError: source, target have one shape and dtype, but got source float32 [64], target float32 [65]",
        "dtype": "ValueError: b, c, a have one shape and dtype, but got b float32 [64], c float32 [64], a float16 [64]",
        "integers": "TypeError: source holds float32, float16, bfloat16, but got dtype int32",
        "no tensor": "TypeError: source is a torch tensor, but got array([1., 1., 1., 1.])",
        "empty": "ValueError: source is empty, of shape [0]",
        "gaps": "ValueError: source has gaps or another order in memory; pass source.contiguous()",
        "device": "ValueError: source lies on meta, but the kernels run on cpu here",
        "gemv": "ValueError: weight is [out, in] and x [in], but got [4, 64] and [32]",
        "gemv dtypes": "TypeError: weight and x have one dtype, but got float32 and float16",
        "unpacked": "TypeError: weight is a PackedWeight, as pack_weight() gives it, but got tensor([[1., 1.,",
        "inputs": "ValueError: x is [in], and the weight [4, 64] takes 64, but got [32]",
        "order": "ValueError: the kernel reads unsigned codes in the linear order, as pack_weight() packs them",
        "within a word": "ValueError: codes begin within a word of their memory, and the kernel reads whole words",
        "group": "ValueError: the kernel takes groups of 32, 64, 128 … weights (a power of two), but got 16",
    }.items(),
)
def test_what_does_not_fit_is_refused_with_a_sentence(interpreted: Arrays, case: str, sentence: str) -> None:
    assert str(interpreted[f"refused/{case}"]).startswith(sentence)


def test_an_interpreting_process_compiles_nothing(interpreted: Arrays) -> None:
    assert str(interpreted["refused/compile"]).startswith("RuntimeError: TRITON_INTERPRET is set")


@pytest.mark.parametrize("capability", sorted({*TARGETS.values()}))
@pytest.mark.parametrize("kernel", EXAMPLES)
def test_a_kernel_compiles_to_machine_code(
    compiled: dict[tuple[str, int], Compiled], kernel: str, capability: int
) -> None:
    """For GPUs that are not here. CUDA's machine code is an ELF file; the PTX names its target."""
    found = compiled[kernel, capability]
    assert found.machine_code.startswith(b"\x7fELF")
    assert f".target sm_{capability}" in found.ptx


LARGE_LOADS = {"copy": 4, "triad": 8, "read": 4, "gemv": 5, "gemv_w4a16": 8}
"""Loads of 16 bytes: a thread's pieces of a tile (of two tiles in triad); of four rows, with one piece of x for the GEMV
and, of 32 codes, four for the packed one."""


@pytest.mark.parametrize("capability", sorted({*TARGETS.values()}))
@pytest.mark.parametrize("kernel", EXAMPLES)
def test_a_thread_loads_16_bytes_at_once(
    compiled: dict[tuple[str, int], Compiled], kernel: str, capability: int
) -> None:
    found = compiled[kernel, capability]
    assert found.vector_loads == LARGE_LOADS[kernel], found.loads_by_bytes
    # The packed kernel's scales and zero-points, one of each a group, are all that is read in smaller pieces.
    assert sum(found.loads_by_bytes.values()) - found.vector_loads == (2 if kernel == "gemv_w4a16" else 0)


def test_a_kernel_that_loads_every_second_value_fails_that_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from tests.lib.scalar_kernel import strided_copy_kernel

    types, _ = EXAMPLES["copy"]
    found = compile_function(strided_copy_kernel, types, stream_sizes(2**28), 90)
    assert found.vector_loads == 0
    assert found.loads_by_bytes == {4: 16}


def test_an_unknown_kernel_is_named() -> None:
    with pytest.raises(ValueError, match="there is no kernel 'axpy'; choose one of copy, triad, read, gemv"):
        compile_kernel("axpy")
