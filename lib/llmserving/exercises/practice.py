"""The card of a practice draw: the question with its own numbers, and the call that checks the answer."""

from __future__ import annotations

import re

from llmserving.exercises.card import Card
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.statement import fill, question_blocks

NO_PRACTICE = "code is tried on many inputs as it is, and a recording is made once"


def _goes_on_from(exercise: Exercise, learner: str) -> list[str]:
    """What the exercises say that it builds on: a question by itself has to stand without them."""
    earlier = [EXERCISES[name] for name in exercise.builds_on]
    return [f"What {one.id} says: {fill(one.statement, one, learner)}" for one in earlier]


def practice_card(exercise: Exercise, learner: str, draw: int, what: str, note: str = "") -> Card:
    """what: the word behind the id in the heading. note: what stands behind the call."""
    name = f"{exercise.id}#{draw}"
    blocks = [*_goes_on_from(exercise, f"{learner}#{draw}"), *question_blocks(exercise, f"{learner}#{draw}")]
    question = [re.sub(r"^- ", "", block, flags=re.MULTILINE) for block in blocks]
    answers = ", ".join("..." for _ in exercise.parts)
    return Card(f"{name} · {what}", "plain", (*question, f'Answer with `check("{name}", {answers})`. {note}'.strip()))
