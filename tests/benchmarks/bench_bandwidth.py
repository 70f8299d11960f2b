"""The library's bandwidth against C, in turns, and decode predicted and measured: `python -m tests.benchmarks.bench_bandwidth`.

A ratio is torch's bytes a second over those of the loops in stream.c; the goal on a quiet core is 0.92 to 1.08.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from llmserving.bandwidth import decode_table, measure_operations, memory_operations, this_machine
from llmserving.bandwidth.buffer import plan_buffer
from llmserving.bandwidth.decode_rows import told_table
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.memory import available_memory
from llmserving.bandwidth.operation import Rotation
from llmserving.bandwidth.operations import random_buffer, slots_of
from llmserving.bandwidth.report import rate_or_verdict
from llmserving.timing import HostClock, torch_threads

from tests.benchmarks.stream import NoCompiler, compiled, stream_operations

NAMES, GOAL, SAMPLES = ("read", "write", "copy", "triad"), 0.08, 40


def ratio(ours: Measurement, in_c: Measurement) -> str:
    """Ours over C's, best against best and median against median, or why there is none."""
    best, middle = ours.bytes_per_s, ours.median_bytes_per_s
    c_best, c_middle = in_c.bytes_per_s, in_c.median_bytes_per_s
    if best is None or middle is None or c_best is None or c_middle is None:
        return f"no ratio: {ours.verdict if ours.verdict != 'ok' else in_c.verdict}"
    off = "" if abs(best / c_best - 1) <= GOAL else f"   beyond the goal of {100 * GOAL:.0f} %"
    return f"{best / c_best:5.2f} best, {middle / c_middle:5.2f} median{off}"


def compare_with_c() -> None:
    """Print a line for each operation; both sides take turns on the same window."""
    with tempfile.TemporaryDirectory() as folder, torch_threads(torch):
        library = compiled(Path(folder))
        machine = this_machine()
        plan = plan_buffer("cpu", machine.cache_bytes, available_memory())
        print(f"{machine}\none thread, torch against stream.c in turns, a window through {plan.num_bytes >> 20} MiB")
        for remark in plan.remarks:
            print(remark)
        slots = slots_of(random_buffer(plan.num_bytes), plan.slot_bytes)
        rotation = Rotation(len(slots))
        in_c = {operation.name.split(",")[0]: operation for operation in stream_operations(library, slots, rotation)}
        for operation in memory_operations(slots, NAMES, rotation):
            pair = [operation, in_c[operation.name]]
            ours, other = measure_operations(pair, HostClock(), cache_bytes=machine.cache_bytes, samples=SAMPLES)
            quiet = f"{100 * ours.samples.quiet_share:3.0f} % and {100 * other.samples.quiet_share:3.0f} % quiet"
            figures = f"{rate_or_verdict(ours):>12}  C {rate_or_verdict(other):>12}  {quiet}"
            print(f"{operation.name:8}{figures}  {ratio(ours, other)}")


def main() -> None:
    try:
        compare_with_c()
    except (NoCompiler, MemoryError) as refusal:
        print(refusal)
    print()
    print(told_table(decode_table(command="make bench", tell=lambda line: print(line, file=sys.stderr))))


if __name__ == "__main__":
    main()
