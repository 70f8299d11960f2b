"""Everything that there is to measure of a machine, part by part, into one report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.buffer import plan_buffer
from llmserving.bandwidth.machine import Machine, need_torch, this_machine
from llmserving.bandwidth.memory import available_memory
from llmserving.bandwidth.parts import MEASURED, PARTS, Session
from llmserving.bandwidth.results import BandwidthReport
from llmserving.timing.clocks import Clock, HostClock
from llmserving.timing.samples import LEAST_SAMPLES
from llmserving.timing.threads import torch_threads
from llmserving.units import format_bytes

SIZES = {"cpu": 2048, "cuda": 8192}
PEAK_SIZES = {"cpu": 1024, "cuda": 8192}


def measure_machine(
    device: str = "cpu",
    parts: Sequence[str] = PARTS,
    *,
    threads: Any = 1,
    buffer_bytes: Any = None,
    size: Any = None,
    samples: Any = LEAST_SAMPLES,
    command: str = "",
    clock: Clock | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> BandwidthReport:
    """Measure `parts` of this machine. `tell` gets a line before each.

    buffer_bytes: instead of four last-level caches. size: of the matmuls' square weights. samples: at least so many
    of each. NoDevice where the device or torch
    is not there, MemoryError where nothing fits.
    """
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"parts are {', '.join(PARTS)}, but got {arguments.shown(part)}")
    threads = arguments.count("threads", "the number of threads that work", threads)
    samples = arguments.count("samples", "the least number of samples", samples)
    machine, torch = this_machine(device), need_torch()
    available = _available(device, torch)
    plan = plan_buffer(device, machine.cache_bytes, available, buffer_bytes)
    clock = clock or _clock(device, threads, torch)
    weights = SIZES[device] if size is None else arguments.count("size", "the rows of square weights", size)
    if weights % 128:
        raise ValueError(f"size is a multiple of 128, for whole groups of quantized weights, but got {weights}")
    _require_room(weights, available)
    session = Session(machine, clock, plan, weights, min(weights, PEAK_SIZES[device]), samples)
    with torch_threads(torch, threads), torch.no_grad():
        for part in dict.fromkeys(parts):
            tell(f"measuring: {part}")
            try:
                MEASURED[part](session)
            except (RuntimeError, MemoryError, TypeError) as fault:  # what a device lacks, or memory that another took
                session.skipped.append(f"{part}: skipped, for {_first_line(fault)}")
    return BandwidthReport(
        machine=machine,
        date=date.today().isoformat(),
        command=command or f"measure_machine({device!r}, {tuple(parts)!r}, threads={threads})",
        measurements=tuple(session.measurements),
        sweep=tuple(session.sweep),
        remarks=(*plan.remarks, *_crowded(machine, threads)),
        skipped=tuple(session.skipped),
    )


def _require_room(size: int, available_bytes: int | None) -> None:
    """MemoryError where two float32 copies of the weights, and a reference in float64, are more than what is free."""
    needed = size**2 * (2 * 4 + 8)
    if available_bytes is not None and needed > available_bytes:
        raise MemoryError(
            f"nothing was measured: weights of {size:,} by {size:,} need {format_bytes(needed, 'MiB')} with their copy and "
            f"what they are checked against, and {format_bytes(available_bytes, 'MiB')} are free"
        )


def _clock(device: str, threads: int, torch: Any) -> Clock:
    if device == "cpu":
        return HostClock(threads)
    from llmserving.timing.cuda_clock import CudaClock

    return CudaClock(torch.cuda)


def _available(device: str, torch: Any) -> int | None:
    return available_memory() if device == "cpu" else int(torch.cuda.mem_get_info()[0])


def _crowded(machine: Machine, threads: int) -> Iterator[str]:
    if machine.device == "cpu" and threads > machine.cores:
        yield f"{threads} threads share {machine.cores} cores: they wait for one another, and no sample can be undisturbed"
    if machine.device == "cpu" and sys.platform == "win32":
        yield "Windows tells no CPU time of a few milliseconds; a sample counts as undisturbed when it is near the fastest"


def _first_line(fault: BaseException) -> str:
    return (str(fault) or type(fault).__name__).splitlines()[0]
