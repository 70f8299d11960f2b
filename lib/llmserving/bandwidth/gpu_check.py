"""`python -m llmserving.bandwidth.gpu_check FILE.json`: everything that only a GPU can tell, in one run of a few minutes.

All operations and kernels on arrays of 1 GiB, each result checked, beside the caches, the matmuls and the quantized weights that
`python -m llmserving bandwidth` measures. Writes the report as JSON and holds it against what we expect of an H200.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llmserving.bandwidth import cuda_kernels, kernels
from llmserving.bandwidth.gpu_goals import LARGE, goals
from llmserving.bandwidth.kernel_operations import (
    cuda_copy_operation,
    cuda_gemv_w4a16_operation,
    gemv_operation,
    gemv_w4a16_operation,
    kernel_memory_operations,
)
from llmserving.bandwidth.kernel_weights import random_packed_weights, random_weights
from llmserving.bandwidth.machine import Machine, NoDevice, this_machine
from llmserving.bandwidth.measure import measure_operations
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.operations import memory_operations, random_buffer, slots_of
from llmserving.bandwidth.report import told
from llmserving.bandwidth.results import BandwidthReport, write_report
from llmserving.bandwidth.suite import measure_machine
from llmserving.timing.cuda_clock import CudaClock
from llmserving.units import GiB

COMMAND = "python -m llmserving.bandwidth.gpu_check"
SLOTS = 2
GROUP = 128
COLUMNS = 16384


def large_operations(device: str, array_bytes: int, *, columns: int = COLUMNS) -> Iterator[list[Operation]]:
    """What takes turns, list by list: the memory's operations on arrays of so many bytes, writing, and the GEMVs.

    Triad has three such arrays in a slot. The GEMVs' 16-bit weights are of that size, and the packed ones have their shape.
    """
    slots = _slots(device, array_bytes)
    rotation = Rotation(SLOTS)
    yield memory_operations(slots, ("read", "copy", "triad"), rotation) + kernel_memory_operations(slots, rotation)
    # Last of these, for it leaves a constant in every slot, and what is read shall be random.
    yield memory_operations(slots, ("write",), rotation)
    del slots
    x, rows = _inputs(device, columns), array_bytes // (2 * columns)
    halves = random_weights(SLOTS, rows, columns, device)
    fours = random_packed_weights(2 * SLOTS, rows, columns, GROUP, device)
    gemvs = (gemv_operation(halves, x, by_torch=True), gemv_operation(halves, x), gemv_w4a16_operation(fours, x))
    yield [replace(gemv, name=LARGE + gemv.name) for gemv in gemvs]


def cuda_operations(device: str, array_bytes: int, *, columns: int = COLUMNS) -> Iterator[list[Operation]]:
    """The same of the kernels in CUDA C++: the copy, and the packed GEMV."""
    slots = _slots(device, array_bytes)
    (copy,) = memory_operations(slots, ("copy",))
    yield [cuda_copy_operation(copy, slots)]
    del slots, copy
    x, rows = _inputs(device, columns), array_bytes // (2 * columns)
    fours = random_packed_weights(2 * SLOTS, rows, columns, GROUP, device)
    gemv = cuda_gemv_w4a16_operation(gemv_w4a16_operation(fours, x), fours, x)
    yield [replace(gemv, name=LARGE + gemv.name)]


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where everything was measured and right; otherwise 1, and sentences that say what was not."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Measure and check all kernels on an NVIDIA GPU.")
    parser.add_argument("json", type=Path, metavar="FILE.json", help="where the report is written")
    asked = parser.parse_args(arguments)
    try:
        report = _without_cuda_cpp()
        write_report(report, asked.json)
    except (NoDevice, MemoryError, RuntimeError, ValueError) as refusal:  # RuntimeError: torch's, of too little memory
        print(f"{COMMAND}: {str(refusal).splitlines()[0]}", file=sys.stderr)
        return 1
    # Last, with the rest already written: no test without a GPU has run their launch, and a fault in it ends the process's
    # use of the GPU.
    report = _with_cuda_cpp(report)
    write_report(report, asked.json)
    print(told(report))
    print("\n" + "\n".join(goals(report)))
    missing = [f"no figure for {found.operation}: {found.verdict}" for found in report.without_figure]
    for sentence in (*missing, *report.skipped):
        print(sentence, file=sys.stderr)
    return 1 if missing or report.skipped else 0


def _without_cuda_cpp() -> BandwidthReport:
    machine = this_machine("cuda")
    why = kernels.missing()
    if why is not None:
        raise NoDevice(f"the kernels were not measured: {why}")
    large, skipped = _measured(large_operations("cuda", GiB), machine)
    report = measure_machine("cuda", ("sweep", "roofline", "quantized"), command=COMMAND, tell=_tell)
    return replace(report, measurements=(*large, *report.measurements), skipped=(*skipped, *report.skipped))


def _with_cuda_cpp(report: BandwidthReport) -> BandwidthReport:
    why = cuda_kernels.missing()
    if why is None:
        try:
            more, skipped = _measured(cuda_operations("cuda", GiB), report.machine)
            return replace(report, measurements=(*report.measurements, *more), skipped=(*report.skipped, *skipped))
        except (RuntimeError, ValueError, OSError) as fault:
            why = str(fault).splitlines()[0]
    return replace(report, skipped=(*report.skipped, f"the kernels in CUDA C++: skipped, for {why}"))


def _measured(operations: Iterable[list[Operation]], machine: Machine) -> tuple[list[Measurement], list[str]]:
    """What was found, and a sentence for each operation that could not run."""
    import torch

    clock, found, skipped = CudaClock(torch.cuda), [], list[str]()
    with torch.no_grad():
        for together in operations:
            _tell(f"measuring, arrays of 1 GiB: {', '.join(operation.name for operation in together)}")
            found += measure_operations(
                together, clock, device="cuda", cache_bytes=machine.cache_bytes, skipped=skipped
            )
    torch.cuda.empty_cache()
    return found, skipped


def _slots(device: str, array_bytes: int) -> list[Any]:
    return slots_of(random_buffer(SLOTS * 3 * array_bytes, device), 3 * array_bytes)


def _inputs(device: str, columns: int) -> Any:
    import torch

    return torch.randn(columns, generator=torch.Generator(device).manual_seed(1), device=device).half()


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
