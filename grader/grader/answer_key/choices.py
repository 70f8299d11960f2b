"""Grading one letter: the right option, or the trap that the chosen one is."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Option, Part
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.key import ChoiceKey


def grade_choice(part: Part, key: ChoiceKey, chosen: Option, numbers: Numbers) -> PartVerdict:
    if chosen.name == key.right:
        return PartVerdict(part.points, part.points, "right", "Right.")
    trap = key.traps[chosen.name]
    sentence = trap.sentence if trap.on_draw is None else f"{trap.sentence} {trap.on_draw(numbers)}"
    return PartVerdict(0.0, part.points, "wrong", sentence, (trap.name,), trap.reread)
