"""The parts of a machine's measuring: its memory, its caches, its arithmetic, and quantized weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from llmserving.bandwidth.buffer import BufferPlan
from llmserving.bandwidth.machine import Machine
from llmserving.bandwidth.matmuls import copies_to_fill, linear_operations, peak_operation, quantized_operations
from llmserving.bandwidth.measure import measure_operations
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.operations import memory_operations, random_buffer, slots_of
from llmserving.timing.clocks import Clock
from llmserving.units import KiB, MiB

ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
QUANTIZED_ROWS = (1, 16, 512)
# In thirds, and its doublings in whole slots; a smaller buffer would time the call, or on a GPU the launch, not the cache.
SMALLEST_SWEEP = {"cpu": 48 * KiB, "cuda": 6 * MiB}
SWEEP_SECONDS = 0.4
DTYPES = {"cpu": ("float32", "bfloat16"), "cuda": ("bfloat16", "float16")}


@dataclass
class Session:
    """What the parts share, and what they have found. weights, peak: rows and columns of the matmuls' weights."""

    machine: Machine
    clock: Clock
    plan: BufferPlan
    weights: int
    peak: int
    samples: int
    measurements: list[Measurement] = field(default_factory=list)
    sweep: list[Measurement] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def measure(self, operations: list[Operation], **settings: Any) -> list[Measurement]:
        machine = self.machine
        return measure_operations(
            operations, self.clock, device=machine.device, cache_bytes=machine.cache_bytes, samples=self.samples,
            skipped=self.skipped, **settings,
        )  # fmt: skip


def sweep_sizes(device: str, largest: int) -> Iterator[int]:
    """Bytes of the buffers of a sweep, each twice the one before."""
    size = SMALLEST_SWEEP[device]
    while size <= largest:
        yield size
        size *= 2


def _memory(session: Session) -> None:
    slots = slots_of(random_buffer(session.plan.num_bytes, session.machine.device), session.plan.slot_bytes)
    rotation = Rotation(len(slots))
    reading = memory_operations(slots, ("read", "copy", "triad"), rotation)
    if session.machine.device == "cuda":
        reading += _kernels(session, "the kernels that only move data", partial(_kernel_memory, slots, rotation))
    session.measurements += session.measure(reading)
    # Writing comes last and alone: it leaves a constant in every slot, and what is read shall be random.
    session.measurements += session.measure(memory_operations(slots, ("write",), rotation))


def _kernel_memory(slots: list[Any], rotation: Rotation) -> list[Operation]:
    from llmserving.bandwidth.kernel_operations import kernel_memory_operations

    return kernel_memory_operations(slots, rotation)


def _sweep(session: Session) -> None:
    buffer = random_buffer(session.plan.num_bytes, session.machine.device)
    for name in ("read", "copy", "triad", "write"):  # writing last, as above
        for size in sweep_sizes(session.machine.device, session.plan.num_bytes):
            part = buffer[: size // buffer.itemsize]
            operations = memory_operations(slots_of(part, session.plan.slot_bytes), (name,))
            session.sweep += session.measure(operations, seconds=SWEEP_SECONDS)


def _roofline(session: Session) -> None:
    device = session.machine.device
    for dtype in DTYPES[device]:
        operations = linear_operations(dtype, ROWS, session.weights, session.plan.num_bytes, device)
        session.measurements += session.measure(operations)
        session.measurements += session.measure([peak_operation(dtype, session.peak, device)])


def _quantized(session: Session) -> None:
    device = session.machine.device
    operations, skipped = quantized_operations(QUANTIZED_ROWS, session.weights, session.plan.num_bytes, device)
    session.skipped += skipped
    for rows in QUANTIZED_ROWS:  # those of one M take turns, for they are compared
        session.measurements += session.measure([found for found in operations if found.rows == rows])
    if device == "cuda":
        session.measurements += session.measure(_kernels(session, "the GEMV kernels", partial(_gemvs, session)))


def _gemvs(session: Session) -> list[Operation]:
    """FP16 by torch and by the kernel, and packed 4 bits by the fused kernel, on copies of their own."""
    import torch

    from llmserving.bandwidth.kernel_operations import gemv_operation, gemv_w4a16_operation
    from llmserving.bandwidth.kernel_weights import random_packed_weights, random_weights

    device, size, share = session.machine.device, session.weights, session.plan.num_bytes // 2
    x = torch.randn(size, generator=torch.Generator(device).manual_seed(1), device=device).half()
    halves = random_weights(copies_to_fill(share, 2 * size**2), size, size, device)
    fours = random_packed_weights(copies_to_fill(share, size**2 // 2), size, size, 128, device)
    return [gemv_operation(halves, x, by_torch=True), gemv_operation(halves, x), gemv_w4a16_operation(fours, x)]


def _kernels(session: Session, what: str, made: Callable[[], list[Operation]]) -> list[Operation]:
    """Operations of the Triton kernels; where they cannot run, none, and a sentence."""
    from llmserving.bandwidth import kernels

    why = kernels.missing()
    if why:
        session.skipped.append(f"{what}: skipped, for {why}")
        return []
    return made()


MEASURED: dict[str, Callable[[Session], None]] = {
    "memory": _memory, "sweep": _sweep, "roofline": _roofline, "quantized": _quantized,
}  # fmt: skip
PARTS = tuple(MEASURED)
