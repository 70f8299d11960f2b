"""A roofline in a few seconds: reading, one square matmul, and a few thin ones, for a lesson and not for a record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from llmserving.bandwidth.machine import need_torch, this_machine
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation
from llmserving.bandwidth.results import BandwidthReport
from llmserving.timing.clocks import Clock, HostClock
from llmserving.units import MiB

ROWS = (1, 4, 16, 64, 256)
NUM_BYTES = 512 * MiB  # about what a small model in float32 has: what decode reads, again and again
SIZE = 1024
PEAK_SIZE = 512  # a product of some milliseconds: shorter than a busy scheduler leaves a thread alone
SLOT = 6 * MiB
SECONDS = 0.5  # an operation, where a busy machine makes it repeat


def short_report(
    num_bytes: int = NUM_BYTES, *, clock: Clock | None = None, seconds: float = SECONDS
) -> BandwidthReport:
    """Measured on one thread in float32, over buffers of `num_bytes`. NoDevice without torch."""
    torch, machine, clock = need_torch(), this_machine(), clock or HostClock()
    from llmserving.bandwidth.matmuls import linear_operations, peak_operation
    from llmserving.bandwidth.measure import measure_operations
    from llmserving.bandwidth.operations import memory_operations, random_buffer, slots_of
    from llmserving.timing.threads import torch_threads

    makes: tuple[Callable[[], list[Operation]], ...] = (
        lambda: memory_operations(slots_of(random_buffer(num_bytes), SLOT), ("read",)),
        lambda: [peak_operation("float32", PEAK_SIZE)],
        lambda: linear_operations("float32", ROWS, SIZE, num_bytes),
    )
    measured: list[Measurement] = []
    with torch_threads(torch, 1), torch.no_grad():
        for make in makes:  # one after the other, so that no two buffers are held at once
            measured += measure_operations(make(), clock, cache_bytes=machine.cache_bytes, seconds=seconds)
    return BandwidthReport(machine, date.today().isoformat(), "short_report()", tuple(measured))
