"""The bytes that a bar of GPU memory shows, and the words for them."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.units import BYTES_PER_UNIT, format_bytes


@dataclass(frozen=True)
class HbmBudget:
    """A GPU's memory and the two buckets that have to fit into it, all in bytes.

    A bucket may be empty; the memory may not. ValueError or TypeError names the field that is wrong.
    """

    memory_bytes: int
    weight_bytes: int
    kv_bytes: int

    def __post_init__(self) -> None:
        memory = arguments.count("memory_bytes", "the GPU's memory in bytes", self.memory_bytes, whole_floats=True)
        weights = _bucket("weight_bytes", "the size of the weights in bytes", self.weight_bytes)
        kv = _bucket("kv_bytes", "the size of the KV cache in bytes", self.kv_bytes)
        for name, value in (("memory_bytes", memory), ("weight_bytes", weights), ("kv_bytes", kv)):
            object.__setattr__(self, name, value)

    @property
    def needed_bytes(self) -> int:
        return self.weight_bytes + self.kv_bytes

    @property
    def free_bytes(self) -> int:
        """What is left, 0 where the buckets do not fit."""
        return max(0, self.memory_bytes - self.needed_bytes)

    @property
    def over_bytes(self) -> int:
        """What is too much, 0 where the buckets fit."""
        return max(0, self.needed_bytes - self.memory_bytes)

    @property
    def fits(self) -> bool:
        return self.needed_bytes <= self.memory_bytes

    @property
    def verdict(self) -> str:
        """One sentence: `Fits: 12.3 GB free.` or `Does not fit: 7.3 GB too much.`"""
        if self.fits:
            return f"Fits: {self.size(self.free_bytes)} free."
        return f"Does not fit: {self.size(self.over_bytes)} too much."

    def size(self, num_bytes: int) -> str:
        """`num_bytes` in the unit of the memory, so that sizes side by side compare at a glance."""
        unit = next((u for u in ("TB", "GB", "MB", "KB") if self.memory_bytes >= BYTES_PER_UNIT[u]), "bytes")
        readable = num_bytes == 0 or 1e-3 <= num_bytes / BYTES_PER_UNIT[unit] < 1e6
        return format_bytes(num_bytes, unit if readable else None)

    def share(self, num_bytes: int) -> str:
        """`num_bytes` as a part of the memory: `32 %`, `under 1 %`, `12 times the memory`."""
        ratio = num_bytes / self.memory_bytes
        if ratio >= 10:
            return f"{ratio:,.0f} times the memory" if ratio < 1000 else "over 999 times the memory"
        return "under 1 %" if 0 < ratio < 0.01 else f"{100 * ratio:.0f} %"


def _bucket(name: str, meaning: str, value: Any) -> int:
    """`value` as a whole number of bytes, 0 included."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        if value == 0:
            return 0
        if value < 0:
            raise ValueError(f"{name} is {meaning} and cannot be negative, but got {value!r}; an empty bucket is 0")
    return arguments.count(name, meaning, value, whole_floats=True)
