"""Collect: from the learner's session to plain data, in the learner's process, without a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises import reading
from llmserving.exercises.catalogue import exercise_named
from llmserving.exercises.exercise import CODE_KINDS, Exercise, Part
from llmserving.exercises.faults import Data, shorten
from llmserving.exercises.markup import as_typed
from llmserving.exercises.read_code import Inputs, probe_inputs
from llmserving.exercises.read_recording import read_measurement


def collect(exercise_id: str, namespace: Mapping[str, Any], inputs: Any = None) -> dict[str, Any]:
    """The answers that `namespace` (name -> value) holds for an exercise, as JSON-able data.

    inputs: part name -> what its function or object is to be tried on, plain JSON as in `Probe`; where it is not given,
    the public probes. The other kinds take none.
    KeyError with the nearest ids where the id is unknown; ValueError for inputs that no part takes. Never another
    exception: what cannot be read becomes a fault. (Interrupting the kernel is the way out of code that does not end.)
    """
    exercise = exercise_named(exercise_id)
    tried_on = _inputs(exercise, inputs)
    parts = {part.name: _part_in_session(part, namespace, tried_on.get(part.name, ())) for part in exercise.parts}
    return _as_data(exercise, parts)


def data_of_answer(exercise_id: str, answer: Any, inputs: Any = None) -> dict[str, Any]:
    """Data for an answer given directly: one value, a list or tuple in the order of the parts, or a dict by part name."""
    exercise = exercise_named(exercise_id)
    tried_on = _inputs(exercise, inputs)
    names = [part.name for part in exercise.parts]
    if isinstance(answer, Mapping):
        unknown = [as_typed(shorten(str(name))) for name in answer if name not in names]
        if unknown:
            raise ValueError(f"{exercise_id} has no part {', '.join(unknown)}; its parts are {', '.join(names)}")
        answers = dict(answer)
    elif len(names) == 1:
        answers = {names[0]: answer}
    else:
        given = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        if len(given) != len(names):
            raise ValueError(
                f"{exercise_id} has {len(names)} parts ({', '.join(names)}), but got {_answers(len(given))}"
            )
        answers = dict(zip(names, given, strict=True))
    parts = {
        part.name: _read(part, answers.get(part.name, ...), tried_on.get(part.name, ()), {}) for part in exercise.parts
    }
    return _as_data(exercise, parts)


def _answers(count: int) -> str:
    return f"{count or 'no'} answer{'' if count == 1 else 's'}"


def _inputs(exercise: Exercise, inputs: Any) -> Mapping[str, Inputs]:
    takes = {part.name: probe_inputs(part) for part in exercise.parts if part.kind in CODE_KINDS}
    if inputs is not None and not takes:
        raise ValueError(f"{exercise.id} takes no inputs, as no part of it asks for code, but got some")
    if inputs is not None and not (isinstance(inputs, Mapping) and set(inputs) <= set(takes)):
        raise ValueError(f"{exercise.id} takes inputs as a dict by part ({', '.join(takes)}), each with a list of them")
    return {**takes, **(inputs or {})}


def _part_in_session(part: Part, namespace: Mapping[str, Any], inputs: Inputs) -> Data:
    if part.kind == "measurement":
        return read_measurement(part)
    if part.variable not in namespace:
        return reading.missing(part.variable, namespace)
    return _read(part, namespace[part.variable], inputs, namespace)


def _read(part: Part, raw: Any, inputs: Inputs, namespace: Mapping[str, Any]) -> Data:
    if part.kind in CODE_KINDS:
        return reading.read_written(part, raw, inputs, namespace)
    return reading.read_part(part, raw)


def _as_data(exercise: Exercise, parts: dict[str, Data]) -> dict[str, Any]:
    return {"exercise": exercise.id, "version": exercise.version, "parts": parts}
