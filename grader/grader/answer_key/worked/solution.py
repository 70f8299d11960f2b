"""Write a worked solution: values by their steps, choices by what is right and what each other one is, chains in order."""

from __future__ import annotations

from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import Exercise, Part
from llmserving.exercises.statement import fill
from llmserving.exercises.worked import Worked

from grader.answer_key.choices import grade_choice
from grader.answer_key.grading import reference_answers
from grader.answer_key.key import ChainKey, ChoiceKey, PartKey, ValueKey
from grader.answer_key.keys import KEY
from grader.answer_key.rubrics import RUBRICS
from grader.answer_key.worked import bank, level1, level2, level3, level4, level5
from grader.answer_key.worked.steps import Steps, written_answer

STEPS: dict[str, dict[str, Steps]] = {
    name: dict(parts)
    for topic in (level1, level2, level3, level4, level5, bank)
    for name, parts in topic.STEPS_HERE.items()
}


def worked_solution(exercise_id: str, learner: str = DEFAULT_LEARNER) -> Worked:
    """The steps of every part, in this learner's numbers and letters.

    KeyError, naming the part, where a value has no steps: choices and chains need none of their own.
    """
    key = KEY[exercise_id]
    steps = {part.name: _steps(key.exercise, part, key.parts[part.name], learner) for part in key.exercise.parts}
    reread = dict.fromkeys(heading for part_key in key.parts.values() for heading in _rereads(part_key)[:1])
    return Worked(steps, tuple(reread), RUBRICS.get(exercise_id, ()))


def _steps(exercise: Exercise, part: Part, key: PartKey, learner: str) -> str:
    numbers = exercise.numbers(learner)
    own = STEPS.get(exercise.id, {}).get(part.name)
    if isinstance(key, ValueKey):
        if own is None:
            raise KeyError(
                f"{exercise.id}.{part.name} is a value without worked steps; add them below answer_key/worked/"
            )
        answers = reference_answers(exercise, learner)
        return own(numbers, answers, written_answer(part, answers[part.name]))
    if isinstance(key, ChainKey):
        return _chain(exercise, part, key, learner)
    return _choice(exercise, part, key, learner, own)


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
    return [key.reread] if isinstance(key, ChainKey) else [trap.reread for trap in key.traps.values()]
