"""Grading one number: right, followed through, a named mistake, rounded too far, or none that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import fault_sentence
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.earlier import Earlier, significant_figures
from grader.answer_key.key import Answers, Misconception, ValueKey
from grader.answer_key.written_units import names_another_unit, number_in_unit_of, wrong_unit

NOT_KNOWN = "is not right, and not close to any mistake I know."
CLOSE = (
    "is close, but its third significant figure is off. Round once, at the end: a number that is rounded on the way, and "
    "then again, can miss the right one."
)
FOLLOWED = (
    "worked correctly from your own earlier answer, so it earns its points. That earlier answer is off: correct it first, "
    "then this one."
)


def grade_value(
    part: Part,
    key: ValueKey,
    answer: Mapping[str, Any],
    numbers: Numbers,
    earlier: Earlier,
) -> PartVerdict:
    """The verdict on one number, by the answers that come before it."""
    reference, own = earlier.reference, earlier.own
    number = number_in_unit_of(part, answer)
    written = f"`{answer['written']}`"
    if number < 0 and part.quantity not in ("real", "integer") and not key.difference:
        fault = fault_sentence(part, {"fault": "negative", "written": answer["written"]})
        return PartVerdict(0.0, part.points, "wrong", fault, ("negative",))

    def is_right(one: float) -> bool:
        return any(key.tolerance.accepts(key.right(numbers, way), one) for way in (reference, *earlier.accepted))

    if is_right(number):
        return PartVerdict(part.points, part.points, "right", "Right.")
    if _carries_on(key, number, numbers, earlier) and not any(
        mistake.also_carried_on for mistake in _misconceptions_at(key, number, numbers, reference)
    ):
        return PartVerdict(part.points, part.points, "followed_through", f"{written} is {FOLLOWED}")
    fitting = _without_other_units(key) if names_another_unit(part, answer) else key
    # A share that was divided the wrong way is above 1, and not out of a hundred.
    readings = [number, answer["number"]] if part.quantity == "fraction" and answer.get("unit") != "%" else [number]
    found = _named(fitting, readings, numbers, reference) or _named(fitting, readings, numbers, own)
    if found:
        names = tuple(misconception.name for misconception in found)
        return PartVerdict(0.0, part.points, "wrong", f"{written}: {_sentences(found)}", names, found[0].reread)
    reread = next((misconception.reread for misconception in key.misconceptions), None)
    if label := wrong_unit(part, answer, is_right):
        return PartVerdict(
            0.0, part.points, "wrong", f"{written}: {label}", ("wrong_unit",), _reread_on_units(key) or reread
        )
    if figures := _rounded_too_far(key, number, key.right(numbers, reference)):
        asked = (
            f"{'a share' if part.quantity == 'fraction' else 'it'} is asked for to within {key.tolerance.absolute:g}"
            if key.tolerance.absolute
            else (f"it keeps {figures} of the three significant figures asked for")
        )
        sentence = f"{written} is rounded too far: {asked}."
        return PartVerdict(0.0, part.points, "wrong", sentence, ("rounded_too_far",))
    if _is_close(key, number, key.right(numbers, reference)):
        return PartVerdict(0.0, part.points, "wrong", f"{written} {CLOSE}", ("rounded_on_the_way",))
    if part.quantity == "integer" and not float(number).is_integer():
        fault = fault_sentence(part, {"fault": "not_whole", "written": answer["written"]})
        return PartVerdict(0.0, part.points, "wrong", fault, ("not_whole",))
    return PartVerdict(0.0, part.points, "wrong", f"{written} {NOT_KNOWN}", reread=reread)


def _without_other_units(key: ValueKey) -> ValueKey:
    return replace(key, misconceptions=tuple(one for one in key.misconceptions if not one.in_other_unit))


def _reread_on_units(key: ValueKey) -> str | None:
    return next((one.reread for one in key.misconceptions if one.in_other_unit), None)


def _carries_on(key: ValueKey, number: float, numbers: Numbers, earlier: Earlier) -> bool:
    """Whether `number` comes from the learner's own earlier answers, as they were written or before they were rounded."""
    # Nothing to carry on to: a size so wrong that not one request fits would pay for any zero.
    if not key.difference and key.right(numbers, earlier.own) <= 0:
        return False
    if any(key.tolerance.accepts(key.right(numbers, way), number) for way in earlier.own_ways):
        return True
    if key.tolerance.exact and not float(number).is_integer():
        return False
    ranges = (sorted(key.right(numbers, end) for end in ends) for ends in earlier.rounded)
    return any(least <= number <= most and (least > 0 or key.difference) for least, most in ranges)


def _sentences(found: list[Misconception]) -> str:
    if len(found) == 1:
        return found[0].sentence
    listed = " ".join(f"({index}) {misconception.sentence}" for index, misconception in enumerate(found, 1))
    return f"this looks like one of {len(found)} mistakes that give the same number here. {listed}"


def _named(key: ValueKey, readings: list[float], numbers: Numbers, earlier: Answers) -> list[Misconception]:
    """The named mistakes that one of the readings of the answer stands for, each once."""
    found = (mistake for number in readings for mistake in _misconceptions_at(key, number, numbers, earlier))
    return list({mistake.name: mistake for mistake in found}.values())


def _misconceptions_at(key: ValueKey, number: float, numbers: Numbers, earlier: Answers) -> list[Misconception]:
    """The named mistakes that give `number` from these earlier answers and differ from right there."""
    right = key.right(numbers, earlier)
    found: list[Misconception] = []
    for misconception in key.misconceptions:
        wrong = misconception.wrong(numbers, earlier)
        if key.tolerance.accepts(right, wrong):
            continue
        if _stands_for(wrong, number, key) or number in misconception.as_well(numbers):
            found.append(misconception)
    return found


def _stands_for(wrong: float, number: float, key: ValueKey) -> bool:
    """Whether a learner who got `wrong` may have written `number`: equal as asked, or rounded to the figures written."""
    if key.tolerance.exact and float(wrong).is_integer():
        return number == wrong
    if float(number).is_integer() and not float(wrong).is_integer() and key.tolerance.exact:
        return False
    if abs(number - wrong) <= 0.005 * abs(wrong):
        return True
    figures = significant_figures(number)
    return figures >= 2 and _rounds_to(wrong, figures, number)


def _rounded_too_far(key: ValueKey, number: float, right: float) -> int:
    """How many significant figures `number` keeps of `right` where those are too few; 0 where it is not a rounding."""
    if key.tolerance.exact:
        return 0
    return next((figures for figures in (2, 1) if _rounds_to(right, figures, number)), 0)


def _rounds_to(exact: float, figures: int, number: float) -> bool:
    """Whether `exact` to so many significant figures is `number`, which 5.9 % as a fraction is but for its last bit."""
    return math.isclose(float(f"{exact:.{figures - 1}e}"), number, rel_tol=1e-12)


def _is_close(key: ValueKey, number: float, right: float) -> bool:
    """Whether `number` misses by a rounding more: 1.07 where 1.0647 is right, which is 1.06, by way of 1.065."""
    in_figures = key.tolerance.relative > 0 and not key.tolerance.absolute
    return in_figures and abs(number - right) <= 2 * key.tolerance.relative * abs(right)
