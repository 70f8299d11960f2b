"""Matmuls that can be measured: x [M, in] by weights [out, in], in 16 or 32 bits and with quantized weights.

M = 1 is a GEMV, decode of one request; M is the batch. Each call multiplies by another copy of the weights: in a model, a
layer's weights have left the caches when their turn comes again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.operations import bus_bytes

BESIDE = "bfloat16, beside"  # the quantized ones, measured in turns with them
CONVENTION = "weights, inputs and outputs, each once"
CHECKED_OUTPUTS = 64  # of each result; a reference in float64 for all of them would take longer than the measuring
# Largest error over the largest output: 8 bits of bfloat16's mantissa, 11 of float16's, 24 of float32's less a sum's.
TOLERANCES = {"float32": 1e-4, "float16": 4e-3, "bfloat16": 2e-2, "W4A16": 2e-2, "W8A8": 4e-2}


def random_weight(size: int, device: str = "cpu") -> Any:
    """float32 [size, size] with outputs about as large as inputs, seeded."""
    import torch

    return torch.randn(size, size, generator=torch.Generator(device).manual_seed(0), device=device) / math.sqrt(size)


def linear_operations(
    dtype: str, rows: Sequence[int], size: int, num_bytes: int, device: str = "cpu"
) -> list[Operation]:
    """x @ weights.T at each M, on shared copies of one matrix that fill `num_bytes`."""
    import torch

    weight = random_weight(size, device).to(getattr(torch, dtype))
    weight_bytes = weight.numel() * weight.itemsize
    copies = [weight.clone() for _ in range(copies_to_fill(num_bytes, weight_bytes))]
    rotation = Rotation(len(copies))
    linear = torch.nn.functional.linear
    return [
        _matmul("linear", dtype, count, size, weight_bytes, copies, rotation, linear, weight.double()) for count in rows
    ]


def quantized_operations(
    rows: Sequence[int], size: int, num_bytes: int, device: str = "cpu"
) -> tuple[list[Operation], list[str]]:
    """bfloat16, W4A16 and W8A8 at each M, each on copies of its own; and a sentence for each kernel that is not here."""
    import torch

    from llmserving.quantization import (
        has_int4_kernel,
        kernel_weight,
        linear_int4_kernel,
        linear_w4a16,
        linear_w8a8,
        pack_weight,
        quantize_rows,
    )

    weight = random_weight(size, device)
    packed, in_int8 = pack_weight(weight, 128), quantize_rows(weight)
    kinds: list[tuple[str, str, int, Any, Callable[[Any, Any], Any], Any]] = [
        (BESIDE, "bfloat16", 2 * size**2, weight.bfloat16(), torch.nn.functional.linear, weight.bfloat16()),
        ("W4A16, expanded first", "bfloat16", packed.num_bytes, packed, linear_w4a16, packed.dequantize()),
        ("W8A8", "bfloat16", size**2 + 4 * size, in_int8, linear_w8a8, weight),
    ]
    skipped = []
    if device == "cpu" and has_int4_kernel():
        fused = kernel_weight(packed)
        kinds.append(("W4A16, fused", "bfloat16", fused.num_bytes, fused, linear_int4_kernel, packed.dequantize()))
    elif device == "cpu":
        skipped.append("W4A16, fused: skipped, for this torch has no int4 matmul for processors")
    operations = []
    for name, dtype, weight_bytes, source, run, exact in kinds:
        # They take turns, so that between two calls on the same copy all kinds' copies have passed: together they fill it.
        copies = [copied(source) for _ in range(copies_to_fill(num_bytes // len(kinds), weight_bytes))]
        rotation = Rotation(len(copies))
        for count in rows:
            made = _matmul(name, dtype, count, size, weight_bytes, copies, rotation, run, exact.double())
            operations.append(made)
    return operations, skipped


def peak_operation(dtype: str, size: int, device: str = "cpu") -> Operation:
    """A square matmul, whose operands stay in the caches: what the arithmetic units do at best."""
    import torch

    weight = random_weight(size, device).to(getattr(torch, dtype))
    num_bytes = weight.numel() * weight.itemsize
    linear = torch.nn.functional.linear
    return _matmul("square matmul", dtype, size, size, num_bytes, [weight], Rotation(1), linear, weight.double())


def _matmul(
    name: str, dtype: str, rows: int, size: int, weight_bytes: int, copies: Sequence[Any], rotation: Rotation,
    multiply: Callable[[Any, Any], Any], exact: Any,
) -> Operation:  # fmt: skip
    """exact: the weights that the result is checked against, float64 [out, in]."""
    import torch

    generator = torch.Generator(exact.device).manual_seed(1)
    x = torch.randn(rows, size, generator=generator, device=exact.device).to(getattr(torch, dtype))
    reference = x.double() @ exact[:CHECKED_OUTPUTS].T
    largest = float(reference.abs().max())
    tolerance = TOLERANCES[next((key for key in ("W4A16", "W8A8") if name.startswith(key)), dtype)]

    def is_right(_: int, found: Any) -> bool:
        errors = (found[:, :CHECKED_OUTPUTS].double() - reference).abs()
        return tuple(found.shape) == (rows, size) and float(errors.max()) <= tolerance * largest

    activations = rows * size * x.itemsize
    return Operation(
        name=name,
        convention=CONVENTION,
        dtype=dtype,
        bytes_counted=weight_bytes + 2 * activations,
        bytes_on_bus=bus_bytes(exact.device.type, weight_bytes + activations, activations),
        flops=2 * rows * size**2,
        buffer_bytes=weight_bytes * len(copies),
        rotation=rotation,
        run=lambda slot: multiply(x, copies[slot]),
        is_right=is_right,
        rows=rows,
    )


def copies_to_fill(num_bytes: int, weight_bytes: int) -> int:
    """So many that they take `num_bytes` at least, and two where one would: a single one would stay in the caches."""
    return max(2, -(-num_bytes // weight_bytes))


def copied(source: Any) -> Any:
    """A tensor, or a frozen record of tensors and of records, in memory of its own."""
    if hasattr(source, "clone"):
        return source.clone()
    if not is_dataclass(source):
        return source
    make: Any = type(source)
    return make(**{field.name: copied(getattr(source, field.name)) for field in fields(source)})
