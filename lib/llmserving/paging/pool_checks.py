"""What must be true of the free blocks after an operation that went through; each check says what is wrong, or None."""

from __future__ import annotations

from llmserving.paging.block_checks import counted, listed
from llmserving.paging.observation import Observation


def free_or_held(seen: Observation) -> str | None:
    if seen.after.free is None or not seen.holders.hold_any(seen.after.free):
        return None
    block = next(block for block in seen.after.free if seen.holders.of(block))
    holders = seen.holders.of(block)
    hold = "holds" if len(holders) == 1 else "hold"
    if block in seen.hits and holders == [seen.operation.request]:
        return (
            f"block {block} was found in the prefix cache, and is in the free list still, while {listed(holders)} {hold} it; "
            "a free block that is found leaves the free list"
        )
    return f"block {block} is in the free list while {listed(holders)} {hold} it; it would be given out"


def nothing_leaks(seen: Observation) -> str | None:
    if seen.after.free is None or len(seen.after.free) + len(seen.holders) == seen.num_blocks:
        return None
    free = set(seen.after.free)
    block = next(block for block in range(seen.num_blocks) if block not in free and not seen.holders.of(block))
    return f"block {block} is in no table and not free: it has leaked"


def the_count_is_right(seen: Observation) -> str | None:
    held, free = len(seen.holders), seen.after.free_count
    if free + held == seen.num_blocks:
        return None
    return f"{counted(free, 'block')} {'is' if free == 1 else 'are'} free and {held} in tables, of {seen.num_blocks}"
