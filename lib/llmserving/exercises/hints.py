"""Hints: one at a time, in order, for the part that is off; how many were shown is in the learner's progress."""

from __future__ import annotations

from llmserving.exercises.exercise import Exercise
from llmserving.exercises.progress import Progress
from llmserving.exercises.statement import fill


def next_hint(progress: Progress, exercise: Exercise, part_name: str, learner: str) -> str:
    """The next hint for a part, with the learner's numbers, and counted as shown; after the last, the last again."""
    part = exercise.part_by_name[part_name]
    if not _left(progress, exercise, part_name):
        last = fill(part.hints[-1], exercise, learner)
        return f"There is no further hint for `{part.variable}`; the last one was: {last}"
    index = progress.note_hint(exercise.id, part_name)
    return f"Hint {index + 1} of {len(part.hints)} for `{part.variable}`: {fill(part.hints[index], exercise, learner)}"


def part_in_need(progress: Progress, exercise: Exercise) -> str:
    """The first part that was off in the last check and has a hint left; before any check, the first part."""
    off = [name for name in progress.record(exercise.id).parts_off if name in exercise.part_by_name]
    off = off or [part.name for part in exercise.parts]
    return next((name for name in off if _left(progress, exercise, name)), off[0])


def _left(progress: Progress, exercise: Exercise, part_name: str) -> bool:
    return progress.record(exercise.id).hints.get(part_name, 0) < len(exercise.part_by_name[part_name].hints)
