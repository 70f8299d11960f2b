"""Linear layers with quantized weights: fewer bytes to read (W4A16), or cheaper arithmetic as well (W8A8).

W4A16 reads a quarter of the bytes and then computes as before: it helps where the memory is waited for, in decode.
W8A8 multiplies 8-bit integers: it helps where the arithmetic is waited for, in prefill.
All weights are [out, in], all inputs [..., in], and outputs [..., out].
"""

from __future__ import annotations

import functools
from typing import Any

from llmserving.quantization.arrays import Array, cast, dtype_name, is_tensor, namespace, real_array, same_library
from llmserving.quantization.packed_weight import PackedWeight
from llmserving.quantization.quantized_tensor import QuantizedTensor, quantize_tensor

CUDA_ROWS = 32  # torch's int8 matmul on a GPU wants more than 16


def linear_w4a16(x: Any, weight: PackedWeight) -> Array:
    """x @ weight.T in the dtype of `x`, with all weights expanded first: the plain way, which writes what it saves reading."""
    if not isinstance(weight, PackedWeight):
        raise TypeError(f"weight is a PackedWeight from pack_weight(), but got a {type(weight).__name__}")
    values = _inputs(x, weight.shape)
    same_library("x", values, "weight", weight.scale)
    return values @ cast(weight.dequantize(), dtype_name(values)).T


def quantize_rows(x: Any) -> QuantizedTensor:
    """int8 codes [rows, columns] with one symmetric scale a row: of weights an output's own, of activations a token's."""
    return quantize_tensor(x, 8, "symmetric", axis=0)


def linear_w8a8(x: Any, weight: QuantizedTensor) -> Array:
    """x @ weight.T by 8-bit integers, float32: activations get a scale a token as they come (dynamic quantization).

    weight: from `quantize_rows`. Both scales stand outside the sum, so that it is one of integers.
    """
    if not isinstance(weight, QuantizedTensor):
        raise TypeError(f"weight is a QuantizedTensor from quantize_rows(), but got a {type(weight).__name__}")
    if weight.bits != 8 or weight.mode == "asymmetric" or tuple(weight.scale.shape) != (weight.shape[0], 1):
        raise ValueError("weight is int8 with one symmetric scale a row, as quantize_rows() gives it")
    values = _inputs(x, weight.shape)
    same_library("x", values, "weight", weight.scale)
    tokens = quantize_rows(values.reshape(-1, values.shape[-1]))
    sums = cast(int8_matmul(tokens.codes, weight.codes.T), "float32")
    sums *= tokens.scale
    sums *= weight.scale.T
    return sums.reshape(*values.shape[:-1], weight.shape[0])


def int8_matmul(a: Array, b: Array) -> Array:
    """a [m, k] @ b [k, n] of int8 codes, exact, as int32: int8 @ int8 as it stands wraps around at 127."""
    a, b = real_array("a", a, "int8 codes [m, k]"), real_array("b", b, "int8 codes [k, n]")
    for name, codes in (("a", a), ("b", b)):
        if dtype_name(codes) != "int8":
            raise TypeError(f"{name} holds int8 codes, but got dtype {dtype_name(codes)}")
    same_library("b", b, "a", a)
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
        wanted = "the columns of a meet the rows of b" if len(a.shape) == len(b.shape) == 2 else "give two matrices"
        raise ValueError(f"a is {list(a.shape)} and b {list(b.shape)}; {wanted}")
    if a.shape[1] * 128 * 128 >= 2**31:
        raise ValueError(f"a sum of {a.shape[1]} products of 8-bit codes may not fit 32 bits; split the columns")
    if is_tensor(a) and torch_int8_matmul_is_exact(str(a.device)) and _fits_int8_matmul(a, b):
        rows = a.shape[0]
        if a.is_cuda and rows < CUDA_ROWS:
            a = namespace(a).cat([a, a.new_zeros(CUDA_ROWS - rows, a.shape[1])])
        return namespace(a)._int_mm(a, b)[:rows]
    # float64 holds every such sum exactly, and its matmul is the fast one.
    return cast(cast(a, "float64") @ cast(b, "float64"), "int32")


@functools.cache
def torch_int8_matmul_is_exact(device: str = "cpu") -> bool:
    """Whether torch's own int8 matmul is there and right over all codes.

    On processors without VNNI it has added pairs of products in 16 bits, which saturate: small codes hide that.
    """
    import torch

    if device.split(":")[0] not in ("cpu", "cuda") or not hasattr(torch, "_int_mm"):
        return False
    codes = torch.arange(-128, 128, dtype=torch.int8).repeat(16, 1).to(device)  # [16, 256]
    extreme = torch.full((256, 16), -128, dtype=torch.int8, device=device)
    extreme[:, 8:] = 127
    try:
        found = torch._int_mm(torch.cat([codes, extreme.T]), extreme)
    except RuntimeError:
        return False
    return torch.equal(found, (torch.cat([codes, extreme.T]).double() @ extreme.double()).int())


def _fits_int8_matmul(a: Array, b: Array) -> bool:
    """Whether torch's int8 matmul takes these shapes: on a GPU it wants whole groups of 8 columns."""
    return not a.is_cuda or (a.shape[1] % 8 == 0 and b.shape[1] % 8 == 0)


def _inputs(x: Any, shape: tuple[int, ...]) -> Array:
    """`x` [..., in] if it fits weights [out, in] of that shape."""
    values = real_array("x", x, "the inputs [..., in]")
    if dtype_name(values).startswith(("int", "uint")):
        raise TypeError(f"x is the inputs [..., in], floats, but got dtype {dtype_name(values)}")
    if not values.shape or values.shape[-1] != shape[1]:
        raise ValueError(f"x has shape {tuple(values.shape)}, but the weights {list(shape)} take {shape[1]} inputs")
    return values
