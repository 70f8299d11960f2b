"""What every schedule keeps to, checked after each step: which rule was broken, by whom, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from llmserving.paging.learners_code import LearnersBug
from llmserving.scheduling.policy_checks import limit_of
from llmserving.scheduling.sequence import Sequence

if TYPE_CHECKING:
    from llmserving.scheduling.engine import Engine


class BrokenRuleError(RuntimeError):
    """A scheduler broke a rule, or an allocator, whose rule is named "allocator". step: in which, from 1, or 0 before the
    first. event: the number of the last event before it was seen, from 1.
    """

    def __init__(self, name: str, sentence: str, step: int, event: int) -> None:
        where = f"Step {step}, after event {event}" if step else "Before step 1"
        super().__init__(f"{where}: {sentence}.")
        self.name, self.step, self.event = name, step, event


def check_step(engine: Engine) -> None:
    """BrokenRuleError for the first rule that the moves of this step have broken."""
    broken = _broken(engine)
    if broken:
        raise BrokenRuleError(*broken, engine.step, len(engine.events))


def _broken(engine: Engine) -> tuple[str, str] | None:
    step, policy = engine.moves, engine.policy
    if not step.tokens:
        return "idle", (
            f"nobody was given a token, so the engine would stand still; running: {_names(engine.running)}; "
            f"waiting: {_names(engine.waiting)}. {_why_idle(engine)}"
        )
    for sequence in engine.running:
        if step.has(sequence):
            continue
        if sequence.decodes:
            why = "; it needs a block and none is free, so the latest that came should have been sent back"
            return "starvation", (
                f"request {sequence.request.id} runs and decodes, and was given no token"
                f"{'' if engine.can_decode(sequence) else why}"
            )
        if sequence is engine.running[0]:
            return "starvation", (
                f"no token of request {sequence.request.id}'s prompt was computed, though it has run for longest"
            )
    try:
        limit, budget = limit_of(policy, "max_num_seqs"), limit_of(policy, "token_budget")
    except (LearnersBug, TypeError, ValueError) as error:  # a property, which may tell another limit in every step
        return "bug", str(error)
    if limit is not None and len(engine.running) > limit:
        return "max_num_seqs", f"{len(engine.running)} requests run, and max_num_seqs is {limit}"
    if budget is not None and step.tokens > budget:
        return "token_budget", f"the step computes {step.tokens} tokens, and token_budget is {budget}"
    return _out_of_order(engine)


def _why_idle(engine: Engine) -> str:
    """What is behind a step without a token: who could have had one, by which move."""
    begun = [sequence for sequence in engine.running if not sequence.decodes]
    if begun:
        return f"To be let in computes nothing: engine.prefill(sequence, tokens) is due for {_names(begun)}"
    if engine.running and not any(map(engine.can_decode, engine.running)):
        return (
            "Each that runs needs a block for its next token, none is free, and nobody was sent back: the latest that came "
            "should have been, by engine.preempt(engine.running[-1])"
        )
    if engine.running:
        return "engine.decode(sequence) is due for each that runs and decodes"
    back = " after all that ran were sent back" if engine.moves.preempted else ""
    return f"engine.admit() and engine.prefill(sequence, tokens) are due{back}: there is room for the first that waits"


def _out_of_order(engine: Engine) -> tuple[str, str] | None:
    step = engine.moves
    for sequence in step.admitted:
        passed = [other for other in engine.waiting if other.place < sequence.place]
        if passed and sequence in engine.running:
            return "first come, first served", (
                f"request {sequence.request.id} was admitted before request {passed[0].request.id}, "
                "which came earlier and still waits"
            )
    for sequence in step.preempted:
        later = [other for other in engine.running if other.place > sequence.place]
        if later and sequence not in engine.running:
            return "victim", (
                f"request {sequence.request.id} was sent back, and request {later[-1].request.id}, "
                "which came later, runs on"
            )
    stayed = [sequence for sequence in engine.running if sequence not in step.admitted]
    if step.preempted and not stayed:
        return "victim", (
            f"request {min(step.preempted, key=lambda one: one.place).request.id} was sent back, and it came first of all "
            "that ran: the first is never sent back, since it has room once the others are gone"
        )
    return None


def _names(sequences: Iterable[Sequence]) -> str:
    ids = [f"request {sequence.request.id}" for sequence in sequences]
    return (", ".join(ids[:4]) or "nobody") + (" and more" if len(ids) > 4 else "")
