"""Where an exercise stands with a learner: right first time, right later, full points carried on, or open."""

from __future__ import annotations

from collections.abc import Mapping

from llmserving.exercises.attempts import FIRST_TIME, Record
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.exercise import Exercise

LATER, CARRIED_ON, OPEN = "after hints or more tries", "full points carried on", "open"
STANDINGS = (FIRST_TIME, LATER, CARRIED_ON, OPEN)


def standing(exercise: Exercise, records: Mapping[str, Record]) -> str:
    record = records.get(exercise.id, Record())
    if record.solved is not None:
        return FIRST_TIME if record.solved == FIRST_TIME else LATER
    return CARRIED_ON if record.best >= exercise.points else OPEN


def closed_ids(records: Mapping[str, Record]) -> set[str]:
    """The exercises that are no longer open; nothing opens one again."""
    return {name for name, exercise in EXERCISES.items() if standing(exercise, records) != OPEN}
