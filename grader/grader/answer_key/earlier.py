"""The earlier answers that a number is judged by: as they are right, as the learner wrote them, and before they were rounded.

A learner may go on from what was written down, or from what the calculator still shows. A small difference, or a count that
lies near a whole number, comes out otherwise by the one than by the other; either is worked correctly.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers, Key, ValueKey
from grader.answer_key.keys import KEY

_FIGURES_ASKED = 3


@dataclass(frozen=True)
class Earlier:
    """reference: the right answers. own: the learner's as they were written, and right ones where there are none.

    accepted: for a difference, the ways to carry on from answers of the learner's that were right. own_ways: the same from all
    of them. rounded: for each answer of the learner's, `own` with the least and the largest number that it may be rounded from.
    """

    reference: Answers
    own: Answers
    accepted: tuple[Answers, ...]
    own_ways: tuple[Answers, ...]
    rounded: tuple[tuple[Answers, Answers], ...]


def earlier_answers(
    key: Key, part: str, numbers: Numbers, reference: Answers, own: Answers, right: Collection[str]
) -> Earlier:
    """For one part of the exercise. right: the parts before it in which the learner's own number was right."""
    accepted = {**reference, **{name: own[name] for name in right}}
    value = key.parts[part]
    small = isinstance(value, ValueKey) and value.difference
    return Earlier(
        reference,
        own,
        _unrounded(key, numbers, accepted) if small else (reference,),
        _unrounded(key, numbers, own) if small else (own,),
        tuple(_ends(own, name) for name in own if own[name] != reference.get(name) and _is_rounded(key, name)),
    )


def _unrounded(key: Key, numbers: Numbers, written: Answers) -> tuple[Answers, ...]:
    """`written`, and the same with each answer as it comes from those before it where what was written is a rounding of that.

    Every such way to mix the two: a total may be the sum of two written sizes, kept unrounded itself.
    """
    ways: list[Answers] = [written]
    for name, part in key.parts.items():
        if isinstance(part, ValueKey) and name in written:
            kept = [(way, part.right(numbers, way)) for way in ways]
            ways += [
                {**way, name: exact}
                for way, exact in kept
                if 0 < abs(exact - written[name]) <= _half_a_unit(written[name])
            ]
    return tuple(ways)


def _is_rounded(key: Key, name: str) -> bool:
    """Whether that name is of a number that is rounded when it is written; counts and recordings are not."""
    exercise_id, _, part = name.rpartition(".")
    value = KEY.get(exercise_id, key).parts.get(part)
    return isinstance(value, ValueKey) and not value.tolerance.exact


def _ends(own: Answers, name: str) -> tuple[Answers, Answers]:
    half = _half_a_unit(own[name])
    return {**own, name: own[name] - half}, {**own, name: own[name] + half}


def _half_a_unit(written: float) -> float:
    """How far from it a number may be that was rounded to what is written; that counts as three figures at least."""
    figures = max(_FIGURES_ASKED, significant_figures(written))
    return 0.5001 * 10.0 ** (math.floor(math.log10(abs(written))) - figures + 1)  # a little more, for halves in binary


def significant_figures(number: float) -> int:
    digits = f"{number:.15e}".split("e")[0].replace(".", "").replace("-", "").rstrip("0")
    return max(len(digits), 1)
