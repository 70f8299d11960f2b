"""Practice draws of the questions that have variants: each way to ask is answered rightly, and with every mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llmserving.exercises import Exercise
from llmserving.exercises.draws import DEFAULT_LEARNER, PRACTICE_MARK

from grader.answer_key.solutions import reference_inputs, wrong_inputs
from grader.selftest.shown import is_told, told
from grader.selftest.tally import MISTAKES, REFERENCE, Tally


def try_practice(run: Callable[[str], Mapping[str, Any]], exercises: Iterable[Exercise], where: str) -> Tally:
    """Of each exercise as many draws as it has variants beside the course's own, answered in the call.

    run: what runs a cell and gives back what it shows; `check` has been imported there.
    """
    tally = Tally()
    for exercise in exercises:
        for number in range(1, len(exercise.draw.variants) + 1):
            draw, learner = (f"{owner}{PRACTICE_MARK}{number}" for owner in (exercise.id, DEFAULT_LEARNER))
            right = reference_inputs(exercise, learner)
            shown = run(f"check({draw!r}, {right!r})")
            all_points = shown.get("text/plain") == repr(float(exercise.points))
            tally.expect(REFERENCE, all_points, f"{where}: {draw}: {told(shown)}")
            for wrong in wrong_inputs(exercise, learner):
                shown = run(f"check({draw!r}, { {**right, wrong.part: wrong.written}!r})")
                said = f"{where}: {draw}: {wrong.part} = {wrong.written!r} is {wrong.name}, but: {told(shown)}"
                tally.expect(MISTAKES, is_told(exercise, wrong, exercise.points, shown), said)
    return tally
