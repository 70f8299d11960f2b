"""Read, write, copy and triad: the four ways to use a memory, each one line of torch that runs on any device.

A call touches one slot of a buffer. Copy takes its first half to its second, triad two thirds to the last; neither writes
what it reads, so that the data stay random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmserving.bandwidth.operation import Operation, Rotation

FLOAT32 = 4
SCALAR = 0.4  # STREAM's triad: a = b + scalar * c
CONVENTIONS = {
    "read": "bytes read (the sum of the squares of all)",
    "write": "bytes written (a constant)",
    "copy": "bytes read and bytes written: twice what is copied",
    "triad": "bytes of two arrays read and one written",
}
BUS = (
    "on a CPU, what is written is read first (write-allocate), unless it is stored past the caches (non-temporal stores), "
    "which is not counted here; on a GPU it is not"
)


def random_buffer(num_bytes: int, device: str = "cpu") -> Any:
    """float32 from 0 to 1, seeded; not constant, since predictable data may be compressed on their way."""
    import torch

    generator = torch.Generator(device).manual_seed(0)
    return torch.rand(num_bytes // FLOAT32, generator=generator, device=device)


def slots_of(buffer: Any, slot_bytes: int) -> list[Any]:
    """The buffer, float32 [elements], in whole slots; what is left over at its end is left out."""
    elements = min(slot_bytes // FLOAT32, buffer.numel())
    return list(buffer[: buffer.numel() // elements * elements].split(elements))


def memory_operations(
    slots: list[Any], names: tuple[str, ...] = ("read", "write", "copy", "triad"), rotation: Rotation | None = None
) -> list[Operation]:
    """The operations on the slots of a buffer, each float32 [elements]; they share one rotation over them."""
    rotation = rotation or Rotation(len(slots))
    return [_OPERATIONS[name](slots, rotation) for name in names]


def bus_bytes(device: str, read: int, written: int) -> int:
    """What crosses the bus: a CPU's cache reads a line before it is written to, a GPU's does not."""
    return read + written * (2 if device == "cpu" else 1)


def _operation(
    name: str, slots: list[Any], rotation: Rotation, read: int, written: int, flops: int, run: Callable[[int], Any],
    is_right: Callable[[int, Any], bool],
) -> Operation:  # fmt: skip
    return Operation(
        name=name,
        convention=CONVENTIONS[name],
        dtype="float32",
        bytes_counted=read + written,
        bytes_on_bus=bus_bytes(slots[0].device.type, read, written),
        flops=flops,
        buffer_bytes=len(slots) * slots[0].numel() * FLOAT32,
        rotation=rotation,
        run=run,
        is_right=is_right,
    )


def _read(slots: list[Any], rotation: Rotation) -> Operation:
    import torch

    # Of torch's reductions the one that keeps up with a loop in C; a norm or a maximum waits for arithmetic.
    dot = torch.dot

    def is_right(slot: int, found: Any) -> bool:
        expected = float(slots[slot].double().square().sum())
        return abs(float(found) - expected) <= 1e-3 * expected  # 1.5 million float32 squares, added up in 16 lanes

    elements = slots[0].numel()
    return _operation(
        "read",
        slots,
        rotation,
        FLOAT32 * elements,
        0,
        2 * elements,
        lambda slot: dot(slots[slot], slots[slot]),
        is_right,
    )


def _write(slots: list[Any], rotation: Rotation) -> Operation:
    calls = iter(range(10**12))

    def run(slot: int) -> float:
        value = (next(calls) % 4096 + 1) / 4096  # another one each time, so that a write left out is noticed
        slots[slot].fill_(value)
        return value

    def is_right(slot: int, value: float) -> bool:
        return bool((slots[slot] == value).all())

    return _operation("write", slots, rotation, 0, FLOAT32 * slots[0].numel(), 0, run, is_right)


def _copy(slots: list[Any], rotation: Rotation) -> Operation:
    half = slots[0].numel() // 2
    pairs = [(slot[:half], slot[half : 2 * half]) for slot in slots]

    def run(slot: int) -> None:
        source, target = pairs[slot]
        target.copy_(source)

    def is_right(slot: int, _: Any) -> bool:
        source, target = pairs[slot]
        return bool((source == target).all())

    return _operation("copy", slots, rotation, FLOAT32 * half, FLOAT32 * half, 0, run, is_right)


def _triad(slots: list[Any], rotation: Rotation) -> Operation:
    import torch

    third = slots[0].numel() // 3
    triples = [(slot[:third], slot[third : 2 * third], slot[2 * third : 3 * third]) for slot in slots]

    def run(slot: int) -> None:
        b, c, a = triples[slot]
        torch.add(b, c, alpha=SCALAR, out=a)

    def is_right(slot: int, _: Any) -> bool:
        b, c, a = triples[slot]
        exact = b.double() + SCALAR * c.double()
        return bool(((exact - a).abs() <= 1e-6 * (exact.abs() + 1)).all())

    return _operation("triad", slots, rotation, 2 * FLOAT32 * third, FLOAT32 * third, 2 * third, run, is_right)


_OPERATIONS = {"read": _read, "write": _write, "copy": _copy, "triad": _triad}
