"""The events of an operation, made from the tables before and after it."""

from __future__ import annotations

from collections.abc import Iterable

from llmserving.events import Event
from llmserving.paging.observation import Observation


def events_of(seen: Observation, logged: Iterable[Event]) -> list[Event]:
    """What happened, in its order; `logged` are the allocator's own events of caching and evicting.

    A refused operation leaves none, and neither does one that should have been refused.
    """
    if seen.refusal is not None or seen.misuse is not None:
        return []
    kept = list(logged)
    free_list = seen.after.free if seen.after.ordered and seen.after.free is not None else ()
    happened = [
        # A block loses its cached content as it is taken from the free list, and is cached when it has been written.
        *(event for event in kept if event.kind == "evict"),
        _change(seen),
        *(event for event in kept if event.kind == "cache"),
    ]
    return [event._replace(free_blocks=seen.after.free_count, free_list=free_list) for event in happened]


def _change(seen: Observation) -> Event:
    operation, old, new = seen.operation, seen.old_table, seen.table
    name, tokens = operation.request, seen.lengths.get(operation.request, 0)
    if operation.kind == "allocate":
        return Event("allocate", name, tokens=tokens, blocks=new, cached_blocks=seen.found // seen.block_size)
    if operation.kind == "fork":
        return Event("fork", name, tokens=tokens, blocks=new, source=operation.parent)
    if operation.kind == "free":
        return Event("free", name, blocks=old)
    if len(new) != len(old):
        return Event("append", name, tokens=tokens, blocks=new[len(old) :])
    if old != new:
        before, after = next((a, b) for a, b in zip(reversed(old), reversed(new), strict=True) if a != b)
        return Event("copy", name, tokens=tokens, blocks=(after,), source=before)
    return Event("write", name, tokens=tokens, blocks=seen.written or new[-1:])
