"""What a prediction of decode is made from: two limits for the bound, and the measured time of each operation beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmserving import arguments
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.results import BandwidthReport


@dataclass(frozen=True)
class Calibration:
    """flops_per_s: of the matmuls in the model's dtype. read_bytes_per_s: rates of reading, by the bytes rotated over.

    The rest, where it was measured, in seconds of one call: matmul_seconds by (batch, outputs, inputs), attention_seconds of
    a layer and rest_seconds of a whole step by (batch, context). cpu_time: whether some of them are CPU times, for want of
    undisturbed samples.
    """

    flops_per_s: float
    read_bytes_per_s: Mapping[int, float]
    matmul_seconds: Mapping[tuple[int, int, int], float] = field(default_factory=dict)
    attention_seconds: Mapping[tuple[int, int], float] = field(default_factory=dict)
    rest_seconds: Mapping[tuple[int, int], float] = field(default_factory=dict)
    cpu_time: bool = False

    def __post_init__(self) -> None:
        arguments.amount("flops_per_s", "the operations a second of the matmuls", self.flops_per_s)
        if not self.read_bytes_per_s:
            raise ValueError("read_bytes_per_s is empty: a bound needs one rate of reading at least")
        for rate in self.read_bytes_per_s.values():
            arguments.amount("read_bytes_per_s", "the bytes a second of reading", rate)

    def bandwidth_for(self, num_bytes: float) -> float:
        """The fastest that so many bytes can be read again and again: the best rate over a buffer as large or larger.

        A model that fits into a cache is read at the cache's speed, and the memory's would not be a bound for it.
        """
        as_large = [rate for size, rate in self.read_bytes_per_s.items() if size >= num_bytes]
        return max(as_large) if as_large else self.read_bytes_per_s[max(self.read_bytes_per_s)]

    def merged(self, other: Calibration) -> Calibration:
        """Both together; where both have something, what `other` has, and of rates the better one."""
        rates = {**self.read_bytes_per_s}
        for size, rate in other.read_bytes_per_s.items():
            rates[size] = max(rate, rates.get(size, 0))
        return Calibration(
            max(self.flops_per_s, other.flops_per_s),
            rates,
            {**self.matmul_seconds, **other.matmul_seconds},
            {**self.attention_seconds, **other.attention_seconds},
            {**self.rest_seconds, **other.rest_seconds},
            self.cpu_time or other.cpu_time,
        )


def calibration_of(report: BandwidthReport, dtype: str = "float32") -> Calibration:
    """The two limits that a report has, for raw predictions. ValueError where it has not both."""
    peak, bandwidth = report.peak_flops_per_s(dtype), report.read_bytes_per_s
    if peak is None or bandwidth is None:
        raise ValueError(f"the report has no figure for reading or for matmuls in {dtype}: not measured, or disturbed")
    rates = {m.buffer_bytes: m.bytes_per_s for m in report.sweep if m.operation == "read" and m.bytes_per_s}
    largest = max(m.buffer_bytes for m in report.measurements)
    return Calibration(peak, {**rates, largest: max(bandwidth, rates.get(largest, 0))})


def typical_seconds(found: Measurement) -> tuple[float, bool]:
    """Seconds of a call, and whether they are CPU time: the median of undisturbed samples, else the least CPU time.

    ValueError where there is neither, or the result was wrong.
    """
    if not found.result_is_right:
        raise ValueError(f"{found.operation} gave a wrong result; its time says nothing")
    middle, core = found.samples.median, found.samples.core_seconds
    if middle is None and core is None:
        raise ValueError(f"{found.operation} has no time to give: {found.verdict}")
    return (middle if middle is not None else core or 0.0) / found.calls, middle is None
