"""Placement: one question of each level, and from the answers the place to begin. Nothing is graded or recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from llmserving.exercises import reading
from llmserving.exercises.card import Card
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course import LEVELS, Level
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.faults import Data, fault_verdict
from llmserving.exercises.statement import fill, lettered_list
from llmserving.exercises.verdict import State

PLACEMENT = {
    "L1": ("SC1", "answer"),
    "L2": ("L2.1", "kv_gb"),
    "L3": ("SC3", "ratio"),
    "L4": ("TF9", "reason"),
    "L5": ("L5.1B", "lever"),
}
"""Level -> the exercise and the part of it that stand for the level."""

_DRAW = "#0"  # another() counts from 1, so the question of the placement never comes as practice


@dataclass(frozen=True)
class Item:
    """The question of one level; its variable is the placement's, so that the exercise's own is not spent."""

    level: Level
    exercise: Exercise
    part: Part


@dataclass(frozen=True)
class Outcome:
    item: Item
    state: State
    sentence: str

    @property
    def line(self) -> str:
        sign = {"right": "✓", "open": "–"}.get(self.state, "✗")
        return f"{sign} **{self.item.level.name}** {self.sentence}"


def items() -> list[Item]:
    chosen = []
    for level in LEVELS:
        exercise_id, part_name = PLACEMENT[level.name]
        part = EXERCISES[exercise_id].part_by_name[part_name]
        chosen.append(Item(level, EXERCISES[exercise_id], replace(part, variable=f"placement_{level.name}")))
    return chosen


def placement_markdown(learner: str = DEFAULT_LEARNER) -> str:
    """The questions as a learner reads them."""
    return "\n\n".join(block for item in items() for block in _blocks(item, f"{learner}{_DRAW}"))


def placement_stub() -> str:
    return "\n".join(f"{item.part.variable} = ..." for item in items())


def placement_card(key: Any, namespace: Mapping[str, Any], learner: str) -> Card:
    """Where to begin: at the first level whose question is not right; under it what each answer was."""
    outcomes = [_outcome(item, key, namespace, f"{learner}{_DRAW}") for item in items()]
    told = tuple(outcome.line for outcome in outcomes)
    begin = next((place for place, outcome in enumerate(outcomes) if outcome.state != "right"), None)
    if begin is None:
        return Card(f"All right: begin at {_entrance(LEVELS[-1])}; `status()` lists the rest", "right", told)
    level, first = LEVELS[begin], outcomes[begin]
    return Card(
        f"Begin at {_entrance(level)}{_first_read(begin)}",
        "plain",
        (_why(first, begin), *_known_above(level, outcomes[begin:]), *told),
    )


def _entrance(level: Level) -> str:
    return f"{level.name}, {level.notebooks[0].title}"


def _first_read(begin: int) -> str:
    """The notebook that leads up to a level: the last one with exercises of the level before."""
    if begin == 0:
        return ""
    before = LEVELS[begin - 1]
    return f"; read {before.name} · {[book.title for book in before.notebooks if book.exercises][-1]} first"


def _why(first: Outcome, begin: int) -> str:
    """Which answer made it begin there, and what the notebook to read first has to do with it."""
    standing = "is still open" if first.state == "open" else "is not right"
    why = f"Because `{first.item.part.variable}` {standing}, and every level before it is right."
    if begin == 0:
        return f"Because `{first.item.part.variable}` {standing}: it is the question of the first level."
    return f"{why} The notebook to read first ends {LEVELS[begin - 1].name}, and {first.item.level.name} builds on it."


def _known_above(level: Level, outcomes: list[Outcome]) -> tuple[str, ...]:
    """A kind word where a question above `level`, of which these are the outcomes from it on, was right."""
    above = [outcome.item.level.name for outcome in outcomes if outcome.state == "right"]
    if not above:
        return ()
    return (
        f"You already know something of {', '.join(above)}. All of it builds on {level.name}: begin there, and go fast.",
    )


def _blocks(item: Item, learner: str) -> list[str]:
    question = fill(item.exercise.statement, item.exercise, learner)
    blocks = [
        f"**{item.level.name}, {item.level.title.lower()}.** {question}",
        f"- `{item.part.variable}`: {fill(item.part.asks, item.exercise, learner)}",
    ]
    if item.part.options and item.part.letters is None:
        blocks += ["Choose from:", lettered_list(item.exercise.lettered_options(item.part, learner))]
    return blocks


def _outcome(item: Item, key: Any, namespace: Mapping[str, Any], learner: str) -> Outcome:
    data = _read(item.part, namespace)
    if data["kind"] == "fault":
        verdict = fault_verdict(item.part, data)
    else:
        collected = {"exercise": item.exercise.id, "version": item.exercise.version, "parts": {item.part.name: data}}
        graded = key.grade({item.exercise.id: collected}, learner=learner)
        verdict = graded[item.exercise.id].parts[item.part.name]
    if verdict.state == "right":
        return Outcome(item, "right", "right.")
    own_name = EXERCISES[item.exercise.id].part_by_name[item.part.name].variable
    sentence = verdict.message.replace(f"`{own_name}`", f"`{item.part.variable}`")
    if verdict.reread is not None:
        sentence += f" Reread '{verdict.reread}' in {item.exercise.notebook}."
    return Outcome(item, verdict.state, sentence)


def _read(part: Part, namespace: Mapping[str, Any]) -> Data:
    if part.variable not in namespace:
        return reading.missing(part.variable, namespace)
    return reading.read_part(part, namespace[part.variable])
