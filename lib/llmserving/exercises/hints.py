"""Hints: one at a time, in order, for the part that is off, and of code for the group of probes that is.

How many were shown is in the learner's progress.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.exercises.attempts import Record
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.progress import Progress
from llmserving.exercises.statement import fill


@dataclass(frozen=True)
class _Row:
    """Hints that follow one another. name: what progress counts them by. title: what they are for, as the learner reads it."""

    name: str
    title: str
    hints: tuple[str, ...]

    def left(self, record: Record) -> bool:
        return record.hints.get(self.name, 0) < len(self.hints)


def next_hint(progress: Progress, exercise: Exercise, part_name: str, learner: str) -> str:
    """The next hint for a part, with the learner's numbers, and counted as shown; after the last, the last again.

    The first group that was off and has a hint left comes first.
    """
    rows, record = _rows(progress, exercise, part_name), progress.record(exercise.id)
    row = next((row for row in rows if row.left(record)), None)
    if row is None:
        last = fill(rows[0].hints[-1], exercise, learner)
        return f"There is no further hint for {rows[0].title}; the last one was: {last}"
    index = progress.note_hint(exercise.id, row.name)
    return f"Hint {index + 1} of {len(row.hints)} for {row.title}: {fill(row.hints[index], exercise, learner)}"


def part_in_need(progress: Progress, exercise: Exercise) -> str:
    """The first part that was off in the last check and has a hint left; before any check, the first part."""
    record = progress.record(exercise.id)
    off = [name for name in record.parts_off if name in exercise.part_by_name]
    off = off or [part.name for part in exercise.parts]
    in_need = (name for name in off if any(row.left(record) for row in _rows(progress, exercise, name)))
    return next(in_need, off[0])


def _rows(progress: Progress, exercise: Exercise, part_name: str) -> list[_Row]:
    """The rows of hints for what was off, in the order of the groups; where no group of its own was, the part's hints."""
    part = exercise.part_by_name[part_name]
    # Parts with the same hints share one row, so that the same sentences are not shown for each of them in turn.
    first = next(other for other in exercise.parts if other.hints == part.hints)
    off = progress.record(exercise.id).groups_off.get(part_name, [])
    whole = _Row(first.name, f"`{part.variable}`", part.hints)
    rows = [
        _Row(f"{part_name}, {group}", f"`{part.variable}`, {group}", part.group_hints[group])
        if group in part.group_hints
        else whole
        for group in off
    ]
    return list(dict.fromkeys(rows)) or [whole]
