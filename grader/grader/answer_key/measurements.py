"""Grading a recording by its form, never by its number: it is there, after the prediction, and shows no known slip."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.read_recording import read_fields
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.key import Answers
from grader.answer_key.keys import KEY
from grader.answer_key.lab_keys import Fields, MeasurementKey
from grader.answer_key.remeasured import well_formed_earlier

MEASURED_FIRST = "measured_before_predicted"


def grade_measurement(
    part: Part, key: MeasurementKey, answer: Mapping[str, Any], prediction: Mapping[str, Any] | None, foretold: str
) -> PartVerdict:
    """The answer is well formed. prediction: the data of the part `key.after`, which is recorded as `foretold`."""
    if prediction is not None:
        if prediction["kind"] != "measurement":
            sentence = (
                f"Record your prediction as {foretold} first: what is predicted after measuring predicts nothing."
            )
            return PartVerdict(0.0, part.points, "wrong", sentence, (MEASURED_FIRST,), key.reread)
        if prediction["first"] > answer["first"]:
            sentence = (
                f"{part.variable} was recorded before {foretold}. The measurement stands, but a prediction made after it "
                "predicts nothing; predict first where the next one is asked."
            )
            return PartVerdict(0.0, part.points, "wrong", sentence, (MEASURED_FIRST,), key.reread)
    for slip in key.misconceptions:
        if slip.holds(answer["fields"]):
            return PartVerdict(0.0, part.points, "wrong", slip.sentence, (slip.name,), slip.reread)
    return PartVerdict(part.points, part.points, "right", "Right.")


def well_formed_recording(part: Part, answer: Mapping[str, Any]) -> bool:
    """The fields are those that are asked for, in their range: what `record` would have kept."""
    first, rows = answer["first"], [answer["fields"]]
    in_order = isinstance(first, int) and not isinstance(first, bool) and first >= 0
    if "earlier" in answer:
        in_order = in_order and well_formed_earlier(answer)
        rows += [entry["fields"] for entry in answer["earlier"]]
    return in_order and all(
        isinstance(fields, dict) and read_fields(part, fields).get("fields") == fields for fields in rows
    )


def without_slips(key: Any, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recording with those before it that show no known slip. key: a `MeasurementKey`."""
    if "earlier" not in answer:
        return answer
    sound = [
        entry for entry in answer["earlier"] if not any(slip.holds(entry["fields"]) for slip in key.misconceptions)
    ]
    return {**answer, "earlier": sound}


def recorded_numbers(part: Part, fields: Fields) -> Iterator[tuple[str, float]]:
    """What value parts may work with: "recorded.decode.seconds" -> the number, or the median of the samples."""
    for field in part.fields:
        value = fields[field.name]
        yield f"recorded.{part.name}.{field.name}", statistics.median(value) if isinstance(value, list) else value


def needs_recording(exercise: Exercise, answers: Answers) -> str:
    """What to do before a number can be worked out. answers: with the recordings that there are, by `recorded_numbers`."""
    earlier = [KEY[name].exercise for name in exercise.builds_on]
    missing = [
        part.variable
        for part in (part for one in (*earlier, exercise) for part in one.parts)
        if part.kind == "measurement" and not any(name.startswith(f"recorded.{part.name}.") for name in answers)
    ]
    cells = ", then the one with ".join(f'`record("{name}", …)`' for name in missing)
    named = " and ".join(missing)
    return f"This is worked out from a recording that is missing, {named}. Run the cell with {cells}, then this one."
