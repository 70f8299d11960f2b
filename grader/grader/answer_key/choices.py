"""Grading one letter: the right option of the variant that was drawn, the one that earlier answers lead to, or its trap."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Option, Part
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.key import Answers, ChoiceKey

FOLLOWED = (
    "Chosen rightly by your own earlier answers, so it earns its points. One of those is off: mend it first, then this."
)


def grade_choice(part: Part, key: ChoiceKey, chosen: Option, numbers: Numbers, own: Answers) -> PartVerdict:
    drawn = key.on(numbers)
    if chosen.name == drawn.right:
        return PartVerdict(part.points, part.points, "right", "Right.")
    if drawn.carried_on is not None and chosen.name == drawn.carried_on(numbers, own):
        return PartVerdict(part.points, part.points, "followed_through", FOLLOWED)
    trap = drawn.traps[chosen.name]
    sentence = trap.sentence if trap.on_draw is None else f"{trap.sentence} {trap.on_draw(numbers)}"
    return PartVerdict(0.0, part.points, "wrong", sentence, (trap.name,), trap.reread)
