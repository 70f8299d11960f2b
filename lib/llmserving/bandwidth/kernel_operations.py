"""The Triton kernels as operations to be measured beside torch's: the same data, the same bytes counted, the same checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from llmserving.bandwidth import cuda_kernels, kernels
from llmserving.bandwidth.kernel_weights import expanded
from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.operations import CONVENTIONS, FLOAT32, SCALAR, bus_bytes
from llmserving.quantization.packed_weight import PackedWeight

Tensor = Any
CHECKED_AT_ONCE = 2**24  # weights, widened to float64 while a result is looked at
# y comes back in 16 bits, half a part in 1024 of itself; what a sum in float32 loses lies far below that.
CLOSE = 1e-3


def kernel_memory_operations(slots: Sequence[Tensor], rotation: Rotation) -> list[Operation]:
    """Read, copy and triad on slots float32 [elements], cut as the torch operations cut them; they share `rotation`."""
    half, third = slots[0].numel() // 2, slots[0].numel() // 3
    halves = [slot[: 2 * half].split(half) for slot in slots]
    thirds = [slot[: 3 * third].split(third) for slot in slots]

    def read_is_right(slot: int, found: Tensor) -> bool:
        return abs(float(found) / float(slots[slot].double().sum()) - 1) < CLOSE

    def copy_is_right(slot: int, target: Tensor) -> bool:
        return bool((halves[slot][0] == target).all())

    def triad_is_right(slot: int, a: Tensor) -> bool:
        b, c, _ = thirds[slot]
        return bool(((b.double() + SCALAR * c.double() - a).abs() < 1e-6).all())

    def operation(name: str, read: int, written: int, flops: int, run: Any, is_right: Any) -> Operation:
        return Operation(
            name=f"{name}, Triton",
            convention="bytes read (the sum of all)" if name == "read" else CONVENTIONS[name],
            dtype="float32",
            bytes_counted=FLOAT32 * (read + written),
            bytes_on_bus=bus_bytes(slots[0].device.type, FLOAT32 * read, FLOAT32 * written),
            flops=flops,
            buffer_bytes=FLOAT32 * sum(slot.numel() for slot in slots),
            rotation=rotation,
            run=run,
            is_right=is_right,
        )

    elements = slots[0].numel()
    return [
        operation("read", elements, 0, elements, lambda slot: kernels.read(slots[slot]), read_is_right),
        operation("copy", half, half, 0, lambda slot: kernels.copy(*halves[slot]), copy_is_right),
        operation(
            "triad", 2 * third, third, 2 * third,
            lambda slot: kernels.triad(thirds[slot][0], thirds[slot][1], SCALAR, thirds[slot][2]), triad_is_right,
        ),
    ]  # fmt: skip


def gemv_operation(weights: Sequence[Tensor], x: Tensor, *, by_torch: bool = False) -> Operation:
    """weights[slot] [out, in] times x [in], by the kernel or by torch's own matmul."""

    def run(slot: int) -> Tensor:
        return weights[slot] @ x if by_torch else kernels.gemv(weights[slot], x)

    name = "GEMV" if by_torch else "GEMV, Triton"
    return _gemv(
        name, weights, weights[0].numel() * weights[0].element_size(), x, run, lambda slot, rows: weights[slot][rows]
    )


def gemv_w4a16_operation(weights: Sequence[PackedWeight], x: Tensor) -> Operation:
    """The packed weights [out, in] of each slot times x [in], by the fused kernel."""

    def rows_of(slot: int, rows: slice) -> Tensor:
        return expanded(weights[slot], rows)

    def run(slot: int) -> Tensor:
        return kernels.gemv_w4a16(weights[slot], x)

    return _gemv("GEMV W4A16, Triton", weights, weights[0].num_bytes, x, run, rows_of)


def cuda_copy_operation(copy: Operation, slots: Sequence[Tensor]) -> Operation:
    """`copy`, an operation on these slots, done by the kernel in CUDA C++ instead."""
    half = slots[0].numel() // 2

    def run(slot: int) -> Tensor:
        return cuda_kernels.copy(*slots[slot][: 2 * half].split(half))

    return replace(copy, name="copy, CUDA C++", run=run)


def cuda_gemv_w4a16_operation(gemv: Operation, weights: Sequence[PackedWeight], x: Tensor) -> Operation:
    """`gemv`, an operation on these weights, done by the kernel in CUDA C++ instead."""
    return replace(gemv, name="GEMV W4A16, CUDA C++", run=lambda slot: cuda_kernels.gemv_w4a16(weights[slot], x))


def _gemv(
    name: str, weights: Sequence[Any], weight_bytes: int, x: Tensor, run: Callable[[int], Tensor],
    rows_of: Callable[[int, slice], Tensor],
) -> Operation:  # fmt: skip
    rows, columns = weights[0].shape
    read, written = weight_bytes + columns * x.element_size(), rows * x.element_size()

    def is_right(slot: int, y: Tensor) -> bool:
        step = max(1, CHECKED_AT_ONCE // columns)
        pieces = [slice(start, start + step) for start in range(0, rows, step)]
        return all(_close(y[piece], rows_of(slot, piece).double() @ x.double()) for piece in pieces)

    return Operation(
        name=name,
        convention="bytes of the weights and of both vectors",
        dtype=str(x.dtype).removeprefix("torch."),
        bytes_counted=read + written,
        bytes_on_bus=bus_bytes(x.device.type, read, written),
        flops=2 * rows * columns,
        buffer_bytes=len(weights) * weight_bytes,
        rotation=Rotation(len(weights)),
        run=run,
        is_right=is_right,
        rows=1,
    )


def _close(found: Tensor, right: Tensor) -> bool:
    """Within rounding to 16 bits of each value, or of a typical one, where a sum happens to be near 0."""
    allowed = CLOSE * (right.abs() + right.square().mean().sqrt())
    return bool(((found.double() - right).abs() <= allowed).all())
