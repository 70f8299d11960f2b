"""What quantizers refuse, each in a sentence that names what was given; and what the package says of itself."""

from __future__ import annotations

import pydoc
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from llmserving import quantization
from llmserving.quantization import (
    E4M3,
    Hessian,
    QuantizedKvCache,
    channel_magnitude,
    decode,
    dequantize,
    int8_matmul,
    kernel_weight,
    linear_int4_kernel,
    linear_w4a16,
    linear_w8a8,
    pack_int4,
    pack_weight,
    qparams,
    quantize,
    quantize_float,
    quantize_gptq,
    quantize_kv,
    quantize_rows,
    quantize_tensor,
    scale_zero_point,
    search_scale,
    smooth_producer,
    smooth_weight,
    smoothing_scale,
)

from tests.lib.quantization_arrays import array, both, normal, numbers

X, W = normal(2, 64), normal(16, 64, seed=1)
UNPACKED: Any = W
CODES = np.ones((2, 64), np.int8)
TORCH_W = torch.from_numpy(W)


def kernel(x: Any) -> Any:
    return linear_int4_kernel(x, kernel_weight(pack_weight(TORCH_W, 32)))


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    # Of matmuls
    "inner lengths": (
        lambda: int8_matmul(CODES, CODES),
        ValueError,
        r"a is \[2, 64\] and b \[2, 64\]; the columns of a meet the rows of b",
    ),
    "one axis": (lambda: int8_matmul(CODES[0], CODES.T), ValueError, r"a is \[64\] and b \[64, 2\]; give two matrices"),
    "a list": (lambda: int8_matmul([[1]], CODES), TypeError, "a holds int8 codes, but got dtype int64"),
    "codes of two libraries": (
        lambda: int8_matmul(CODES, torch.from_numpy(CODES.T.copy())),
        TypeError,
        "b is of torch and a of numpy; give both of one library",
    ),
    "w8a8 of two libraries": (
        lambda: linear_w8a8(torch.from_numpy(X), quantize_rows(W)),
        TypeError,
        "x is of torch and weight of numpy; give both of one library",
    ),
    "w8a8 of an array": (lambda: linear_w8a8(X, UNPACKED), TypeError, "weight is a QuantizedTensor from quantize_rows"),
    "w4a16 of an array": (lambda: linear_w4a16(X, UNPACKED), TypeError, "weight is a PackedWeight from pack_weight"),
    "w4a16 of two libraries": (
        lambda: linear_w4a16(X, pack_weight(TORCH_W, 32)),
        TypeError,
        "x is of numpy and weight of torch",
    ),
    "kernel of numpy": (
        lambda: kernel_weight(pack_weight(W, 32)),
        TypeError,
        "torch's int4 kernel takes torch tensors, but weight is of numpy",
    ),
    "kernel of an array": (lambda: kernel_weight(UNPACKED), TypeError, "weight is a PackedWeight from pack_weight"),
    "kernel input of numpy": (lambda: kernel(X), TypeError, "x is a bfloat16 tensor of torch"),
    "kernel width": (
        lambda: kernel(torch.ones(2, 32).bfloat16()),
        ValueError,
        r"x has shape \(2, 32\), but the int4 kernel takes \[rows, 64\]",
    ),
    "kernel axes": (
        lambda: kernel(torch.ones(1, 2, 64).bfloat16()),
        ValueError,
        r"x has shape \(1, 2, 64\), but the int4 kernel takes \[rows, 64\]",
    ),
    # Of AWQ and SmoothQuant
    "smoothing two libraries": (
        lambda: smoothing_scale(np.ones(64), [W, TORCH_W]),
        TypeError,
        "weights are of numpy and of torch; give all of one library",
    ),
    "searching two libraries": (
        lambda: search_scale([W, TORCH_W], X, 4),
        TypeError,
        "weights are of numpy and of torch",
    ),
    "an infinite scale": (
        lambda: smooth_producer(np.ones(4), [1, 1, np.inf, 1]),
        ValueError,
        r"scale is .* must be finite, but element \[2\] is inf",
    ),
    "an infinite weight scale": (
        lambda: smooth_weight(W, np.full(64, np.inf)),
        ValueError,
        "scale is .* must be finite",
    ),
    "inputs too large to square": (
        lambda: search_scale([W], 1e37 * X, 4),
        ValueError,
        r"inputs reach .*e\+37, and the outputs' square errors go beyond float32; divide inputs",
    ),
    # Of arrays
    "float8": (
        lambda: quantize_tensor(TORCH_W.to(torch.float8_e4m3fn), 4),
        TypeError,
        "x is a tensor of numbers .*, but got one of dtype float8_e4m3fn; convert it",
    ),
    "a mask": (
        lambda: quantize_tensor(np.ma.masked_array([1.0, 2.0], [True, False]), 4),
        TypeError,
        r"x is a masked array, .* fill it first: x.filled\(0\)",
    ),
    # Of codes
    "a code too high": (lambda: decode([3, 300], E4M3), ValueError, "codes are 0 to 255 in E4M3, but got 300"),
    "a code below 0": (lambda: decode(-1, E4M3), ValueError, "codes are 0 to 255 in E4M3, but got -1"),
    "half a code": (lambda: decode(3.7, E4M3), TypeError, "codes .* integers, but got one of dtype float64"),
    "codes of the wrong sign": (
        lambda: pack_int4(np.arange(16)),
        ValueError,
        r"dtype int64 is -8 to 7, .* 0 to 15; codes of 0 to 15 are of an unsigned dtype: write codes.astype\('uint8'\)",
    ),
    "torch codes of the wrong sign": (
        lambda: pack_int4(torch.arange(16)),
        ValueError,
        r"write codes.to\(torch.uint8\)",
    ),
    # Of scales and ranges
    "a symmetric zero-point": (
        lambda: quantize(1.0, 0.1, 3, 4, "symmetric"),
        ValueError,
        "zero_point is 0 in the symmetric modes, but got 3; write 0, or take mode 'asymmetric'",
    ),
    "a wide range": (
        lambda: scale_zero_point(-1e39, 1, 4),
        ValueError,
        r"r_min is .* got -1e\+39, which float32 cannot hold",
    ),
    "a large scale": (lambda: quantize(X, 1e39, 0, 4), ValueError, r"scale is .* 1e\+39, which float32 cannot hold"),
    "a tiny scale": (lambda: quantize(X, 1e-60, 0, 4), ValueError, "scale is .* above 0 in float32"),
    "mxfp4 columns": (
        lambda: quantize_float(normal(2, 40), "mxfp4"),
        ValueError,
        "mxfp4 scales 32 elements of a row together, but x has 40 columns",
    ),
    "mxfp4 of a number": (
        lambda: quantize_float(1.0, "mxfp4"),
        ValueError,
        "mxfp4 scales 32 .* but x is a number alone",
    ),
    # Of GPTQ
    "damp below 0": (
        lambda: quantize_gptq(W, np.eye(64), 4, damp=-1),
        ValueError,
        "damp is .* and must be at least 0, but got -1",
    ),
    "bfloat16 scales": (
        lambda: quantize_gptq(TORCH_W, np.eye(64), 4, scale_dtype="bfloat16"),
        ValueError,
        "GPTQ's arithmetic is numpy's, which has no bfloat16; take scale_dtype 'float16' or 'float32'",
    ),
    "a Hessian that is none": (
        lambda: quantize_gptq(W, np.triu(np.ones((64, 64))), 4),
        ValueError,
        "hessian is 2 X.T X / N of the inputs and symmetric, but row 0, column 1 is 1 and row 1, column 0 is 0",
    ),
    # Of the KV cache
    "an odd head": (lambda: QuantizedKvCache(3, 2, 5, "int4"), ValueError, "two elements a byte, but head_dim is 5"),
    "keys of one number": (
        lambda: quantize_kv(1.0),
        ValueError,
        r"x is keys or values \[..., head_dim\], but got a number",
    ),
    "keys that are not finite": (
        lambda: QuantizedKvCache(3, 2, 4).append(np.full((1, 2, 4), np.nan), np.ones((1, 2, 4))),
        ValueError,
        r"keys is a tensor \[tokens, kv_heads, head_dim\] and must be finite",
    ),
    "values that are not finite": (
        lambda: QuantizedKvCache(3, 2, 4, "fp8").append(np.ones((1, 2, 4)), np.full((1, 2, 4), np.inf)),
        ValueError,
        "values is .* must be finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_a_sentence_and_without_a_warning(case: str) -> None:
    refused, error, words = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=words) as caught:
            refused()
    assert "group_size" not in str(caught.value)


def test_no_dampening_is_a_choice_and_rounding_is_no_lack_of_symmetry() -> None:
    hessian = Hessian(64)
    hessian.add(normal(500, 64))
    found = quantize_gptq(W, hessian, 4, damp=0)
    uneven = hessian.matrix
    uneven[0, 1] *= 1 + 1e-12
    assert np.array_equal(quantize_gptq(W, uneven, 4, damp=0.0).codes, found.codes)


def test_another_byte_order_is_a_tensor_of_numbers_too() -> None:
    x = X.astype(">f4")
    assert np.array_equal(quantize_tensor(x, 4).codes, quantize_tensor(X, 4).codes)
    assert np.array_equal(dequantize(np.array([1, 2], ">i2"), 0.5, 0), dequantize([1, 2], 0.5, 0))
    assert qparams(x, 4)[0] == qparams(X, 4)[0]


@both
def test_the_magnitude_of_channels_is_of_either_library(library: str) -> None:
    found = channel_magnitude(array(library, X))
    assert type(found) is type(array(library, X))
    assert numbers(found) == pytest.approx(np.abs(X).mean(axis=0))


def test_decoding_takes_every_code_there_is() -> None:
    assert decode([0, 255], E4M3)[0] == 0
    assert decode(np.array([8], np.uint8), quantization.E2M1) == 0


def test_tab_and_help_show_every_name() -> None:
    assert set(quantization.__all__) <= set(dir(quantization))
    page = pydoc.plain(pydoc.render_doc(quantization))
    for name in ("quantize_gptq(", "scale_zero_point(", "class QuantizedTensor", "pack_int4("):
        assert name in page
    said = quantization.__doc__ or ""
    unsaid = [
        name
        for name in quantization.__all__
        if f" {name}" not in said.replace("\n", " ").replace(",", " ").replace(";", " ")
    ]
    assert unsaid == []
