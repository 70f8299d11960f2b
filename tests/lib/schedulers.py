"""Schedulers as learners write them: right ones, each written in another way, and wrong ones, each breaking one rule."""

from __future__ import annotations

from typing import Any

from llmserving.scheduling import ContinuousBatching


class Plain:
    """Continuous batching in the fewest lines."""

    def schedule(self, engine: Any) -> None:
        for sequence in list(engine.running):
            while sequence in engine.running and not engine.can_decode(sequence):
                engine.preempt(engine.running[-1])
            if sequence in engine.running:
                engine.decode(sequence)
        while engine.waiting and engine.can_admit():
            sequence = engine.admit()
            engine.prefill(sequence, sequence.left)


class OneAtATime:
    """Nobody is let in before the one that runs is done; its prompt comes a token a step."""

    def schedule(self, engine: Any) -> None:
        if not engine.running:
            engine.admit(engine.waiting[0])
        (sequence,) = engine.running
        if sequence.left > 0:
            engine.prefill(sequence, 1)
        else:
            engine.decode(sequence)


class NobodyRuns:
    def schedule(self, engine: Any) -> None:
        pass


class ServesTheFirst(Plain):
    def schedule(self, engine: Any) -> None:
        for sequence in engine.running[:1]:
            engine.decode(sequence)
        while engine.can_admit():
            sequence = engine.admit()
            engine.prefill(sequence, sequence.left)


class ForgetsItsLimit(Plain):
    max_num_seqs = 1


class ForgetsItsBudget(Plain):
    token_budget = 3


class LastComeFirst(Plain):
    def schedule(self, engine: Any) -> None:
        sequence = engine.admit(engine.waiting[-1])
        engine.prefill(sequence, sequence.left)


class SendsTheFirstBack(Plain):
    def schedule(self, engine: Any) -> None:
        if not engine.running:
            super().schedule(engine)
        elif not engine.can_decode(engine.running[0]):
            engine.preempt(engine.running[0])
        for sequence in engine.running:
            if not engine.moves.has(sequence):
                engine.decode(sequence)


class SendsBackWhoWaits(Plain):
    def schedule(self, engine: Any) -> None:
        engine.preempt(engine.waiting[0])


class DecodesTwice(Plain):
    def schedule(self, engine: Any) -> None:
        super().schedule(engine)
        for sequence in engine.running:
            if sequence.produced:
                engine.decode(sequence)


class TooLongAChunk(Plain):
    def schedule(self, engine: Any) -> None:
        engine.prefill(engine.admit(), 5)


class DecodesTooEarly(Plain):
    def schedule(self, engine: Any) -> None:
        engine.decode(engine.admit())


class NeverAsks(Plain):
    def schedule(self, engine: Any) -> None:
        for sequence in engine.running:
            engine.decode(sequence)
        while engine.waiting:
            sequence = engine.admit()
            engine.prefill(sequence, sequence.left)


class MovesThemByHand(Plain):
    def schedule(self, engine: Any) -> None:
        sequence = engine.waiting.popleft()
        engine.running.append(sequence)
        engine.prefill(sequence, 4)


class DropsThemByHand(Plain):
    def schedule(self, engine: Any) -> None:
        super().schedule(engine)
        if engine.step > 1:
            engine.running.pop()


class ForgetsWhoWaits(Plain):
    def schedule(self, engine: Any) -> None:
        engine.waiting.pop()
        super().schedule(engine)


class StartsOver(Plain):
    def schedule(self, engine: Any) -> None:
        if not engine.running:
            engine.admit()
        for sequence in engine.running:
            sequence._start_over()
            engine.prefill(sequence, 1)


class WaitsForRoom(Plain):
    def schedule(self, engine: Any) -> None:
        while engine.waiting:
            if engine.can_admit():
                sequence = engine.admit()
                engine.prefill(sequence, sequence.left)


class HasABug(Plain):
    def schedule(self, engine: Any) -> None:
        super().schedule(engine)
        if engine.step == 2:
            engine.running[7].decodes += 1


class Unwritten:
    def schedule(self, engine: Any) -> None:
        raise NotImplementedError("exercise L4.9")


class Subclassed(ContinuousBatching):
    """The course's own, let in one at a step."""

    def schedule(self, engine: Any) -> None:
        for sequence in list(engine.running):
            while sequence in engine.running and not engine.can_decode(sequence):
                engine.preempt(engine.running[-1])
            if sequence in engine.running:
                engine.decode(sequence)
        if engine.can_admit(0.0):
            sequence = engine.admit()
            engine.prefill(sequence, sequence.left)
