"""What can be seen of a release without running it: every item in its place, nothing of the solution, no right number."""

from __future__ import annotations

import re
from typing import Any

from llmserving.exercises import EXERCISES, GROUPS, Exercise

from grader.answer_key.rubrics import RUBRICS
from grader.answer_key.solutions import number_forms, reference_inputs, stands_in
from grader.render import BEGIN, END, stubs_of
from grader.selftest.cells import exercises_of, name_of, of_role, role_of
from grader.selftest.tally import CLEAN, NOT_TOLD, PRESENT, Tally


def look_at(released: Any, source: Any, place: str, learner: str, where: str) -> Tally:
    """What can be seen without running: every item in its place, nothing of the solution, no right number."""
    tally = Tally()
    due = sorted(exercise.id for exercise in EXERCISES.values() if exercise.notebook == place)
    for role in ("statement", "answer", "check"):
        there = sorted(
            name
            for cell in of_role(released, role)
            for name in ([name_of(cell)] if role == "statement" else GROUPS[name_of(cell)])
        )
        tally.expect(PRESENT, there == due, f"{where}: the {role} cells are for {there}, due are {due}")
    for cell in of_role(released, "check"):
        points = sum(exercise.points for exercise in exercises_of(cell))
        tally.expect(
            PRESENT, cell.metadata.nbgrader.points == points, f"{where}: {name_of(cell)} is not worth {points}"
        )
    for cell in of_role(released, "answer"):
        stubs = stubs_of(name_of(cell))
        tally.expect(
            CLEAN, cell.source.strip() == stubs, f"{where}: the answer cell {name_of(cell)} holds more than stubs"
        )
    # A method that is written begins with the line that its stub has too.
    given = {line for cell in of_role(released, "answer") for line in stubs_of(name_of(cell)).splitlines()}
    solution = {line for cell in source.cells for line in _solution_lines(cell.source)} - given
    for cell in released.cells:
        leaked = sorted(solution & set(cell.source.splitlines())) + [m for m in (BEGIN, END) if m in cell.source]
        tally.expect(CLEAN, not leaked, f"{where}: the cell {cell.source[:40]!r} holds {leaked}")
        if cell.cell_type == "code":
            stored = cell.outputs or cell.execution_count is not None
            tally.expect(CLEAN, not stored, f"{where}: the cell {cell.source[:40]!r} has a stored output")
            tally.expect(CLEAN, "grader" not in cell.source, f"{where}: the cell {cell.source[:40]!r} names the grader")
    everything = "\n".join(cell.source for cell in released.cells)
    for reason in (reason for name in due for reason in RUBRICS.get(name, ())):
        tally.expect(
            CLEAN, reason not in everything, f"{where}: it tells what an answer in own words must hold, {reason!r}"
        )
    for exercise in (EXERCISES[name] for name in due):
        _look_for_right_numbers(released, exercise, learner, where, tally)
    return tally


def _look_for_right_numbers(released: Any, exercise: Exercise, learner: str, where: str, tally: Tally) -> None:
    """A statement must not hold its own answer, unless as a number it gives; a lesson none of three figures or more."""
    drawn = [number for number in exercise.numbers(learner).values() if not isinstance(number, str)]
    given = {form for number in drawn for form in number_forms(number)}
    for part in (part for part in exercise.parts if part.kind == "value"):
        forms = number_forms(reference_inputs(exercise, learner)[part.name]) - given
        for cell in released.cells:
            if role_of(cell) == "statement" and name_of(cell) != exercise.id:
                continue
            own = role_of(cell) == "statement"
            text = re.sub(r"^\*difficulty .*\*$", "", cell.source, flags=re.MULTILINE)
            told = [form for form in forms if (own or len(form) > 3) and stands_in(form, text)]
            tally.expect(NOT_TOLD, not told, f"{where}: the cell {cell.source[:40]!r} tells {part.variable}: {told}")


def _solution_lines(source: str) -> list[str]:
    regions = re.findall(rf"{BEGIN}\n(.*?){END}", source, re.DOTALL)
    return [line for region in regions for line in region.splitlines() if line.strip()]
