"""Public bug reports on quantization numerics, each as the claim that would have caught it.

Named by project and number; the behaviour is the one that the report's thread, or its fix, calls right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from llmserving.quantization import (
    E4M3,
    E5M2,
    QuantizedKv,
    decode,
    dequantize,
    encode,
    int8_matmul,
    matmul,
    pack_int4,
    pack_weight,
    qparams,
    quantize,
    quantize_float,
    quantize_kv,
    quantize_tensor,
    scale_zero_point,
    unpack_int4,
)

from tests.lib.quantization_arrays import array, both, normal, numbers


def back(x: Any, bits: int, mode: str = "asymmetric", **settings: Any) -> np.ndarray[Any, Any]:
    return numbers(quantize_tensor(x, bits, mode, **settings).dequantize())


# Zero and tiny ranges


@both
def test_ao_4713_an_all_zero_block_of_fp8_is_zeros_and_not_nan(library: str) -> None:
    x = array(library, [[0.0] * 32, [1.0] * 32])
    for name in ("fp8_e4m3", "fp8_e5m2"):
        quantized = quantize_float(x, name, axis=0)
        assert (numbers(quantized.scale) > 0).all()
        assert not numbers(quantized.codes)[0].any()
        assert numbers(quantized.dequantize()).tolist() == [[0.0] * 32, [1.0] * 32]


@both
def test_mlx_1028_all_zeros_have_a_finite_scale_and_zero_point(library: str) -> None:
    for mode in ("asymmetric", "symmetric", "symmetric-full"):
        scale, zero_point = qparams(array(library, [[0.0] * 8]), 4, mode)
        assert scale.item() == 2.0**-126  # torchao's, the smallest whose reciprocal float32 holds
        assert zero_point.item() == 0


@both
def test_coremltools_2851_the_scale_that_underflows_is_the_stored_one(library: str) -> None:
    """Weights of 1e-6 are not all zero, but 1e-6 / 127 is nothing in float16: the guard must look there."""
    x = array(library, normal(4, 32) * 1e-6)
    quantized = quantize_tensor(x, 8, "symmetric", group_size=32, scale_dtype="float16")
    assert (numbers(quantized.scale) > 0).all()
    assert quantized.error_report(x).within_half_step
    assert numbers(quantized.dequantize()).any()


@both
def test_auto_round_207_a_float16_scale_never_becomes_zero(library: str) -> None:
    x = array(library, [[1e-9, -1e-9] * 16])
    for mode in ("asymmetric", "symmetric"):
        quantized = quantize_tensor(x, 4, mode, scale_dtype="float16")
        assert quantized.scale.item() == 2.0**-24
        assert np.isfinite(numbers(quantized.dequantize())).all()


@both
def test_aiter_4289_a_value_channel_of_zeros_does_not_spoil_the_sum(library: str) -> None:
    values = array(library, np.zeros((3, 2, 8)))
    for kv_dtype in ("int8", "fp8", "int4"):
        found = numbers(quantize_kv(values, kv_dtype).dequantize())
        assert not found.any()
        assert not np.isnan(np.ones(3) @ found[:, 0]).any()


def test_ao_4534_the_floor_of_a_scale_binds_on_no_ordinary_one() -> None:
    """An epsilon of 2^-7 on bfloat16 scales took a model from a perplexity of 29.9 to 40.5."""
    x = torch.from_numpy(normal(4, 32) * 1e-3).bfloat16()
    scale, _ = qparams(x, 4, "symmetric", group_size=32, scale_dtype="bfloat16")
    assert scale.dtype == torch.bfloat16
    assert torch.equal(scale, (x.float().abs().amax(1, keepdim=True) / 7).bfloat16())
    tiny, _ = qparams(torch.tensor([[1e-30, -1e-30]]), 4, "symmetric")
    assert tiny.item() == pytest.approx(1e-30 / 7)


# Zero-points


def test_autogptq_293_symmetric_means_the_absmax_even_where_all_are_positive() -> None:
    x = np.array([0.83, 0.46], dtype=np.float32)
    assert back(x, 4, "symmetric") == pytest.approx(x, abs=0.83 / 7 / 2)
    assert back(x, 4, "symmetric")[0] != back(x, 4, "symmetric")[1]


@both
def test_autogptq_331_a_zero_point_of_zero_survives_packing(library: str) -> None:
    """Stored as one less, it wrapped around to 15."""
    positive = np.abs(normal(4, 64)) + 1
    packed = pack_weight(array(library, positive), 32)
    assert not numbers(packed.zero_points.data).any()
    assert not numbers(packed.zero_point).any()
    assert np.abs(numbers(packed.dequantize()) - positive).max() <= packed.scale.max() / 2 * 1.02


@both
def test_nncf_4074_all_negative_values_do_not_collapse_into_one(library: str) -> None:
    x = np.arange(-22.0, -14.0, dtype=np.float32)
    found = back(array(library, x), 4)
    assert len(set(found)) > 4
    assert np.abs(found - x).max() <= 22 / 15 / 2 * (1 + 1e-4)


def test_pytorch_108646_zero_is_a_code_whatever_the_range() -> None:
    for low, high in [(5.0, 9.0), (-9.0, -5.0)]:
        scale, zero_point = scale_zero_point(low, high, 8)
        assert dequantize(zero_point, scale, zero_point) == 0.0


def test_autogptq_663_asymmetric_extends_the_range_as_gptq_does_and_is_not_awq_s() -> None:
    """AWQ takes (max - min) / 15 of an all-positive group and clips the zero-point: other codes under the same name."""
    x = np.array([3.0, 3.5, 4.0, 4.5], dtype=np.float32)
    scale, zero_point = qparams(x, 4)
    assert (scale.item(), zero_point.item()) == (np.float32(4.5) / np.float32(15), 0)
    awq_scale = 1.5 / 15
    assert np.clip(np.round(-3.0 / awq_scale), 0, 15) == 0  # the zero-point would be -30
    assert np.clip(np.round(x / awq_scale), 0, 15).tolist() == [15, 15, 15, 15]
    assert quantize(x, scale, zero_point, 4).tolist() == [10, 12, 13, 15]


def test_gptq_19_symmetric_codes_stored_unsigned_are_the_same_values() -> None:
    """Libraries that store them with zero-point 8 print other codes for the same numbers."""
    x = normal(4, 32)
    signed = quantize_tensor(x, 4, "symmetric", axis=0)
    unsigned = (signed.codes.astype(int) + 8).astype(np.uint8)
    assert np.array_equal(dequantize(unsigned, signed.scale, 8), signed.dequantize())


@both
def test_brevitas_767_no_zero_over_zero_in_the_zero_point(library: str) -> None:
    low = array(library, [0.0, -1.0, 0.0])
    high = array(library, [0.0, 3.0, 0.0])
    scale, zero_point = scale_zero_point(low, high, 8)
    assert np.isfinite(numbers(scale)).all()
    assert numbers(zero_point).tolist() == [0, 64, 0]


# Symmetric ranges


def test_pytorch_180990_which_absmax_a_scale_divides_by_has_a_name() -> None:
    """An observer in Python took absmax / 127.5 and its twin in C++ another: training and conversion disagreed."""
    assert scale_zero_point(-1.0, 1.0, 8, "symmetric")[0] == 1 / 127
    assert scale_zero_point(-1.0, 1.0, 8, "symmetric-full")[0] == 1 / 127.5


def test_ao_805_the_full_range_loses_half_a_step_of_its_largest_value_and_symmetric_nothing() -> None:
    x = np.array([1.0, -1.0, 0.3], dtype=np.float32)
    assert back(x, 4, "symmetric").tolist()[:2] == pytest.approx([1, -1], rel=1e-6)
    full = back(x, 4, "symmetric-full")
    assert np.abs(full[:2]) == pytest.approx(7 / 7.5)  # within half a step, and that half is lost


# Rounding and casting


@both
def test_sglang_jax_1598_values_are_rounded_before_the_cast(library: str) -> None:
    """A cast alone cuts off: half of all codes would be one too low."""
    x = array(library, [0.6, 0.9, 1.4, -0.6, -1.6])
    assert numbers(quantize(x, 1.0, 0, 8, "symmetric")).tolist() == [1, 1, 1, -1, -2]


@both
def test_onnxruntime_25045_exact_ties_go_to_even_and_not_away_from_zero(library: str) -> None:
    assert numbers(quantize(array(library, [0.5, 1.5, 2.5, -0.5]), 1.0, 0, 8, "symmetric")).tolist() == [0, 2, 2, 0]


@both
def test_pytorch_106780_what_is_not_finite_is_refused_and_what_is_large_is_clipped(library: str) -> None:
    for wrong in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match="finite"):
            quantize(array(library, [1.0, wrong]), 0.1, 0, 8)
    assert numbers(quantize(array(library, [3e38, -3e38]), 0.1, 128, 8)).tolist() == [255, 0]


@both
def test_tvm_9558_clipping_comes_before_the_cast(library: str) -> None:
    """300 as an 8-bit integer is 44."""
    assert numbers(quantize(array(library, [300.0, -300.0]), 1.0, 0, 8, "symmetric-full")).tolist() == [127, -128]


# Packing and groups


@both
def test_llm_awq_91_the_order_of_nibbles_is_held_by_golden_bytes_and_named(library: str) -> None:
    codes = np.arange(8, dtype=np.uint8)
    given_codes = codes if library == "numpy" else torch.from_numpy(codes)
    for order, golden in (("linear", [0x10, 0x32, 0x54, 0x76]), ("awq", [0x20, 0x64, 0x31, 0x75])):
        packed = pack_int4(given_codes, order)
        assert numbers(packed.data).tolist() == golden
        assert packed.order == order
        assert numbers(packed.unpack()).tolist() == codes.tolist()
    assert numbers(unpack_int4(packed.data, "linear", signed=False)).tolist() != codes.tolist()


@both
def test_autoawq_275_packing_goes_along_the_inputs(library: str) -> None:
    """AWQ's files hold the transpose; here a row of bytes is a row of the weights [out, in]."""
    packed = pack_weight(array(library, normal(6, 32)), 32)
    assert tuple(packed.codes.data.shape) == (6, 16)
    assert tuple(packed.scale.shape) == (6, 1)


@pytest.mark.parametrize(("columns", "group_size"), [(288, 256), (192, 128)])
def test_llm_compressor_2353_a_group_that_does_not_divide_the_columns_is_refused_at_once(
    columns: int, group_size: int
) -> None:
    for refused in (
        lambda: qparams(np.ones((2, columns)), 4, group_size=group_size),
        lambda: quantize_tensor(np.ones((2, columns)), 4, group_size=group_size),
        lambda: pack_weight(np.ones((2, columns)), group_size),
    ):
        with pytest.raises(ValueError, match=f"group_size {group_size} does not divide the {columns} columns"):
            refused()


@both
def test_gptqmodel_2301_the_packed_path_is_the_quantizer_s_own_result(library: str) -> None:
    weight = array(library, normal(16, 128))
    plain = quantize_tensor(weight, 4, group_size=32, scale_dtype="float16")
    assert np.array_equal(numbers(pack_weight(weight, 32).dequantize()), numbers(plain.dequantize()))


# Integer matmul, FP8 and the KV cache


def test_pytorch_136746_int8_sums_are_exact_at_the_extremes_where_small_codes_hide_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = torch.randint(-128, 128, (32, 256), dtype=torch.int8)
    for a, b in [(full, full.T.contiguous()), (torch.full((17, 64), -128, dtype=torch.int8), torch.full((64, 8), 127))]:
        assert torch.equal(int8_matmul(a, b.to(torch.int8)), (a.double() @ b.double()).int())

    def saturating(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Pairs of products are added in 16 bits, as without VNNI."""
        products = a.int()[:, :, None] * b.int()[None]
        pairs = products.reshape(a.shape[0], -1, 2, b.shape[1]).sum(2).clamp(-(2**15), 2**15 - 1)
        return pairs.sum(1).int()

    small = torch.randint(-10, 10, (32, 256), dtype=torch.int8)
    assert torch.equal(saturating(small, small.T), (small.double() @ small.double().T).int())
    monkeypatch.setattr(torch, "_int_mm", saturating)
    matmul.torch_int8_matmul_is_exact.cache_clear()
    try:
        assert not matmul.torch_int8_matmul_is_exact()
        assert torch.equal(int8_matmul(full, full.T), (full.double() @ full.double().T).int())
    finally:
        matmul.torch_int8_matmul_is_exact.cache_clear()


@both
def test_ml_dtypes_260_beyond_the_largest_float_is_the_largest_and_not_nan(library: str) -> None:
    x = array(library, [465.0, 1000.0, -1e30, 448.0])
    assert numbers(decode(encode(x, E4M3), E4M3)).tolist() == [448, 448, -448, 448]
    assert numbers(decode(encode(array(library, [61440.0, 1e9]), E5M2), E5M2)).tolist() == [57344, 57344]


def test_model_optimizer_20_a_cache_without_scales_is_refused_and_keys_and_values_have_their_own() -> None:
    keys, values = normal(2, 3, 16), 100 * normal(2, 3, 16, seed=1)
    stored = quantize_kv(keys), quantize_kv(values)
    assert not np.allclose(stored[0].scale, stored[1].scale)
    for part in stored:
        assert part.scale.shape == (2, 3, 1)
        assert not (part.scale == 1).any()
        with pytest.raises(ValueError, match="scale is missing"):
            QuantizedKv(part.data, None, part.kv_dtype).dequantize()
    with pytest.raises(TypeError):
        QuantizedKv(stored[0].data)  # type: ignore[call-arg]
