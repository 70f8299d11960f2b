"""Collect: from the learner's session to plain data, in the learner's process, without a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises import reading
from llmserving.exercises.catalogue import exercise_named
from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.faults import Data


def collect(exercise_id: str, namespace: Mapping[str, Any], inputs: Any = None) -> dict[str, Any]:
    """The answers that `namespace` (name -> value) holds for an exercise, as JSON-able data.

    inputs: what functions and objects are to be called on; the kinds value, choice and chain take none.
    KeyError with the nearest ids where the id is unknown; ValueError for inputs that no part takes. Never another
    exception: what cannot be read becomes a fault.
    """
    exercise = exercise_named(exercise_id)
    if inputs is not None:
        raise ValueError(f"{exercise_id} asks for values, choices or chains; it takes no inputs, but got some")
    return _as_data(exercise, {part.name: _part_in_session(part, namespace) for part in exercise.parts})


def data_of_answer(exercise_id: str, answer: Any) -> dict[str, Any]:
    """Data for an answer given directly: one value, a list or tuple in the order of the parts, or a dict by part name."""
    exercise = exercise_named(exercise_id)
    names = [part.name for part in exercise.parts]
    if isinstance(answer, Mapping):
        unknown = [str(name) for name in answer if name not in names]
        if unknown:
            raise ValueError(f"{exercise_id} has no part {', '.join(unknown)}; its parts are {', '.join(names)}")
        answers = dict(answer)
    elif len(names) == 1:
        answers = {names[0]: answer}
    else:
        given = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        if len(given) != len(names):
            raise ValueError(f"{exercise_id} has {len(names)} parts ({', '.join(names)}), but got {len(given)} answers")
        answers = dict(zip(names, given, strict=True))
    return _as_data(
        exercise, {part.name: reading.read_part(part, answers.get(part.name, ...)) for part in exercise.parts}
    )


def _part_in_session(part: Part, namespace: Mapping[str, Any]) -> Data:
    if part.variable not in namespace:
        return reading.missing(part.variable, namespace)
    return reading.read_part(part, namespace[part.variable])


def _as_data(exercise: Exercise, parts: dict[str, Data]) -> dict[str, Any]:
    return {"exercise": exercise.id, "version": exercise.version, "parts": parts}
