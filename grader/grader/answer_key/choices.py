"""Grading one letter: the right option, the one that earlier answers lead to, or the trap that the chosen one is."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Option, Part
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.key import Answers, ChoiceKey

FOLLOWED = (
    "Chosen rightly by your own earlier answers, so it earns its points. One of those is off: mend it first, then this."
)


def grade_choice(part: Part, key: ChoiceKey, chosen: Option, numbers: Numbers, own: Answers) -> PartVerdict:
    if chosen.name == key.right:
        return PartVerdict(part.points, part.points, "right", "Right.")
    if key.carried_on is not None and chosen.name == key.carried_on(numbers, own):
        return PartVerdict(part.points, part.points, "followed_through", FOLLOWED)
    trap = key.traps[chosen.name]
    sentence = trap.sentence if trap.on_draw is None else f"{trap.sentence} {trap.on_draw(numbers)}"
    return PartVerdict(0.0, part.points, "wrong", sentence, (trap.name,), trap.reread)
