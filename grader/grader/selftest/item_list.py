"""The course item by item: where each stands, what it is worth, and what its wrong solutions earned over the draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llmserving.exercises import Exercise
from llmserving.exercises.collect import data_of_answer
from llmserving.exercises.course import LEVELS, Level
from llmserving.units import format_number

from grader.answer_key.grading import grade
from grader.answer_key.inputs import inputs
from grader.answer_key.solutions import WrongInput, reference_inputs, wrong_inputs
from grader.report import aligned
from grader.selftest.as_run import as_answers

HEAD = ("item", "notebook", "points", "kinds", "mistakes named", "wrong solutions tried", "told")


@dataclass(frozen=True)
class Item:
    """One row. mistakes: the names of those that were tried. failures: wrong solutions that earned all, or were told
    something else than their own sentence.
    """

    id: str
    notebook: str
    points: float
    kinds: tuple[str, ...]
    mistakes: tuple[str, ...]
    tried: int
    failures: tuple[str, ...]


def list_items(levels: Iterable[str], learners: Iterable[str]) -> list[Item]:
    """Every exercise of the levels in the course's order, with all its wrong solutions on the numbers of each learner."""
    learners = list(learners)
    return [_item(exercise, learners) for level in _named(levels) for exercise in level.exercises]


def list_labs(levels: Iterable[str], learners: Iterable[str]) -> list[Item]:
    """The same of the labs, which stand beside the levels."""
    learners = list(learners)
    return [_item(exercise, learners) for level in _named(levels) for exercise in level.lab_exercises]


def _named(names: Iterable[str]) -> list[Level]:
    names = list(names)
    return [level for level in LEVELS if level.name in names]


def item_table(found: Iterable[Item]) -> list[str]:
    """Lines: a head, a row for each item, a row with the sums, and the failures."""
    found = list(found)
    rows = [_row(item) for item in found]
    tried, failures = sum(item.tried for item in found), [failure for item in found for failure in item.failures]
    points, mistakes = sum(item.points for item in found), sum(len(item.mistakes) for item in found)
    sums = (f"{len(found)} items", "", format_number(points), "", f"{mistakes}", f"{tried}", f"{tried - len(failures)}")
    return [*aligned([HEAD, *rows, sums]), *failures]


def _row(item: Item) -> tuple[str, ...]:
    told = item.tried - len(item.failures)
    counts = (str(len(item.mistakes)), str(item.tried), str(told))
    return (item.id, item.notebook, format_number(item.points), ", ".join(item.kinds), *counts)


def _item(exercise: Exercise, learners: list[str]) -> Item:
    wrong = [(learner, one) for learner in learners for one in wrong_inputs(exercise, learner)]
    return Item(
        exercise.id,
        exercise.notebook,
        exercise.points,
        tuple(dict.fromkeys(part.kind for part in exercise.parts)),
        tuple(dict.fromkeys(f"{one.part}.{one.name}" for _, one in wrong)),
        len(wrong),
        tuple(failure for learner, one in wrong for failure in _failures(exercise, one, learner)),
    )


def _failures(exercise: Exercise, wrong: WrongInput, learner: str) -> Iterator[str]:
    answers = as_answers(exercise, {**reference_inputs(exercise, learner), wrong.part: wrong.written})
    data = data_of_answer(exercise.id, answers, inputs(exercise.id, learner))
    verdict = grade({exercise.id: data}, learner)[exercise.id]
    part = verdict.parts[wrong.part]
    where = f"{exercise.id}.{wrong.part} = {wrong.written!r} for {learner} is {wrong.name}"
    if verdict.score >= verdict.points:
        yield f"{where}, but earned every point"
    elif wrong.name not in part.diagnoses or wrong.sentence not in part.message:
        yield f"{where}, but was told: {part.message}"
