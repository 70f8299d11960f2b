"""The ways in which a question can be asked, each with somebody who is asked it that way."""

from __future__ import annotations

from llmserving.exercises import Exercise
from llmserving.exercises.draws import Numbers


def ways_to_ask(exercise: Exercise) -> list[tuple[str, Numbers]]:
    """Learner -> numbers: the course's own, then the practice draws up to the one that comes round to it again."""
    learners = ["default", *(f"default#{number}" for number in range(1, len(exercise.draw.variants) + 1))]
    return [(learner, exercise.numbers(learner)) for learner in learners]
