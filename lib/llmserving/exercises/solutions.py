"""solution: the worked solution of an exercise in the learner's own numbers, after an honest attempt."""

from __future__ import annotations

from typing import Any

from llmserving.exercises import learner
from llmserving.exercises.asking import Asked, Refused
from llmserving.exercises.card import Card, Shown
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course_call import course_call
from llmserving.exercises.opening import opened, require_attempt
from llmserving.exercises.worked import worked_card


@course_call('`solution("L2.1")`')
def solution(exercise_id: Any = None) -> Shown:
    """The steps, part by part. Opens when the exercise is solved, or after two checks of different answers."""
    asked = Asked(exercise_id, None)
    if asked.practice:
        raise Refused(f"practice has no solution of its own; the steps are those of solution({asked.ids[0]!r})")
    return Shown(*(_card(name, asked.learner) for name in asked.ids), *learner.warning_cards())


def _card(name: str, whose: str) -> Card:
    """The worked solution of one exercise, or the sentence that says why it is closed; others of its group may be open."""
    exercise = EXERCISES[name]
    try:
        require_attempt(exercise, learner.PROGRESS.record(name))
        return worked_card(exercise, opened(exercise, whose))
    except Refused as refusal:
        return Card(f"{name} · worked solution · closed", "plain", (f"{refusal}.",))
