"""Measuring operations in turns: samples of a few milliseconds, as many as it takes to see the machine undisturbed.

A sample of 1 to 5 ms is shorter than a scheduler leaves a thread alone and far longer than reading a clock takes. One long
pass over a large array, the habit of STREAM, is always disturbed on a shared machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from llmserving import arguments
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation
from llmserving.timing.clocks import Clock, Sample
from llmserving.timing.samples import LEAST_SAMPLES
from llmserving.timing.turns import samples_of

TARGET_SECONDS = 2.5e-3
MOST_CALLS = 20_000
MOST_SAMPLES = 100
ENOUGH_QUIET = 20  # undisturbed samples, of which the best is within a few percent of the best of many
SECONDS_AN_OPERATION = 2.0


@dataclass
class _Trial:
    """An operation with what is found of it."""

    operation: Operation
    calls: int
    right: bool
    taken: list[Sample] = field(default_factory=list)
    last: object = None

    def run(self) -> None:
        operation = self.operation
        run, step, result = operation.run, operation.rotation.step, None
        for _ in range(self.calls):
            result = run(step())
        self.last = result

    def check(self) -> None:
        self.right = self.right and self.operation.is_right(self.operation.rotation.current, self.last)


def measure_operations(
    operations: Sequence[Operation],
    clock: Clock,
    *,
    device: str = "cpu",
    cache_bytes: int | None = None,
    samples: int = LEAST_SAMPLES,
    seconds: float = SECONDS_AN_OPERATION,
    skipped: list[str] | None = None,
) -> list[Measurement]:
    """Each operation measured, all taking turns in every round.

    At least `samples` of each; more, while fewer than 20 of some operation were undisturbed, until `seconds` have passed for
    each operation. Results are checked after the warm-up and after the round number `samples`. skipped: gets a sentence for an
    operation that cannot run here; without it, its error is raised.
    """
    samples = arguments.count("samples", "the least number of samples", samples)
    seconds = arguments.amount("seconds", "the seconds to go on for, an operation", seconds)
    trials = [trial for operation in operations if (trial := _trial(operation, clock, skipped))]
    for trial in trials:
        clock.time(trial.run)
        trial.check()
    started, index = time.monotonic(), 0
    while index < samples or not _enough(
        trials, index, time.monotonic() - started, seconds * len(trials), clock.threads
    ):
        for trial in trials:
            trial.taken.append(clock.time(trial.run))
            if index == samples - 1:
                trial.check()
        index += 1
    return [_measurement(trial, clock, device, cache_bytes) for trial in trials]


def _trial(operation: Operation, clock: Clock, skipped: list[str] | None) -> _Trial | None:
    try:
        return _Trial(operation, calls_for(operation, clock), True)
    except (RuntimeError, NotImplementedError) as fault:  # how torch says that a device lacks a kernel
        if skipped is None:
            raise
        rows = "" if operation.rows is None else f" with M = {operation.rows}"
        skipped.append(f"{operation.name}{rows}: skipped, for it does not run here ({str(fault).splitlines()[0]})")
        return None


def calls_for(operation: Operation, clock: Clock) -> int:
    """How many calls in a row take about 2.5 ms; at least as many as the clock wants."""
    single = _Trial(operation, clock.least_calls, True)
    fastest = min(clock.time(single.run).wall for _ in range(4)) / clock.least_calls
    wanted = round(TARGET_SECONDS / fastest) if fastest > 0 else MOST_CALLS
    return max(clock.least_calls, 1, min(MOST_CALLS, wanted))


def _enough(trials: Sequence[_Trial], rounds: int, passed: float, limit: float, threads: int) -> bool:
    if rounds >= MOST_SAMPLES or passed >= limit:
        return True
    return all(sum(samples_of(trial.taken, threads).is_quiet) >= ENOUGH_QUIET for trial in trials)


def _measurement(trial: _Trial, clock: Clock, device: str, cache_bytes: int | None) -> Measurement:
    operation, calls = trial.operation, trial.calls
    return Measurement(
        operation=operation.name,
        convention=operation.convention,
        dtype=operation.dtype,
        device=device,
        calls=calls,
        bytes_counted=calls * operation.bytes_counted,
        bytes_on_bus=calls * operation.bytes_on_bus,
        flops=calls * operation.flops,
        buffer_bytes=operation.buffer_bytes,
        cache_bytes=cache_bytes,
        result_is_right=trial.right,
        samples=samples_of(trial.taken, clock.threads),
        rows=operation.rows,
    )
