"""Practice: the card of a draw, with its own numbers and the call that checks it, and which draws were shown."""

from __future__ import annotations

import re

from llmserving.exercises.asking import Asked, Refused
from llmserving.exercises.card import Card
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.progress import Progress
from llmserving.exercises.statement import fill, question_blocks

NO_PRACTICE = "code is tried on many inputs as it is, and a recording is made once"


def how_often_it_differs(exercise: Exercise) -> str:
    """For a question whose words are all there is to vary: in how many ways it is asked, so that nobody waits for more."""
    ways = exercise.draw.ways
    if ways is None:
        return ""
    again = "It has no other wording" if ways == 1 else f"There are {ways} wordings, which take turns"
    shuffled = any(part.options and part.letters is None for part in exercise.parts)
    return f"{again}{'; only the letters are shuffled anew.' if shuffled else '.'}"


def require_shown(asked: Asked, progress: Progress) -> None:
    """Refused for a practice draw that no card has shown: nobody can have read its question.

    Where nothing is kept, nobody knows what a kernel before this one has shown: any draw may have been.
    """
    if asked.draw is None:
        return
    for name in asked.ids:
        if not EXERCISES[name].has_practice:
            raise Refused(f"{name} has no practice: {NO_PRACTICE}")
        shown = progress.record(name).practice
        most = shown if progress.is_kept else int(asked.draw)
        if asked.draw == str(int(asked.draw)) and 1 <= int(asked.draw) <= most:
            continue
        were = (
            f"{name}#1 to {name}#{shown} were"
            if shown > 1
            else f"only {name}#1 was"
            if shown
            else f"none of {name} was yet"
        )
        raise Refused(f'{name}#{asked.draw} was never shown; {were}. `another("{name}")` makes one')


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
