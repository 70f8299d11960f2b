"""Who holds which block, kept up as tables change, so that no check has to search all tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Holders:
    """Invariant: a block has an entry exactly while some table holds it, with the requests whose tables these are."""

    def __init__(self) -> None:
        self._requests: dict[int, dict[Hashable, None]] = {}

    def __len__(self) -> int:
        """How many blocks are held."""
        return len(self._requests)

    def of(self, block: int) -> list[Hashable]:
        """The requests whose tables hold this block."""
        return list(self._requests.get(block, ()))

    def others(self, block: int, request: Hashable) -> list[Hashable]:
        """The same without one."""
        return [name for name in self._requests.get(block, ()) if name != request]

    def hold_any(self, blocks: Iterable[int]) -> bool:
        """Whether one of these blocks is held."""
        return not self._requests.keys().isdisjoint(blocks)

    def move(self, request: Hashable, old: Iterable[int], new: Iterable[int]) -> None:
        """The table of `request` was `old` and is `new` now."""
        was, now = set(old), set(new)
        for block in was - now:
            requests = self._requests[block]
            del requests[request]
            if not requests:
                del self._requests[block]
        for block in now - was:
            self._requests.setdefault(block, {})[request] = None
