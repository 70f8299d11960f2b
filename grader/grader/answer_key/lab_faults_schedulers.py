"""The scheduler of the fault lab, mended in two ways, and mended wrongly. None uses anything from around it but its base."""

from __future__ import annotations

from typing import Any

from llmserving.faults import Fir


class FirGivesBack(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        engine.preempt(sequence)
        self.free_seats += self.seats_of.pop(sequence.request.id)


class FirGivesBackOtherwise(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        for seat in self.seats_of[sequence.request.id]:
            self.free_seats.insert(0, seat)
        del self.seats_of[sequence.request.id]
        engine.preempt(sequence)


class FirLeaks(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        self.seats_of.pop(sequence.request.id)
        engine.preempt(sequence)


class FirTwiceBack(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        engine.preempt(sequence)
        self.free_seats += self.seats_of[sequence.request.id]


class FirAllFree(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        engine.preempt(sequence)
        del self.seats_of[sequence.request.id]
        self.free_seats = list(range(self.num_seats))


class FirFirstSentBack(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        first = engine.running[0]
        engine.preempt(first)
        self.free_seats += self.seats_of.pop(first.request.id)


class FirSeatsIgnored(Fir):
    def let_in(self, engine: Any) -> None:
        sequence = engine.admit()
        self.seats_of[sequence.request.id] = []
        engine.prefill(sequence, sequence.left)


class FirTwoSeats(Fir):
    def seats_for(self, sequence: Any) -> int:
        return 2
