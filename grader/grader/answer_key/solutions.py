"""Answers as a learner would write them: the right ones in two forms, and every named wrong one.

Made from the key, for the tests and for `python -m grader selftest`. Never part of a release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmserving.exercises.exercise import Exercise, Part
from llmserving.units import format_number

from grader.answer_key.chains import INCOMPLETE, OUT_OF_ORDER, OUT_OF_ORDER_SENTENCE, incomplete_sentence
from grader.answer_key.grading import reference_answers
from grader.answer_key.key import ChainKey, ChoiceKey, ValueKey
from grader.answer_key.keys import KEY
from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, ObjectKey
from grader.answer_key.measurements import recorded_numbers
from grader.answer_key.sources import recorded, written

Written = Any
"""What stands to the right of `variable = ` in the learner's answer cell, or a Source, lines of their own."""


@dataclass(frozen=True)
class WrongInput:
    """A named mistake as written into one part; `sentence` is what the card has to say of it."""

    part: str
    name: str
    written: Written
    sentence: str


def reference_inputs(exercise: Exercise, learner: str) -> dict[str, Written]:
    """The right answer of every part, plainly: a number, a letter, letters in order."""
    return {part.name: _right(exercise, part, learner) for part in exercise.parts}


def other_inputs(exercise: Exercise, learner: str) -> dict[str, Written]:
    """The same answers written otherwise: text with a unit, lower-case letters, a list, another sound order."""
    return {part.name: _written_otherwise(exercise, part, learner) for part in exercise.parts}


def wrong_inputs(exercise: Exercise, learner: str) -> list[WrongInput]:
    """Every named mistake that differs from right on this learner's numbers."""
    return [wrong for part in exercise.parts for wrong in _wrong(exercise, part, learner)]


def number_forms(number: float) -> set[str]:
    """A number as prose would write it: what must not stand where it would tell the answer."""
    forms = {format_number(number), f"{number:,}", repr(number), f"{number:.2f}", f"{number:.3f}", f"{number:.4g}"}
    return {form for form in forms if "e" not in form}


def stands_in(form: str, text: str) -> bool:
    """Whether `text` holds `form` as a number of its own, not inside INT4, 10^9 or 37.25."""
    return re.search(rf"(?<![\w.,^]){re.escape(form)}(?![\w^]|[.,]\d)", text) is not None


def _right(exercise: Exercise, part: Part, learner: str) -> Written:
    key = KEY[exercise.id].parts[part.name]
    if isinstance(key, FunctionKey | ObjectKey):
        return written(key.reference, part.variable)
    if isinstance(key, MeasurementKey):
        return recorded(part.variable, key.example)
    if isinstance(key, ValueKey):
        return _plain(reference_answers(exercise, learner)[part.name])
    letters = _letter_of(exercise, part, learner)
    if isinstance(key, ChoiceKey):
        return letters[key.on(exercise.numbers(learner)).right]
    return "".join(letters[name] for name in key.orders[0])


def _written_otherwise(exercise: Exercise, part: Part, learner: str) -> Written:
    key = KEY[exercise.id].parts[part.name]
    if isinstance(key, FunctionKey | ObjectKey):
        return written(key.otherwise, part.variable)
    if isinstance(key, MeasurementKey):
        return recorded(part.variable, key.otherwise)
    if isinstance(key, ChainKey):
        letters = _letter_of(exercise, part, learner)
        return [letters[name].lower() for name in key.orders[-1]]
    right = _right(exercise, part, learner)
    if isinstance(key, ValueKey) and (recorded_otherwise := _recorded_otherwise(exercise)):
        right = _plain(reference_answers(exercise, learner, recorded_otherwise)[part.name])
    if isinstance(key, ChoiceKey):
        return f" {right.lower()} "
    if part.quantity == "bytes":
        return f"{right:,} bytes" if part.unit == "bytes" else f"{right:.3g} {part.unit}"
    if part.quantity == "fraction":
        return f"{100 * right:.3g} %"
    if part.quantity in ("real", "integer"):
        return f"{right:.4g} {part.unit or ''}".strip()
    return f"{right} {part.unit}" if part.quantity == "count" else f"{right:.3g}x"


def _recorded_otherwise(exercise: Exercise) -> dict[str, float]:
    """What value parts work with where everything was recorded otherwise; empty where nothing is."""
    numbers: dict[str, float] = {}
    for earlier in exercise.builds_on:
        numbers.update(_recorded_otherwise(KEY[earlier].exercise))
    for name, key in KEY[exercise.id].parts.items():
        if isinstance(key, MeasurementKey):
            numbers.update(recorded_numbers(exercise.part_by_name[name], key.otherwise))
    return numbers


def _wrong(exercise: Exercise, part: Part, learner: str) -> Iterator[WrongInput]:
    key = KEY[exercise.id].parts[part.name]
    if isinstance(key, FunctionKey | ObjectKey):
        for mistake in key.misconceptions:
            yield WrongInput(part.name, mistake.name, written(mistake.made, part.variable), mistake.sentence)
        return
    if isinstance(key, MeasurementKey):
        for slip in key.misconceptions:
            yield WrongInput(part.name, slip.name, recorded(part.variable, slip.example), slip.sentence)
        return
    if isinstance(key, ValueKey):
        reference = reference_answers(exercise, learner)
        for misconception in key.misconceptions:
            number = misconception.wrong(exercise.numbers(learner), reference)
            if not key.tolerance.accepts(reference[part.name], number):
                yield WrongInput(part.name, misconception.name, _plain(number), misconception.sentence)
        return
    letters = _letter_of(exercise, part, learner)
    if isinstance(key, ChoiceKey):
        for option, trap in key.on(exercise.numbers(learner)).traps.items():
            yield WrongInput(part.name, trap.name, letters[option], trap.sentence)
        return
    order = [letters[name] for name in key.orders[0]]
    for option, trap in key.traps.items():
        yield WrongInput(part.name, trap.name, "".join([*order[:-1], letters[option]]), trap.sentence)
    yield WrongInput(part.name, INCOMPLETE, "".join(order[:-1]), incomplete_sentence(1, len(order)))
    yield WrongInput(part.name, OUT_OF_ORDER, "".join(reversed(order)), OUT_OF_ORDER_SENTENCE)


def _letter_of(exercise: Exercise, part: Part, learner: str) -> dict[str, str]:
    return {option.name: letter for letter, option in exercise.lettered_options(part, learner).items()}


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
