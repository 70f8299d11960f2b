"""Recall: short questions of earlier levels come back with fresh numbers, first those that were not sure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from llmserving.exercises.asking import Asked, Refused
from llmserving.exercises.attempts import FIRST_TIME, Record
from llmserving.exercises.card import Card
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course import LEVELS, Level
from llmserving.exercises.draws import seeded
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.markup import as_typed
from llmserving.exercises.practice import NO_PRACTICE, practice_card
from llmserving.exercises.progress import Progress
from llmserving.exercises.verdict import Verdict

SHORT_MINUTES = 3

SKIP_ON = "If you get it right at once, move on."
NONE_YET = "There is nothing to recall before the end of the next one."


def recall_cards(progress: Progress, names: tuple[Any, ...], learner: str) -> list[Card]:
    """A card for each exercise named, and for a level one of each level before it; without names, for the level reached."""
    records = progress.records()
    cards: dict[str, Card] = {}
    for name in names or (level_reached(records).name,):
        level = _level_named(name)
        if level is LEVELS[0]:
            cards[level.name] = Card(f"{level.name} has no earlier level yet", "plain", (NONE_YET,))
            continue
        exercises = _exercises_named(name) if level is None else _one_of_each(levels_before(level), records, learner)
        for exercise in exercises:
            draw = progress.note_recall(exercise.id)
            cards[exercise.id] = practice_card(exercise, learner, draw, f"recall from {exercise.level}", SKIP_ON)
    return list(cards.values())


def level_reached(records: Mapping[str, Record]) -> Level:
    """The furthest level in which something was tried, or the first."""
    tried = [level for level in LEVELS if any(_of(exercise, records).attempts for exercise in level.exercises)]
    return tried[-1] if tried else LEVELS[0]


def levels_before(level: Level) -> tuple[Level, ...]:
    return LEVELS[: LEVELS.index(level)]


def choose(level: Level, records: Mapping[str, Record], learner: str) -> Exercise | None:
    """What waits for an answer; else what was not sure, then what was, each longest ago first; then what is new."""
    candidates = _short(level)
    seeded("recall", level.name, learner).shuffle(candidates)
    return min(candidates, key=lambda exercise: _order(_of(exercise, records)), default=None)


def after_recall(exercise: Exercise, verdict: Verdict) -> str | None:
    """What the card of an answered recall says besides the verdict; None where there is none."""
    if any(part.state == "recorded" for part in verdict.parts.values()):
        return None
    if verdict.all_right:
        return "Right at once: move on."
    if any(part.reread for part in verdict.parts.values()):
        return f"A recall, and not yet: that heading stands in {exercise.notebook}. Read it again, then go on."
    return f"A recall, and not yet: look into {exercise.notebook} again, then go on."


def end_of_level(closed_before: set[str], closed_now: set[str]) -> str | None:
    """What to say where the last open exercise of a level was just closed; that happens once."""
    for level in LEVELS:
        ids = {exercise.id for exercise in level.exercises}
        if ids <= closed_now and not ids <= closed_before:
            told = f"That was the last open exercise of {level.name}."
            if levels_before(level):
                return f'{told} `recall("{level.name}")` asks one question of each level before it.'
            return f"{told} {LEVELS[1].name} begins in {LEVELS[1].notebooks[0].path}."
    return None


def _level_named(name: Any) -> Level | None:
    """The level of that name; None for what is no name of a level; Refused for the name of one that there is not."""
    if not isinstance(name, str) or not re.fullmatch(r"[Ll]\d+", name.strip()):
        return None
    levels = {level.name: level for level in LEVELS}
    meant = name.strip().upper()
    if meant not in levels:
        raise Refused(f"there is no level {as_typed(repr(name))}; there is {', '.join(levels)}")
    return levels[meant]


def _exercises_named(name: Any) -> list[Exercise]:
    asked = Asked(name, None)
    if asked.practice:
        raise Refused(f"ask for recall({asked.name!r}), without the # and its number")
    exercises = [EXERCISES[exercise_id] for exercise_id in asked.ids]
    if not all(exercise.has_practice for exercise in exercises):
        raise Refused(f"{asked.name} is not asked again: {NO_PRACTICE}")
    return exercises


def _one_of_each(levels: tuple[Level, ...], records: Mapping[str, Record], learner: str) -> list[Exercise]:
    return [exercise for level in levels if (exercise := choose(level, records, learner)) is not None]


def _short(level: Level) -> list[Exercise]:
    """The short exercises of a level, since a recall takes a minute or two; all of them where none is short.

    One that goes on from another is no recall: its question would need that one's numbers first.
    """
    exercises = [exercise for exercise in level.exercises if not exercise.builds_on]
    return [exercise for exercise in exercises if exercise.minutes <= SHORT_MINUTES] or exercises


def _order(record: Record) -> tuple[int, int]:
    if record.recall_draw:
        return 0, 0
    # Every first answer counts, that in the notebook too: unsure until more of them were right than not.
    right = record.recalled_right + (record.solved == FIRST_TIME)
    missed = record.recalled - record.recalled_right + (record.solved != FIRST_TIME)
    tried = record.attempts or record.recalled
    return (3 if not tried else 1 if missed >= right else 2), record.turn


def _of(exercise: Exercise, records: Mapping[str, Record]) -> Record:
    return records.get(exercise.id, Record())
