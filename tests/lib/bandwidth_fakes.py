"""Operations, machines and reports without a stopwatch: time passes on a fake clock, by what each call says it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmserving.bandwidth.machine import Machine
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.results import BandwidthReport
from llmserving.timing import FakeClock, Samples
from llmserving.units import MiB

MACHINE = Machine("cpu", "A processor", 2, 16 * MiB, "Linux x86_64, Python 3.11.7", "2.13.0")
QUIET, BUSY = (2e-3,) * 20, (2e-3,) * 20


def fake_operation(
    clock: FakeClock, seconds: float | Callable[[int], float] = 1e-3, *, name: str = "read", right: bool = True,
    rotation: Rotation | None = None, rows: int | None = None,
) -> Operation:  # fmt: skip
    """Its call takes `seconds`, or seconds(number of the call), of the fake clock; 8 MB a call."""
    calls = iter(range(10**9))

    def run(slot: int) -> int:
        index = next(calls)
        clock.advance(seconds(index) if callable(seconds) else seconds)
        return slot

    return Operation(
        name, "bytes read", "float32", 8_000_000, 12_000_000, 16_000_000, 64 * MiB, rotation or Rotation(4), run,
        lambda slot, found: right and found == slot, rows,
    )  # fmt: skip


def measured(
    operation: str, seconds: float = 1e-3, *, dtype: str = "float32", rows: int | None = None, num_bytes: int = 10_000_000,
    flops: int = 0, buffer_bytes: int = 64 * MiB, right: bool = True, stolen: float = 0.0, convention: str = "bytes read",
) -> Measurement:  # fmt: skip
    """A measurement of 20 samples of so many seconds, of each of which `stolen` was somebody else's."""
    samples = Samples((seconds,) * 20, (seconds - stolen,) * 20)
    return Measurement(
        operation,
        convention,
        dtype,
        "cpu",
        1,
        num_bytes,
        num_bytes,
        flops,
        buffer_bytes,
        16 * MiB,
        right,
        samples,
        rows,
    )


def report(**changes: Any) -> BandwidthReport:
    """Reading at 10 GB/s, a peak of 1 TFLOP/s in bfloat16, and matmuls of M = 1, 16 and 512."""
    matmuls = [
        measured("linear", seconds, dtype="bfloat16", rows=rows, num_bytes=8_000_000, flops=8_000_000 * rows)
        for rows, seconds in ((1, 1e-3), (16, 1e-3), (512, 5e-3))
    ]
    peak = measured("square matmul", 2e-3, dtype="bfloat16", rows=1024, num_bytes=6_000_000, flops=2 * 10**9)
    given: dict[str, Any] = {
        "machine": MACHINE,
        "date": "2026-11-30",
        "command": "python -m llmserving bandwidth",
        "measurements": (measured("read"), measured("copy", 1e-3, num_bytes=12_000_000), *matmuls, peak),
        "sweep": (measured("read", 1e-3, num_bytes=30_000_000, buffer_bytes=MiB),),
        **changes,
    }
    return BandwidthReport(**given)
