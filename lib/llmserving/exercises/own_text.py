"""own_words: what a text in the learner's own words must hold, for the learner to tick against that text."""

from __future__ import annotations

from typing import Any

from llmserving.exercises import learner
from llmserving.exercises.asking import Asked, Refused
from llmserving.exercises.card import Card, Shown
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course_call import course_call
from llmserving.exercises.opening import opened, require_attempt

_ASK = "An answer must hold these reasons. Tick those that your own text gives."
_AFTER = "What is left without a tick is worth a sentence more."


@course_call('`own_words("WH1")`')
def own_words(exercise_id: Any = None) -> Any:
    """A checklist of reasons, after an honest attempt at the argument. What is ticked is kept in the learner's records."""
    asked = Asked(exercise_id, None)
    if asked.practice:
        raise Refused(f"the reasons do not change with practice; they are those of own_words({asked.ids[0]!r})")
    open_now: dict[str, tuple[str, ...]] = {}
    closed: list[Card] = []
    for name in asked.ids:
        if not any(part.kind == "chain" for part in EXERCISES[name].parts):
            continue
        try:
            require_attempt(EXERCISES[name], learner.PROGRESS.record(name))
            if reasons := opened(EXERCISES[name], asked.learner).reasons:
                open_now[name] = reasons
        except Refused as refusal:
            closed.append(Card(f"{name} · in your own words · closed", "plain", (f"{refusal}.",)))
    if not open_now and not closed:
        raise Refused(f"{asked.name} asks for no reason in your own words.")
    return _with_boxes(open_now, closed) or Shown(*(checklist_card(*one) for one in open_now.items()), *closed)


def checklist_card(name: str, reasons: tuple[str, ...]) -> Card:
    """The same list standing still, with what was ticked before."""
    ticked = learner.PROGRESS.record(name).ticked
    boxes = [f"[{'x' if number in ticked else ' '}] {reason}" for number, reason in enumerate(reasons)]
    return Card(f"{name} · in your own words", "plain", (_ASK, *boxes, _AFTER))


def _with_boxes(open_now: dict[str, tuple[str, ...]], closed: list[Card]) -> Any | None:
    """The checklists with boxes to tick; None where there are none, or ipywidgets is not installed."""
    try:
        from llmserving.exercises.checklist import Checklists
    except ImportError:
        return None
    if not open_now:
        return None
    progress = learner.PROGRESS
    ticked = {name: progress.record(name).ticked for name in open_now}
    return Checklists(
        open_now, ticked, lambda name: checklist_card(name, open_now[name]), progress.note_ticked, tuple(closed)
    )
