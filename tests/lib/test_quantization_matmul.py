"""Claims about linear layers with quantized weights, and about timing them so that the timings can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from llmserving.quantization import (
    MatmulTiming,
    bench_matmul,
    has_int4_kernel,
    int8_matmul,
    kernel_weight,
    linear_int4_kernel,
    linear_w4a16,
    linear_w8a8,
    matmul,
    pack_quantized,
    pack_weight,
    quantize_rows,
    quantize_tensor,
)

from tests.lib.quantization_arrays import array, both, normal, numbers


@both
def test_w4a16_is_the_matmul_by_the_dequantized_weights(library: str) -> None:
    x, weight = normal(2, 3, 64), normal(16, 64, seed=1)
    packed = pack_weight(array(library, weight), 32)
    found = linear_w4a16(array(library, x), packed)
    assert tuple(found.shape) == (2, 3, 16)
    assert numbers(found) == pytest.approx(x @ numbers(packed.dequantize()).T, abs=1e-4)


@both
@pytest.mark.parametrize(("rows", "columns", "group"), [(3, 64, 64), (4, 96, 32), (1, 8, 4)])
def test_the_packed_path_loses_nothing_that_rounding_has_not(library: str, rows: int, columns: int, group: int) -> None:
    """Codes, scales and zero-points, an odd number of them too, come back from the bytes as they went in."""
    weight = array(library, normal(rows, columns))
    quantized = quantize_tensor(weight, 4, group_size=group, scale_dtype="float16")
    packed = pack_quantized(quantized)
    assert np.array_equal(numbers(packed.codes.unpack()), numbers(quantized.codes))
    assert np.array_equal(numbers(packed.zero_point), numbers(quantized.zero_point))
    assert np.array_equal(numbers(packed.dequantize()), numbers(quantized.dequantize()))
    assert (packed.shape, packed.group_size) == ((rows, columns), group)


def test_a_packed_weight_takes_4_156_bits() -> None:
    packed = pack_weight(normal(8, 256))
    assert packed.bits_a_weight == 4.15625
    assert packed.num_bytes == packed.codes.data.nbytes + packed.scale.nbytes + packed.zero_points.data.nbytes


def test_activations_keep_their_dtype() -> None:
    x = torch.from_numpy(normal(2, 64)).bfloat16()
    assert linear_w4a16(x, pack_weight(torch.from_numpy(normal(16, 64)), 32)).dtype == torch.bfloat16


@both
def test_w8a8_is_near_the_matmul_and_exactly_the_sum_of_its_codes(library: str) -> None:
    x, weight = normal(2, 5, 64), normal(16, 64, seed=1)
    rows = quantize_rows(array(library, weight))
    found = numbers(linear_w8a8(array(library, x), rows))
    assert found.shape == (2, 5, 16)
    assert np.abs(found - x @ weight.T).max() < 0.25
    tokens = quantize_rows(x.reshape(10, 64))
    exact = tokens.codes.astype(int) @ numbers(rows.codes).T.astype(int) * tokens.scale * numbers(rows.scale).T
    assert found.reshape(10, 16) == pytest.approx(exact, rel=1e-5, abs=1e-5)


@both
def test_a_token_s_outlier_costs_no_other_token(library: str) -> None:
    x, weight = normal(4, 64), quantize_rows(array(library, normal(16, 64)))
    wild = x.copy()
    wild[2, 7] = 500
    one, other = (numbers(linear_w8a8(array(library, a), weight)) for a in (x, wild))
    assert np.array_equal(one[[0, 1, 3]], other[[0, 1, 3]])


@both
@pytest.mark.parametrize(("m", "k", "n"), [(1, 256, 16), (7, 13, 5), (32, 300, 24)])
def test_int8_products_are_summed_exactly_over_all_codes(library: str, m: int, k: int, n: int) -> None:
    random = np.random.default_rng(0)
    for a, b in [
        (random.integers(-128, 128, (m, k)), random.integers(-128, 128, (k, n))),
        (np.full((m, k), -128), np.full((k, n), -128)),
        (np.full((m, k), -128), np.full((k, n), 127)),
    ]:
        codes = [c.astype(np.int8) if library == "numpy" else torch.from_numpy(c.astype(np.int8)) for c in (a, b)]
        found = int8_matmul(*codes)
        assert str(found.dtype).removeprefix("torch.") == "int32"
        assert np.array_equal(numbers(found), a @ b)


def test_int8_as_it_stands_wraps_around() -> None:
    """Why there is an int8_matmul at all."""
    a = np.full((1, 2), 127, np.int8)
    assert (a @ a.T).item() == 2
    assert int8_matmul(a, a.T).item() == 2 * 127**2


def test_torch_s_own_int8_matmul_is_used_only_where_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    matmul.torch_int8_matmul_is_exact.cache_clear()
    codes = torch.full((16, 64), -128, dtype=torch.int8)
    monkeypatch.setattr(torch, "_int_mm", lambda a, b: (a.int() @ b.int()).clamp(-(2**15), 2**15 - 1))
    try:
        assert not matmul.torch_int8_matmul_is_exact()
        assert int8_matmul(codes, codes.T)[0, 0] == 64 * 128**2
        matmul.torch_int8_matmul_is_exact.cache_clear()
        monkeypatch.delattr(torch, "_int_mm")
        assert not matmul.torch_int8_matmul_is_exact()
    finally:
        matmul.torch_int8_matmul_is_exact.cache_clear()


def test_the_int4_kernel_multiplies_by_the_same_weights() -> None:
    """Its zero is a float in the unit of the weights; read as ours it would be far off."""
    assert has_int4_kernel()
    x = torch.from_numpy(normal(3, 128)).bfloat16()
    packed = pack_weight(torch.from_numpy(normal(32, 128, seed=1)), 32)
    found = linear_int4_kernel(x, kernel_weight(packed))
    exact = x.float() @ packed.dequantize().T
    assert (found.float() - exact).abs().max() < 0.02 * exact.abs().max()


def test_without_the_kernel_there_is_a_plain_no(monkeypatch: pytest.MonkeyPatch) -> None:
    has_int4_kernel.cache_clear()
    monkeypatch.delattr(torch, "_weight_int4pack_mm_for_cpu")
    try:
        assert not has_int4_kernel()
        assert "W4A16, torch's kernel" not in {timing.kernel for timing in bench_matmul(128, [1], 1, 1)}
    finally:
        has_int4_kernel.cache_clear()


def bad(library: str, case: str) -> Any:
    weight = pack_weight(array(library, normal(16, 64)), 32)
    return {
        "columns": lambda: linear_w4a16(array(library, normal(2, 32)), weight),
        "codes": lambda: linear_w4a16(array(library, normal(2, 64)) > 0, weight),
        "asymmetric": lambda: linear_w8a8(array(library, normal(2, 64)), quantize_tensor(normal(16, 64), 8, axis=0)),
        "columns scaled": lambda: linear_w8a8(
            array(library, normal(2, 64)), quantize_tensor(normal(16, 64), 8, "symmetric", axis=1)
        ),
        "float codes": lambda: int8_matmul(normal(2, 2), normal(2, 2)),
        "long sums": lambda: int8_matmul(np.zeros((1, 2**17), np.int8), np.zeros((2**17, 1), np.int8)),
        "float32 scales": lambda: pack_quantized(quantize_tensor(normal(4, 8), 4)),
        "8 bits": lambda: pack_quantized(quantize_tensor(normal(4, 8), 8)),
        "no matrix": lambda: pack_weight(normal(64)),
        "groups": lambda: pack_weight(normal(4, 64), 48),
        "kernel rows": lambda: kernel_weight(pack_weight(torch.from_numpy(normal(8, 64)), 32)),
        "kernel floats": lambda: linear_int4_kernel(
            torch.from_numpy(normal(2, 64)), kernel_weight(pack_weight(torch.from_numpy(normal(16, 64)), 32))
        ),
    }[case]


@pytest.mark.parametrize(
    ("case", "error", "words"),
    [
        ("columns", ValueError, r"x has shape \(2, 32\), but the weights \[16, 64\] take 64 inputs"),
        ("codes", TypeError, "one of dtype bool"),
        ("asymmetric", ValueError, "one symmetric scale a row"),
        ("columns scaled", ValueError, "one symmetric scale a row"),
        ("float codes", TypeError, "a holds int8 codes, but got dtype float32"),
        ("long sums", ValueError, "131072 products .* may not fit 32 bits"),
        ("float32 scales", ValueError, "packed weights keep 16-bit scales"),
        ("8 bits", ValueError, "4-bit asymmetric codes are packed here, but got 8 bits"),
        ("no matrix", ValueError, r"weight is a matrix \[out, in\]"),
        ("groups", ValueError, "group_size 48 does not divide the 64 columns"),
        ("kernel rows", ValueError, "a multiple of 16 outputs"),
        ("kernel floats", TypeError, "x is bfloat16 for the int4 kernel"),
    ],
)
@both
def test_what_does_not_fit_is_refused(library: str, case: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        bad(library, case)()


# Timing


def test_every_kernel_is_timed_as_often_at_every_number_of_rows() -> None:
    threads = torch.get_num_threads()
    timings = bench_matmul(size=128, rows=(1, 16), rounds=3, cold_bytes=1)
    kernels = ["float32", "bfloat16", "W8A8", "W4A16, expanded first", "W4A16, torch's kernel"]
    assert [(timing.rows, timing.kernel) for timing in timings] == [(m, kernel) for m in (1, 16) for kernel in kernels]
    assert all(len(timing.seconds) == 3 and timing.best > 0 for timing in timings)
    assert torch.get_num_threads() == threads


def test_a_timing_is_a_range() -> None:
    timing = MatmulTiming("W8A8", 16, 2 * 10**6, (0.003, 0.001, 0.002))
    assert (timing.best, timing.median, timing.worst) == (0.001, 0.002, 0.003)
    assert str(timing) == "W8A8                     M =  16      1 ms …     3 ms, median     2 ms, weights at 2 GB/s"


def test_quantized_weights_are_fewer_bytes() -> None:
    by_kernel = {timing.kernel: timing.weight_bytes for timing in bench_matmul(128, [1], 1, 1)}
    assert by_kernel["float32"] == 4 * 128**2 == 2 * by_kernel["bfloat16"]
    assert by_kernel["W8A8"] == 128**2 + 4 * 128
    assert by_kernel["W4A16, expanded first"] < by_kernel["W4A16, torch's kernel"] < by_kernel["W8A8"]


def test_kernels_take_turns_and_no_copy_is_used_twice_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmserving.quantization import matmul_timing

    used: list[tuple[str, int]] = []
    kernels = [
        matmul_timing.Kernel(name, "float32", 1, [0, 1, 2], lambda _, copy, name=name: used.append((name, copy)))  # type: ignore[misc]
        for name in ("a", "b")
    ]
    monkeypatch.setattr(matmul_timing, "_kernels", lambda *_: kernels)
    bench_matmul(128, [1], rounds=3)
    assert used == [(name, copy) for copy in (0, 1, 2, 0) for name in ("a", "b")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((100,), "size is a multiple of 128"),
        ((128, [0]), "rows is"),
        ((128, [1], 0), "rounds is"),
        ((128, [1], 1, 0), "cold_bytes"),
    ],
)
def test_a_bench_that_cannot_be_is_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bench_matmul(*arguments)
