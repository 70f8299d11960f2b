"""When the blocks that a prefix cache finds were cached, for an allocator that keeps no log of it.

From outside a cached block is known only once it is found. It was cached when it was filled, and there the event belongs.
"""

from __future__ import annotations

from collections.abc import Iterable

from llmserving.events import Event
from llmserving.paging.observation import Observation


class FoundBlocks:
    """Invariant: `_filled[block]` is the number of the operation that wrote the last token of a full block, and what the
    event of its being cached would be.
    """

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._filled: dict[int, tuple[int, Event]] = {}
        self._known: set[int] = set()

    def missing(self, seen: Observation, events: Iterable[Event]) -> list[tuple[int, Event]]:
        """The cache events that an operation shows to be missing, each with the number of its operation."""
        missing = []
        for block in seen.table[: seen.found // self._block_size]:
            if block in self._filled and block not in self._known:
                missing.append(self._filled[block])
                self._known.add(block)
        self._note(seen)
        self._known |= {event.blocks[0] for event in events if event.kind == "cache"}
        return missing

    def _note(self, seen: Observation) -> None:
        request = seen.operation.request
        tokens = seen.lengths.get(request, 0)
        for place, block in enumerate(seen.written, len(seen.table) - len(seen.written)):
            self._known.discard(block)
            self._filled.pop(block, None)
            if (place + 1) * self._block_size <= tokens:
                self._filled[block] = seen.number, Event("cache", request, tokens=tokens, blocks=(block,))
