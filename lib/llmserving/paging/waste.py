"""What becomes of a KV cache's memory, counted in tokens: used, or wasted in one of three ways, or free."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Waste:
    """All in tokens (slots for one token's keys and values).

    used: hold a token; a block with several owners counts once. tail: empty at the end of a partial last block.
    reserved: set aside for a request that may or may not grow into it. free: nobody's. external: of the free ones, those
    in gaps too short for the next reservation.
    """

    used: int
    tail: int
    reserved: int
    external: int
    free: int

    @property
    def held(self) -> int:
        """What requests hold, used or not."""
        return self.used + self.tail + self.reserved

    @property
    def share(self) -> float:
        """The wasted part of what requests hold, from 0 to 1; 0 where they hold nothing."""
        return (self.tail + self.reserved) / self.held if self.held else 0.0
