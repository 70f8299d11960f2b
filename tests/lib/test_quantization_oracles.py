"""The same scales and codes as torchao and torch, bit for bit, under the names that those conventions have here."""

from __future__ import annotations

import importlib
import logging
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from llmserving.quantization import (
    E4M3,
    E5M2,
    FloatFormat,
    decode,
    dequantize,
    encode,
    int8_matmul,
    qparams,
    quantize,
    quantize_float,
    quantize_tensor,
)

from tests.lib.quantization_arrays import normal

pytestmark = pytest.mark.slow

ROWS, COLUMNS = 64, 256
BLOCKS: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
    "tensor": ((ROWS, COLUMNS), {}),
    "row": ((1, COLUMNS), {"axis": 0}),
    "column": ((ROWS, 1), {"axis": 1}),
    "group of 32": ((1, 32), {"group_size": 32}),
    "group of 128": ((1, 128), {"group_size": 128}),
}
every_block = pytest.mark.parametrize("block", BLOCKS)
# Our mode, torchao's mapping, its codes' dtype and range, and what separates its codes from ours.
AFFINE = [
    ("symmetric-full", "SYMMETRIC", 8, torch.int8, -128, 127, 0),
    ("symmetric", "SYMMETRIC", 8, torch.int8, -127, 127, 0),
    ("symmetric-full", "SYMMETRIC", 4, torch.int8, -8, 7, 0),
    ("symmetric", "SYMMETRIC", 4, torch.int8, -7, 7, 0),
    ("asymmetric", "ASYMMETRIC", 4, torch.uint8, 0, 15, 0),
    ("asymmetric", "ASYMMETRIC", 4, torch.int8, -8, 7, -8),
    ("asymmetric", "ASYMMETRIC", 8, torch.uint8, 0, 255, 0),
]


@pytest.fixture(scope="module")
def torchao() -> Any:
    """torchao's primitives, without what it prints about kernels for other machines."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("torchao.quantization.quant_primitives")
    finally:
        logging.disable(logging.NOTSET)


def weights(seed: int) -> torch.Tensor:
    """Normal values with rows of very different sizes, one all zeros, one all positive, one all negative, one constant."""
    x = torch.from_numpy(normal(ROWS, COLUMNS, seed=seed)) * torch.logspace(-6, 6, ROWS)[:, None]
    x[3], x[5], x[7], x[9] = 0, x[5].abs() + 1, -x[7].abs() - 1, 3
    return x


@every_block
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("mode", "mapping", "bits", "dtype", "low", "high", "shift"), AFFINE)
def test_scales_zero_points_codes_and_values_are_torchao_s(
    torchao: Any,
    mode: str,
    mapping: str,
    bits: int,
    dtype: torch.dtype,
    low: int,
    high: int,
    shift: int,
    block: str,
    seed: int,
) -> None:
    size, granularity = BLOCKS[block]
    x = weights(seed)
    scale, zero_point = torchao.choose_qparams_affine(x, torchao.MappingType[mapping], size, dtype, low, high)
    codes = torchao.quantize_affine(x, size, scale, zero_point, dtype, low, high)
    values = torchao.dequantize_affine(codes, size, scale, zero_point, dtype, low, high)
    ours = quantize_tensor(x, bits, mode, **granularity)
    assert torch.equal(ours.scale.reshape(scale.shape), scale)
    assert torch.equal(ours.zero_point.reshape(scale.shape) + shift, zero_point.to(torch.int32))
    assert torch.equal(ours.codes.int() + shift, codes.int())
    assert torch.equal(ours.dequantize(), values)


@pytest.mark.parametrize("bits", range(2, 9))
def test_every_number_of_bits_agrees_with_torchao(torchao: Any, bits: int) -> None:
    x, size = weights(0), (1, 32)
    for mode, mapping, low, high in [
        ("asymmetric", "ASYMMETRIC", 0, 2**bits - 1),
        ("symmetric-full", "SYMMETRIC", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
    ]:
        dtype = torch.uint8 if low == 0 else torch.int8
        scale, zero_point = torchao.choose_qparams_affine(x, torchao.MappingType[mapping], size, dtype, low, high)
        codes = torchao.quantize_affine(x, size, scale, zero_point, dtype, low, high)
        assert torch.equal(quantize_tensor(x, bits, mode, group_size=32).codes, codes)


@every_block
def test_torchao_s_scale_without_clipping_gives_the_same_codes_in_our_quantize(torchao: Any, block: str) -> None:
    """A mode that we have no name for: its scale can be brought along."""
    size, granularity = BLOCKS[block]
    x = weights(0)
    mapping = torchao.MappingType.SYMMETRIC_NO_CLIPPING_ERR
    scale, zero_point = torchao.choose_qparams_affine(x, mapping, size, torch.int8, -8, 7)
    codes = torchao.quantize_affine(x, size, scale, zero_point, torch.int8, -8, 7)
    shape = qparams(x, 4, **granularity)[0].shape
    assert torch.equal(quantize(x, scale.reshape(shape), 0, 4, "symmetric-full"), codes)


@pytest.mark.parametrize("seed", range(3))
def test_codes_and_values_are_those_of_torch_s_own_functions(seed: int) -> None:
    x = weights(seed)
    scale, _ = qparams(x, 8, "symmetric-full", axis=0)
    zeros = torch.zeros(ROWS, dtype=torch.int32)
    codes = quantize(x, scale, 0, 8, "symmetric-full")
    fake = torch.fake_quantize_per_channel_affine(x, scale.reshape(-1), zeros, 0, -128, 127)
    assert torch.equal(dequantize(codes, scale, 0), fake)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantized tensors are on their way out of torch
        stored = torch.quantize_per_channel(x, scale.reshape(-1).double(), zeros.long(), 0, torch.qint8)
    assert torch.equal(codes, stored.int_repr())


def test_quantize_per_tensor_rounds_after_adding_the_zero_point_and_we_before() -> None:
    """The one convention among these that is not ours, so that nobody holds one against the other."""
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch.quantize_per_tensor(x, 1.0, 1, torch.qint8).int_repr()
    assert theirs.tolist() == [2, 2, 4, 0, 0, -2, 4]
    assert quantize(x, 1.0, 3, 8).tolist() == [3, 5, 5, 3, 1, 1, 7]
    fake = torch.fake_quantize_per_tensor_affine(x, 1.0, 3, 0, 255)
    assert torch.equal(dequantize(quantize(x, 1.0, 3, 8), 1.0, 3), fake)


@pytest.mark.parametrize(
    ("float_format", "dtype"), [(E4M3, torch.float8_e4m3fn), (E5M2, torch.float8_e5m2)], ids=["E4M3", "E5M2"]
)
def test_fp8_codes_are_torch_s_within_the_grid(float_format: FloatFormat, dtype: torch.dtype) -> None:
    values = torch.tensor(float_format.values, dtype=torch.float32)
    between = (values[1:] + values[:-1]) / 2
    spread = torch.from_numpy(normal(100_000)) * 2.0 ** torch.randint(-30, 16, (100_000,))
    x = torch.cat([values, between, spread.clamp(-float_format.largest, float_format.largest), torch.tensor([-0.0])])
    codes = encode(x, float_format)
    assert torch.equal(codes, x.to(dtype).view(torch.uint8))
    assert torch.equal(decode(codes, float_format), x.to(dtype).float())
    everything = torch.arange(256, dtype=torch.uint8)
    theirs = everything.view(dtype).float()
    finite = theirs.isfinite()
    assert torch.equal(decode(everything, float_format)[finite], theirs[finite])


def test_mxfp4_is_torchao_s() -> None:
    mx_tensor = importlib.import_module("torchao.prototype.mx_formats.mx_tensor")
    for seed in range(3):
        x = weights(seed)
        theirs = mx_tensor.MXTensor.to_mx(x, torch.float4_e2m1fn_x2, 32)
        ours = quantize_float(x, "mxfp4")
        assert torch.equal(ours.dequantize(), theirs.dequantize())
        assert torch.equal(ours.scale.reshape(-1), theirs.scale.float().reshape(-1))


def test_nvfp4_is_torchao_s() -> None:
    nvfp4 = importlib.import_module("torchao.prototype.mx_formats.nvfp4_tensor")
    for seed in range(3):
        x = torch.from_numpy(normal(ROWS, COLUMNS, seed=seed))
        x[3] = 0
        per_tensor = nvfp4.per_tensor_amax_to_scale(x.abs().max())
        theirs = nvfp4.NVFP4Tensor.to_nvfp4(x, per_tensor_scale=per_tensor)
        assert torch.equal(quantize_float(x, "nvfp4").dequantize(), theirs.dequantize(torch.float32))


@pytest.mark.parametrize("shape", [(1, 256, 64), (7, 13, 5), (17, 1024, 33), (64, 4096, 16)])
def test_integer_sums_are_exact_at_every_shape(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a = torch.randint(-128, 128, (m, k), dtype=torch.int8)
    b = torch.randint(-128, 128, (k, n), dtype=torch.int8)
    exact = a.numpy().astype(np.int64) @ b.numpy().astype(np.int64)
    for x, y in ((a, b), (a.numpy(), b.numpy()), (a, b.T.contiguous().T)):
        assert np.array_equal(np.asarray(int8_matmul(x, y)), exact)
