"""One measurement as data: what was moved and computed, in which time, whether it came out right, and what to believe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llmserving.timing.samples import Samples


@dataclass(frozen=True)
class Measurement:
    """One operation on one device. Bytes and FLOPs are those of one sample, which is `calls` calls in a row.

    buffer_bytes: what the calls rotate over. cache_bytes: the last-level cache, None where unknown. result_is_right: the
    results were looked at outside of the timed part. rows: M of a matmul.
    """

    operation: str
    convention: str
    dtype: str
    device: str
    calls: int
    bytes_counted: int
    bytes_on_bus: int
    flops: int
    buffer_bytes: int
    cache_bytes: int | None
    result_is_right: bool
    samples: Samples
    rows: int | None = None

    @property
    def verdict(self) -> str:
        """ "ok", or the reason why there is no figure."""
        return self.samples.verdict if self.result_is_right else "WRONG RESULT"

    @property
    def seconds(self) -> float | None:
        """Of the best undisturbed sample; None where there is no figure to give."""
        return self.samples.best if self.result_is_right else None

    @property
    def call_seconds(self) -> float | None:
        return None if self.seconds is None else self.seconds / self.calls

    @property
    def bytes_per_s(self) -> float | None:
        """By the bytes counted, in the best undisturbed sample."""
        return None if self.seconds is None else self.bytes_counted / self.seconds

    @property
    def median_bytes_per_s(self) -> float | None:
        """The same in the median of the undisturbed samples."""
        middle = self.samples.median
        return None if self.seconds is None or middle is None else self.bytes_counted / middle

    @property
    def bus_bytes_per_s(self) -> float | None:
        """By all bytes that cross the memory bus, those included that are read only to be overwritten."""
        return None if self.seconds is None else self.bytes_on_bus / self.seconds

    @property
    def flops_per_s(self) -> float | None:
        return None if self.seconds is None else self.flops / self.seconds

    @property
    def intensity(self) -> float:
        """FLOPs for each byte counted."""
        return self.flops / self.bytes_counted

    @property
    def exceeds_cache(self) -> bool:
        """Whether what is rotated over is larger than the last-level cache, as far as that is known."""
        return self.cache_bytes is not None and self.buffer_bytes > self.cache_bytes

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, times in microseconds to a tenth of one."""
        plain = asdict(self)
        plain["samples"] = {
            "threads": self.samples.threads,
            "walls_us": [round(1e6 * wall, 1) for wall in self.samples.walls],
            "busies_us": self.samples.busies and [round(1e6 * busy, 1) for busy in self.samples.busies],
        }
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Measurement:
        """Back from `as_dict`. KeyError, TypeError or ValueError where it is something else."""
        told = dict(plain)
        times = told.pop("samples")
        walls = tuple(float(wall) / 1e6 for wall in times["walls_us"])
        busies = times["busies_us"] and tuple(float(busy) / 1e6 for busy in times["busies_us"])
        return cls(**told, samples=Samples(walls, busies or None, times["threads"]))
