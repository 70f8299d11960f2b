"""One operation that can be measured: a call on a part of its data, the bytes that count, and how its result is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Rotation:
    """Which part of the data is next: all of them in turn, so that each has left the caches when it comes again.

    Operations on the same data share one, also when they take turns: what one has just touched, none touches next.
    """

    def __init__(self, slots: int) -> None:
        if slots < 1:
            raise ValueError(f"slots is the number of parts to rotate over, at least 1, but got {slots}")
        self.slots = slots
        self.current = -1

    def step(self) -> int:
        """The next slot, from 0 to slots - 1, and then from 0 again."""
        self.current = (self.current + 1) % self.slots
        return self.current


@dataclass(frozen=True, eq=False)
class Operation:
    """`run(slot)` is one call, and `is_right(slot, result)` looks, later and untimed, at what it did.

    bytes_counted: what a call must move, by `convention`. bytes_on_bus: with what a processor reads only to write it.
    buffer_bytes: what all slots are together. rows: M of a matmul, None otherwise.
    """

    name: str
    convention: str
    dtype: str
    bytes_counted: int
    bytes_on_bus: int
    flops: int
    buffer_bytes: int
    rotation: Rotation
    run: Callable[[int], Any]
    is_right: Callable[[int, Any], bool]
    rows: int | None = None
