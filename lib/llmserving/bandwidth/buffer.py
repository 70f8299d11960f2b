"""How large the buffer is that a window moves through: beyond every cache, and within the memory that is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.units import GiB, MiB, format_bytes

CACHES = 4  # a window comes back to the same bytes after four caches full of others
ASSUMED_CACHE = 64 * MiB
MOST_OF_MEMORY = 0.5
# Of a window's bytes, copy takes halves and triad thirds, each a whole number of pages.
CPU_SLOT = 6 * MiB
GPU_SLOT = 768 * MiB
GPU_BUFFER = 3 * GiB
UNIT = 12 * 1024


@dataclass(frozen=True)
class BufferPlan:
    """The bytes of the buffer, the bytes that one call touches, and what there is to say about them."""

    num_bytes: int
    slot_bytes: int
    cache_bytes: int | None
    remarks: tuple[str, ...]

    @property
    def slots(self) -> int:
        return self.num_bytes // self.slot_bytes


def plan_buffer(device: str, cache_bytes: int | None, available_bytes: int | None, asked: Any = None) -> BufferPlan:
    """A buffer of `asked` bytes, or of at least four caches, or of half of what is free where that is less, and says so.

    MemoryError where not even two windows fit, and where what was asked for is more than half of what is free.
    """
    remarks = []
    cache = cache_bytes
    if cache is None:
        cache = ASSUMED_CACHE
        remarks.append(
            f"the operating system does not tell the size of the last-level cache; {format_bytes(cache, 'MiB')} is assumed, "
            "and if it is larger, the figures are partly the cache's"
        )
    slot = GPU_SLOT if device == "cuda" else CPU_SLOT
    windows = -(-CACHES * cache // slot)  # rounded up: never less than the caches
    wanted = max(windows * slot, GPU_BUFFER if device == "cuda" else 4 * slot)
    if asked is not None:
        wanted = arguments.count("buffer", "the bytes of the buffer", asked, at_least=2 * UNIT)
    num_bytes = wanted
    if available_bytes is not None and wanted > MOST_OF_MEMORY * available_bytes:
        if asked is not None:
            raise MemoryError(
                f"nothing was measured: a buffer of {format_bytes(wanted, 'MiB')} is more than half of the "
                f"{format_bytes(available_bytes, 'MiB')} that are free"
            )
        num_bytes = int(MOST_OF_MEMORY * available_bytes)
        remarks.append(
            f"too little memory: the buffer is {format_bytes(num_bytes, 'MiB')} instead of "
            f"{format_bytes(wanted, 'MiB')}, half of the {format_bytes(available_bytes, 'MiB')} that are free"
        )
    slot = min(slot, num_bytes // 4 // UNIT * UNIT)
    if slot < UNIT:
        raise MemoryError(
            f"nothing was measured: {format_bytes(available_bytes or num_bytes, 'MiB')} of free memory hold no buffer"
        )
    num_bytes = num_bytes // slot * slot
    if num_bytes < CACHES * cache:
        remarks.append(
            f"the buffer of {format_bytes(num_bytes, 'MiB')} is less than {CACHES} caches of "
            f"{format_bytes(cache, 'MiB')}: part of what is read may come from the cache, and be faster than the memory"
        )
    return BufferPlan(num_bytes, slot, cache_bytes, tuple(remarks))
