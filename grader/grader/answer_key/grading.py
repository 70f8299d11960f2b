"""Grade: from plain data to verdicts, part by part, with follow-through from the learner's own earlier answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import CODE_KINDS, LAB_KINDS, Exercise, Part
from llmserving.exercises.faults import WRITTEN_LIMIT, fault_verdict
from llmserving.exercises.verdict import PartVerdict, Verdict

from grader.answer_key.chains import grade_chain
from grader.answer_key.choices import grade_choice
from grader.answer_key.earlier import Earlier, earlier_answers
from grader.answer_key.inputs import probes
from grader.answer_key.key import Answers, ChainKey, ChoiceKey, Key, ValueKey
from grader.answer_key.keys import KEY
from grader.answer_key.lab_grading import MALFORMED, grade_lab_part, holds
from grader.answer_key.lab_keys import MeasurementKey
from grader.answer_key.measurements import needs_recording, recorded_numbers, well_formed_recording, without_slips
from grader.answer_key.remeasured import Place, as_they_stood
from grader.answer_key.values import grade_value
from grader.answer_key.written_units import number_in_unit_of

# Beyond these a formula would divide by zero or overflow, and no answer of the course comes near them.
_LARGEST = 1e280
_CARRIES_FROM, _CARRIES_TO = 1e-30, 1e30


def grade(
    data: Mapping[str, Any], learner: str = DEFAULT_LEARNER, class_secret: str | None = None
) -> dict[str, Verdict]:
    """Verdicts for collected data, by exercise id.

    data: id -> what collect gave for it. Answers to exercises that another builds on are taken from here too.
    learner: whose numbers. class_secret: seeds hidden inputs, as it did when `inputs` made them; other kinds have none.
    KeyError for an id without a key. Malformed data costs its part, with a sentence, and never raises.
    """
    unknown = [exercise_id for exercise_id in data if exercise_id not in KEY]
    if unknown:
        raise KeyError(f"there is no key for {', '.join(map(str, unknown))}")
    return {exercise_id: _grade_exercise(KEY[exercise_id], data, learner, class_secret) for exercise_id in data}


def reference_answers(exercise: Exercise, learner: str, recorded: Answers | None = None) -> dict[str, float]:
    """The right number of every value part, and of those of the exercises it builds on.

    recorded: the learner's own recordings, by default the examples of the key. What needs one that is not there is left out.
    """
    answers: dict[str, float] = dict(recorded or {})
    for earlier in exercise.builds_on:
        for name, number in reference_answers(KEY[earlier].exercise, learner, recorded).items():
            answers[name if "." in name else f"{earlier}.{name}"] = number
    numbers = exercise.numbers(learner)
    for name, key in KEY[exercise.id].parts.items():
        if isinstance(key, MeasurementKey) and recorded is None:
            answers.update(recorded_numbers(exercise.part_by_name[name], key.example))
        if isinstance(key, ValueKey):
            try:
                answers[name] = key.right(numbers, answers)
            except KeyError:
                if recorded is None:
                    raise
    return answers


def own_recordings(exercise: Exercise, data: Mapping[str, Any]) -> dict[str, float]:
    """What the learner recorded for an exercise and those that it builds on, as value parts work with it."""
    return {name: number for name, number in _own_answers(exercise, data) if name.startswith("recorded.")}


def _grade_exercise(key: Key, data: Mapping[str, Any], learner: str, class_secret: str | None) -> Verdict:
    """What is worked out from recordings by those that are there now, or by earlier ones where it earns more by them."""
    exercise = key.exercise
    answers = {part.name: _part_data(data.get(exercise.id), part) for part in exercise.parts}
    done = {
        part.name: grade_lab_part(key, part, answers, probes(exercise, part, learner, class_secret))
        for part in exercise.parts
        if part.kind in LAB_KINDS
    }
    stood = as_they_stood(data, dict(_recordings(exercise, data)))
    verdicts = [Verdict(exercise.id, _with_answers(key, answers, then, learner, done)) for then in stood]
    return max(verdicts, key=lambda verdict: verdict.score)  # of equals the first, by what is there now


def _recordings(exercise: Exercise, data: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """The well-formed recordings of an exercise and of those that it builds on; of earlier ones those without a known slip."""
    for key in map(KEY.__getitem__, (exercise.id, *exercise.builds_on)):
        for part in key.exercise.parts:
            answer = _part_data(data.get(key.exercise.id), part)
            if answer["kind"] == "measurement":
                yield (key.exercise.id, part.name), without_slips(key.parts[part.name], answer)


def _with_answers(
    key: Key,
    answers: Mapping[str, Mapping[str, Any]],
    data: Mapping[str, Any],
    learner: str,
    done: Mapping[str, PartVerdict],
) -> dict[str, PartVerdict]:
    """Every part's verdict in order. data: what follow-through and recordings are taken from. done: what needs neither."""
    exercise = key.exercise
    reference = reference_answers(exercise, learner, own_recordings(exercise, data))
    own = {**reference, **dict(_own_answers(exercise, data))}
    right: set[str] = set()
    parts = {}
    for part in exercise.parts:
        if part.name in done:
            parts[part.name] = done[part.name]
            continue
        earlier = earlier_answers(key, part.name, exercise.numbers(learner), reference, own, right)
        parts[part.name] = _grade_part(key, part, answers[part.name], learner, earlier)
        if parts[part.name].state == "right" and part.name in own:
            right.add(part.name)
    return parts


def _grade_part(key: Key, part: Part, answer: Mapping[str, Any], learner: str, earlier: Earlier) -> PartVerdict:
    if answer["kind"] == "fault":
        return fault_verdict(part, answer)
    part_key = key.parts[part.name]
    if isinstance(part_key, ValueKey) and part.name not in earlier.reference:
        return PartVerdict(0.0, part.points, "open", needs_recording(key.exercise, earlier.reference))
    numbers = key.exercise.numbers(learner)
    if isinstance(part_key, ValueKey):
        return grade_value(part, part_key, answer, numbers, earlier)
    letters = key.exercise.lettered_options(part, learner)
    if isinstance(part_key, ChoiceKey):
        return grade_choice(part, part_key, letters[answer["letter"]], numbers, earlier.own)
    if isinstance(part_key, ChainKey):
        return grade_chain(part, part_key, [letters[letter] for letter in answer["letters"]])
    raise TypeError(f"{key.exercise.id}.{part.name} has a key of an unknown kind, {type(part_key).__name__}")


def _own_answers(exercise: Exercise, data: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The learner's own numbers, where they can be read and are of a sane size; a later part may carry on from them."""
    for earlier in exercise.builds_on:
        for name, number in _own_answers(KEY[earlier].exercise, data):
            yield (name if "." in name else f"{earlier}.{name}"), number
    for part in exercise.parts:
        answer = _part_data(data.get(exercise.id), part)
        if answer["kind"] == "measurement":
            yield from recorded_numbers(part, answer["fields"])
        if answer["kind"] == "value" and _CARRIES_FROM < (number := number_in_unit_of(part, answer)) < _CARRIES_TO:
            yield part.name, number


def _part_data(collected: Any, part: Part) -> Mapping[str, Any]:
    """The data of one part if it is well formed, else a fault: it may come from a process that nobody trusts."""
    try:
        answer = collected["parts"][part.name]
        if answer["kind"] == "fault" or _well_formed(part, answer):
            return answer  # type: ignore[no-any-return]
    except (KeyError, TypeError, IndexError, AttributeError):
        pass
    return MALFORMED


def _well_formed(part: Part, answer: Mapping[str, Any]) -> bool:
    if answer["kind"] != part.kind:
        return False
    if part.kind == "measurement":
        return holds(well_formed_recording, part, answer)
    if part.kind in CODE_KINDS:
        return isinstance(answer.get("source"), str)  # the rest is held against what was asked
    if part.kind == "value":
        number = answer["number"]
        is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
        return (
            is_number
            and abs(number) < _LARGEST
            and isinstance(answer["written"], str)
            and len(answer["written"]) <= WRITTEN_LIMIT
            and isinstance(answer.get("unit"), str | None)
        )
    chosen = [answer["letter"]] if part.kind == "choice" else answer["letters"]
    return isinstance(chosen, list) and len(set(chosen)) == len(chosen) and all(
        isinstance(letter, str) and len(letter) == 1 and letter in part.all_letters for letter in chosen
    )  # fmt: skip
