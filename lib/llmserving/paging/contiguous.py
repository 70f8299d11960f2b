"""What serving did before paging: each request reserves one contiguous stretch for the longest it may become.

The same methods as `PagedAllocator` without sharing, so that the two can be run beside each other. Memory is counted in
slots, one token's keys and values each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from llmserving import arguments
from llmserving.paging.errors import NoFreeBlocksError
from llmserving.paging.tables import Tables, checked_tokens
from llmserving.paging.waste import Waste


class Reservation(NamedTuple):
    """Slots `start` to `start + size - 1`, of which the first `num_tokens` hold a token."""

    start: int
    size: int
    num_tokens: int

    @property
    def end(self) -> int:
        return self.start + self.size


class ContiguousAllocator:
    """Stretches of `max_len` slots, or of another length asked for, in `num_slots` slots, first fit."""

    def __init__(self, num_slots: Any, max_len: Any) -> None:
        self.num_slots = arguments.count("num_slots", "the number of tokens that the memory holds", num_slots)
        self.max_len = arguments.count("max_len", "the most tokens that a request can have", max_len)
        self._reservations: Tables[Reservation] = Tables()

    @property
    def free_slots(self) -> int:
        """Slots that no request has reserved."""
        return self.num_slots - sum(reservation.size for reservation in self._reservations.values())

    @property
    def requests(self) -> tuple[Hashable, ...]:
        """The requests that have a reservation, in the order in which they got it."""
        return tuple(self._reservations)

    def reservation(self, request_id: Hashable) -> Reservation:
        """Where a request's tokens are."""
        return self._reservations[request_id]

    def num_tokens(self, request_id: Hashable) -> int:
        """The tokens that a request has in the cache."""
        return self._reservations[request_id].num_tokens

    def can_allocate(self, token_ids: Sequence[int], reserve: Any = None) -> bool:
        """Whether some gap is long enough for a new request."""
        return self._gap(self._size(token_ids, reserve)) is not None

    def allocate(self, request_id: Hashable, token_ids: Sequence[int], reserve: Any = None) -> None:
        """Reserve `reserve` slots, by default `max_len`; NoFreeBlocksError where no gap is that long."""
        self._reservations.check_new(request_id)
        size = self._size(token_ids, reserve)
        start = self._gap(size)
        if start is None:
            raise NoFreeBlocksError(
                f"request {request_id!r} needs {size:,} slots in one piece; {self.free_slots:,} are free, "
                f"{max((end - begin for begin, end in self._gaps()), default=0):,} at most in one piece"
            )
        self._reservations[request_id] = Reservation(start, size, len(token_ids))

    def can_append(self, request_id: Hashable) -> bool:
        """Whether the request has a reserved slot left."""
        reservation = self._reservations[request_id]
        return reservation.num_tokens < reservation.size

    def append(self, request_id: Hashable, token: int) -> int:
        """The slot of the request's next token; NoFreeBlocksError at the end of its reservation."""
        reservation = self._reservations[request_id]
        if not self.can_append(request_id):
            raise NoFreeBlocksError(f"request {request_id!r} has used all {reservation.size:,} slots reserved for it")
        self._reservations[request_id] = reservation._replace(num_tokens=reservation.num_tokens + 1)
        return reservation.start + reservation.num_tokens

    def free(self, request_id: Hashable) -> None:
        """Give the whole reservation back."""
        self._reservations.release(request_id)

    def waste(self) -> Waste:
        """What becomes of the memory at this moment; external is what lies in gaps shorter than `max_len`."""
        used = sum(reservation.num_tokens for reservation in self._reservations.values())
        external = sum(end - start for start, end in self._gaps() if end - start < self.max_len)
        return Waste(used, 0, self.num_slots - self.free_slots - used, external, self.free_slots)

    def _size(self, token_ids: Sequence[int], reserve: Any) -> int:
        tokens = checked_tokens(token_ids)
        size = self.max_len if reserve is None else arguments.count("reserve", "the slots to reserve", reserve)
        if tokens > size:
            raise ValueError(
                f"token_ids has {tokens:,} tokens, more than the {size:,} slots that are reserved for a request"
            )
        return size

    def _gaps(self) -> list[tuple[int, int]]:
        """The free stretches as (start, end), from left to right."""
        taken = sorted(self._reservations.values())
        starts = [0, *(reservation.end for reservation in taken)]
        ends = [*(reservation.start for reservation in taken), self.num_slots]
        return [(start, end) for start, end in zip(starts, ends, strict=True) if end > start]

    def _gap(self, size: int) -> int | None:
        """Where the first gap of at least `size` slots starts."""
        return next((start for start, end in self._gaps() if end - start >= size), None)
