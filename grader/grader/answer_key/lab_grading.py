"""Grading a part that was written or measured: the data is held against what was asked before anything is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llmserving.exercises.exercise import Part, Probe
from llmserving.exercises.faults import fault_verdict
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.functions import grade_function, well_formed_calls
from grader.answer_key.key import Key
from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, ObjectKey
from grader.answer_key.measurements import grade_measurement
from grader.answer_key.objects import grade_object, well_formed_plays

MALFORMED: Mapping[str, Any] = {"kind": "fault", "fault": "malformed"}


def grade_lab_part(
    key: Key, part: Part, answers: Mapping[str, Mapping[str, Any]], tried_on: Sequence[Probe]
) -> PartVerdict:
    """answers: the data of all parts of the exercise, of which this one's may be malformed still as far as its inputs go."""
    answer, part_key, given = answers[part.name], key.parts[part.name], [probe.given for probe in tried_on]
    if answer["kind"] == "fault":
        return fault_verdict(part, answer)
    if isinstance(part_key, MeasurementKey):
        foretold = key.exercise.part_by_name[part_key.after].variable if part_key.after else ""
        return grade_measurement(part, part_key, answer, answers.get(part_key.after or ""), foretold)
    if isinstance(part_key, FunctionKey) and holds(well_formed_calls, answer, given):
        return grade_function(part, part_key, answer, tried_on)
    if isinstance(part_key, ObjectKey) and holds(well_formed_plays, answer, given):
        return grade_object(part, part_key, answer, tried_on)
    return fault_verdict(part, MALFORMED)


def holds(check: Callable[..., bool], *data: Any) -> bool:
    """Whether data is well formed; what cannot even be looked at is not."""
    try:
        return check(*data)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError):
        return False
