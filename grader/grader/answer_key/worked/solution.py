"""Write a worked solution: values by their steps, choices by what is right and what each other one is, chains in order;
code by the reference's source, and a recording by what to look at in one's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.statement import fill
from llmserving.exercises.worked import Worked, fenced

from grader.answer_key.choices import grade_choice
from grader.answer_key.grading import own_recordings, reference_answers
from grader.answer_key.key import Answers, ChainKey, ChoiceKey, PartKey, ValueKey
from grader.answer_key.keys import KEY
from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, ObjectKey
from grader.answer_key.measurements import needs_recording
from grader.answer_key.rubrics import RUBRICS
from grader.answer_key.sources import written as source_of
from grader.answer_key.worked import bank, lab_recordings, lab_values, labs, level1, level2, level3, level4, level5
from grader.answer_key.worked.steps import Steps, written_answer

_LABS = (labs, lab_recordings, lab_values)  # of one exercise, some parts here and some there

STEPS: dict[str, dict[str, Steps]] = {
    name: dict(parts)
    for topic in (level1, level2, level3, level4, level5, bank)
    for name, parts in topic.STEPS_HERE.items()
} | {
    name: {part: steps for topic in _LABS for part, steps in topic.STEPS_HERE.get(name, {}).items()}
    for name in (name for topic in _LABS for name in topic.STEPS_HERE)
}


def worked_solution(exercise_id: str, learner: str = DEFAULT_LEARNER, data: Mapping[str, Any] | None = None) -> Worked:
    """The steps of every part, in this learner's numbers and letters.

    data: what collect gave for this exercise and those that it builds on, for what was recorded; without it the steps are
    those of the key's example. KeyError, naming the part, where a value or code has no steps: the others need none.
    """
    key = KEY[exercise_id]
    recorded = None if data is None else own_recordings(key.exercise, data)
    steps = {
        part.name: _steps(key.exercise, part, key.parts[part.name], learner, recorded) for part in key.exercise.parts
    }
    reread = dict.fromkeys(heading for part_key in key.parts.values() for heading in _rereads(part_key)[:1])
    return Worked(steps, tuple(reread), RUBRICS.get(exercise_id, ()))


def _steps(exercise: Exercise, part: Part, key: PartKey, learner: str, recorded: Answers | None) -> str:
    own = STEPS.get(exercise.id, {}).get(part.name)
    if isinstance(key, ValueKey | FunctionKey | ObjectKey):
        if own is None:
            raise KeyError(
                f"{exercise.id}.{part.name} is a {part.kind} without worked steps; add them below answer_key/worked/"
            )
        if isinstance(key, ValueKey):
            return _value(exercise, part, own, learner, recorded)
        return own(exercise.numbers(learner), {}, fenced(source_of(key.reference, part.variable)))
    if isinstance(key, MeasurementKey):
        return _recording(part)
    if isinstance(key, ChainKey):
        return _chain(exercise, part, key, learner)
    return _choice(exercise, part, key, learner, own)


def _value(exercise: Exercise, part: Part, own: Steps, learner: str, recorded: Answers | None) -> str:
    answers = reference_answers(exercise, learner, recorded)
    if part.name not in answers:
        return needs_recording(exercise, answers)
    told = own(exercise.numbers(learner), answers, written_answer(part, answers[part.name]))
    of_an_example = recorded is None and part.name not in reference_answers(exercise, learner, {})
    return f"With an example of a recording; work it out with yours. {told}" if of_an_example else told


def _recording(part: Part) -> str:
    *others, last = (f"`{field.name}`" for field in part.fields)
    fields = f"{', '.join(others)} and {last}" if others else last
    return (
        f"No number is right for all: yours is what your machine did, or what you predicted. In recordings.json beside the "
        f"notebook, look at {fields}, and ask whether another run would come near."
    )


def _choice(exercise: Exercise, part: Part, key: ChoiceKey, learner: str, own: Steps | None) -> str:
    """The right letter, and why: in words of its own, or else what each other option is, as the verdict on it says."""
    numbers, answers = exercise.numbers(learner), reference_answers(exercise, learner)
    right, others = "", []
    for letter, option in exercise.lettered_options(part, learner).items():
        verdict, text = grade_choice(part, key, option, numbers, answers), fill(option.text, exercise, learner)
        if verdict.state == "right":
            right = f"**{letter}**, {text}."
        else:
            others.append(verdict.message if part.letters else f'Not {letter}, "{text}": {verdict.message}')
    return own(numbers, answers, right) if own is not None else "\n".join([right, *others])


def _chain(exercise: Exercise, part: Part, key: ChainKey, learner: str) -> str:
    letter_of = {option.name: letter for letter, option in exercise.lettered_options(part, learner).items()}
    text_of = {option.name: fill(option.text, exercise, learner) for option in part.options}
    order = key.orders[0]
    place = {name: number for number, name in enumerate(order, 1)}
    lines = [f"**{''.join(letter_of[name] for name in order)}**"]
    lines += [f"{place[name]}. {letter_of[name]}: {text_of[name]}" for name in order]
    rests = [
        f"{place[name]} rests on {' and '.join(str(place[one]) for one in key.follows[name])}"
        for name in order
        if key.follows[name]
    ]
    why = f"Why in this order: {', '.join(rests)}."
    return "\n".join([*lines, why + " Any other order that keeps to this is right too." * (len(key.orders) > 1)])


def _rereads(key: PartKey) -> list[str]:
    if isinstance(key, ValueKey):
        return [misconception.reread for misconception in key.misconceptions]
    return [trap.reread for trap in key.traps.values()] if isinstance(key, ChoiceKey) else [key.reread]
