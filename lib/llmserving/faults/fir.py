"""A scheduler that is broken on purpose, in one method."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Fir:
    """Continuous batching that promises no more than it has seats. One of its methods is broken.

    A seat is a promise of four tokens. Whoever runs has seats for its prompt and its whole answer, two at least. There are
    more seats than the pool has blocks, since most answers end early; where they do not, somebody is sent back.
    """

    num_seats, seat_tokens = 10, 4
    max_num_seqs = num_seats // 2

    def __init__(self) -> None:
        self.free_seats = list(range(self.num_seats))
        self.seats_of: dict[Hashable, list[int]] = {}

    def schedule(self, engine: Any) -> None:
        """A token for each that runs, the first come first; then whom there are seats and blocks for."""
        self.take_back(engine)
        for sequence in list(engine.running):
            while sequence in engine.running and not engine.can_decode(sequence):
                self.send_back(engine, engine.running[-1])
            if sequence in engine.running:
                engine.decode(sequence)
        while engine.can_admit() and self.seats_for(engine.waiting[0]) <= len(self.free_seats):
            self.let_in(engine)

    def take_back(self, engine: Any) -> None:
        """The seats of those that have finished are free."""
        runs = {sequence.request.id for sequence in engine.running}
        for request in [request for request in self.seats_of if request not in runs]:
            self.free_seats += self.seats_of.pop(request)

    def let_in(self, engine: Any) -> None:
        """The first that waits gets seats, and its prompt is computed in this step."""
        sequence = engine.admit()
        needed = self.seats_for(sequence)
        assert needed * self.seat_tokens >= int(sequence.request.tokens), f"{needed} seats do not hold its tokens"
        seats, self.free_seats = self.free_seats[:needed], self.free_seats[needed:]
        held = {seat for others in self.seats_of.values() for seat in others}
        assert len(set(seats) - held) == needed, f"of the seats {seats} one was promised already"
        self.seats_of[sequence.request.id] = seats
        engine.prefill(sequence, sequence.left)

    def send_back(self, engine: Any, sequence: Any) -> None:
        """For want of blocks a request waits again, and no longer has seats."""
        engine.preempt(sequence)
        del self.seats_of[sequence.request.id]

    def seats_for(self, sequence: Any) -> int:
        """How many seats a request needs, for its prompt and its answer."""
        return max(2, -(-int(sequence.request.tokens) // self.seat_tokens))
