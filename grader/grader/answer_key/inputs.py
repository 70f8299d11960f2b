"""What a learner's code is tried on: the probes that all may see, and hidden ones drawn for a learner and a class.

A `class_secret` is for grading in which a trusted process calls `inputs` and `grade`, and the learner's code runs in another
and is handed the inputs alone. `python -m grader grade` checks in the learner's own kernel: whatever that is given, the
learner's code can read, and print into its feedback. So no secret is passed there, and a class has the draws of self-study.
"""

from __future__ import annotations

from typing import Any

from llmserving.exercises.calls import MOST_CALLS
from llmserving.exercises.draws import DEFAULT_LEARNER, seeded
from llmserving.exercises.exercise import Exercise, Part, Probe

from grader.answer_key.keys import KEY
from grader.answer_key.lab_keys import FunctionKey, ObjectKey


def inputs(
    exercise_id: str, learner: str = DEFAULT_LEARNER, class_secret: str | None = None
) -> dict[str, list[Any]] | None:
    """For `collect`: part -> plain inputs in order, the visible ones first; None where no part asks for code."""
    exercise = KEY[exercise_id].exercise
    found = {
        part.name: [probe.given for probe in probes(exercise, part, learner, class_secret)]
        for part in exercise.parts
        if isinstance(KEY[exercise_id].parts[part.name], FunctionKey | ObjectKey)
    }
    return found or None


def probes(exercise: Exercise, part: Part, learner: str, class_secret: str | None = None) -> list[Probe]:
    """The same for the same words, on every machine: `grade` works out again what was asked."""
    key = KEY[exercise.id].parts[part.name]
    if not isinstance(key, FunctionKey | ObjectKey):
        return []
    rng = seeded("inputs", exercise.id, part.name, learner, class_secret or "")
    tried_on = [*part.probes, *key.hidden(rng)]
    if len(tried_on) > MOST_CALLS:
        raise ValueError(f"{exercise.id}.{part.name} has {len(tried_on)} probes, and {MOST_CALLS} at most are called")
    return tried_on
