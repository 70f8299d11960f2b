"""Quantized matmuls timed against plain ones, so that the timings can be compared.

All kernels take turns in every round, for a busy minute then slows all of them. Each turn multiplies by another copy of
the weights, so many of them that none is left in a cache: in a model, a layer's weights have been pushed out by the other
layers' when their turn comes again. What is reported is the range over the rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from llmserving import arguments
from llmserving.quantization.int4_kernel import has_int4_kernel, kernel_weight, linear_int4_kernel
from llmserving.quantization.matmul import linear_w4a16, linear_w8a8, quantize_rows
from llmserving.quantization.packed_weight import pack_weight
from llmserving.timing import take_turns, torch_threads
from llmserving.units import MB, format_rate, format_seconds

# Weights between two uses of one copy; beyond the caches of most processors, and within 2 GB with all else.
COLD_BYTES = 600 * MB


@dataclass(frozen=True)
class MatmulTiming:
    """One kernel at one number of rows: its seconds, one a round, and the bytes of the weights that it reads."""

    kernel: str
    rows: int
    weight_bytes: int
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def worst(self) -> float:
        return max(self.seconds)

    def __str__(self) -> str:
        times = [format_seconds(seconds) for seconds in (self.best, self.median, self.worst)]
        rate = format_rate(self.weight_bytes / self.best)
        return f"{self.kernel:24} M = {self.rows:3}  {times[0]:>8} … {times[2]:>8}, median {times[1]:>8}, weights at {rate}"


@dataclass(frozen=True)
class Kernel:
    """A matmul by copies of one matrix: `run(x, copy)` with x [rows, in] of `dtype`."""

    name: str
    dtype: str
    weight_bytes: int
    copies: Sequence[Any]
    run: Callable[[Any, Any], Any]


def bench_matmul(
    size: Any = 4096, rows: Sequence[Any] = (1, 16, 512), rounds: Any = 5, cold_bytes: Any = COLD_BYTES
) -> list[MatmulTiming]:
    """Timings of x [rows, size] @ weights [size, size], on one thread, interleaved, with cold weights.

    Kernels: float32, bfloat16, W8A8, W4A16 that expands first, and torch's own int4 kernel where there is one. The
    default needs 1 GB and about 15 s. ImportError where torch is missing.
    """
    size = arguments.count("size", "the rows and columns of the weights", size)
    if size % 128:
        raise ValueError(f"size is a multiple of 128, for whole groups, but got {size}")
    rounds = arguments.count("rounds", "the number of timings of each kernel", rounds)
    cold_bytes = arguments.count("cold_bytes", "the bytes of weights between two uses of one copy", cold_bytes)
    counts = [arguments.count("rows", "the number of tokens in a matmul", count) for count in rows]
    torch = _torch()
    with torch_threads(torch):
        kernels = _kernels(torch, size, cold_bytes)
        return [timing for count in counts for timing in _interleaved(torch, kernels, size, count, rounds)]


def _interleaved(torch: Any, kernels: Sequence[Kernel], size: int, rows: int, rounds: int) -> list[MatmulTiming]:
    inputs = {dtype: torch.ones(rows, size, dtype=getattr(torch, dtype)) for dtype in {k.dtype for k in kernels}}

    def turn_of(kernel: Kernel) -> Callable[[int], Any]:
        return lambda index: kernel.run(inputs[kernel.dtype], kernel.copies[index % len(kernel.copies)])

    samples = take_turns({kernel.name: turn_of(kernel) for kernel in kernels}, rounds)
    return [MatmulTiming(kernel.name, rows, kernel.weight_bytes, samples[kernel.name].walls) for kernel in kernels]


def _kernels(torch: Any, size: int, cold_bytes: int) -> list[Kernel]:
    with torch.no_grad():
        weight = torch.randn(size, size, generator=torch.Generator().manual_seed(0)) / math.sqrt(size)
    packed, rows_of_int8 = pack_weight(weight, 32), quantize_rows(weight)
    sources: list[tuple[str, str, int, Any, Callable[[Any, Any], Any]]] = [
        ("float32", "float32", 4 * size**2, weight, torch.nn.functional.linear),
        ("bfloat16", "bfloat16", 2 * size**2, weight.bfloat16(), torch.nn.functional.linear),
        ("W8A8", "float32", size**2 + 4 * size, rows_of_int8, linear_w8a8),
        ("W4A16, expanded first", "bfloat16", packed.num_bytes, packed, linear_w4a16),
    ]
    if has_int4_kernel():
        packed_again = kernel_weight(packed)
        kernel = ("W4A16, torch's kernel", "bfloat16", packed_again.num_bytes, packed_again, linear_int4_kernel)
        sources.append(kernel)
    copies = max(1, -(-cold_bytes // sum(num_bytes for _, _, num_bytes, _, _ in sources)))
    return [
        Kernel(name, dtype, num_bytes, [_copy(torch, source) for _ in range(copies)], run)
        for name, dtype, num_bytes, source, run in sources
    ]


def _copy(torch: Any, source: Any) -> Any:
    """`source`, a tensor or a frozen record of tensors and of records, in memory of its own."""
    if isinstance(source, torch.Tensor):
        return source.clone()
    if not hasattr(source, "__dataclass_fields__"):
        return source
    return type(source)(**{name: _copy(torch, getattr(source, name)) for name in source.__dataclass_fields__})


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError("bench_matmul times torch's matmuls, and torch is not installed: pip install torch") from None
    return torch
