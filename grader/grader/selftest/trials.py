"""What a notebook does when it is run: untouched, answered rightly in two forms, and with every named mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from llmserving.exercises import Exercise
from llmserving.exercises.draws import DEFAULT_LEARNER

from grader.answer_key.solutions import other_inputs, reference_inputs, wrong_inputs
from grader.answer_key.sources import Source
from grader.course import read_notebook
from grader.selftest.cells import cells_to_run, exercises_of, name_of, of_role, role_of
from grader.selftest.kernel_session import kernel
from grader.selftest.practice import try_practice
from grader.selftest.release_checks import look_at
from grader.selftest.shown import is_told, told
from grader.selftest.tally import ALONE, INSTRUCTOR, MISTAKES, OTHERWISE, REFERENCE, UNTOUCHED, Tally
from grader.student_version import student_version

Inputs = Callable[[Exercise, str], dict[str, Any]]


def try_instructor(path: Path) -> Tally:
    """Run the instructor's notebook: its solutions were written apart from the key, so they are a second opinion."""
    tally = Tally()
    with kernel() as run:
        for cell in cells_to_run(read_notebook(path)):
            shown = run(cell.source)
            if role_of(cell) == "check":
                _expect_all_points(tally, INSTRUCTOR, path.stem, cell, shown)
    return tally


def try_release(path: Path, learner: str) -> Tally:
    """Release one notebook, look at it, run it untouched, and answer it in every way."""
    source = read_notebook(path)
    released = student_version(source, learner)
    where = f"{path.parent.name}/{path.stem} for {learner}"
    tally = look_at(released, source, f"{path.parent.name}/{path.stem}", learner, where)
    with kernel() as run:
        for cell in cells_to_run(released):
            shown = run(cell.source)
            trouble = shown.get("error") or shown.get("stderr")
            tally.expect(ALONE, not trouble, f"{where}: the cell {cell.source[:40]!r} gave {trouble}")
            if role_of(cell) == "check":
                tally.expect(UNTOUCHED, shown.get("text/plain") == "0.0", f"{where}: {name_of(cell)} {told(shown)}")
        answer_cells = {name_of(cell): cell.source for cell in of_role(released, "answer")}
        checks = [cell for cell in of_role(released, "check") if name_of(cell) in answer_cells]
        for name, inputs in ((OTHERWISE, other_inputs), (REFERENCE, reference_inputs)):
            for cell in checks:
                run(filled(answer_cells[name_of(cell)], _values(cell, inputs, learner)))
                _expect_all_points(tally, name, where, cell, run(cell.source))
        # Right answers now stand everywhere, so what follows is one mistake at a time.
        for cell in checks:
            right = _values(cell, reference_inputs, learner)
            for exercise in exercises_of(cell):
                for wrong in wrong_inputs(exercise, learner):
                    variable = exercise.part_by_name[wrong.part].variable
                    run(filled(answer_cells[name_of(cell)], {**right, variable: wrong.written}))
                    shown = run(cell.source)
                    said = f"{where}: {variable} = {wrong.written!r} is {wrong.name}, but: {told(shown)}"
                    tally.expect(MISTAKES, is_told(exercise, wrong, cell.metadata.nbgrader.points, shown), said)
            run(filled(answer_cells[name_of(cell)], right))
        if learner == DEFAULT_LEARNER:
            tally.add(try_practice(run, [exercise for cell in checks for exercise in exercises_of(cell)], where))
    return tally


def filled(answer_cell: str, values: Mapping[str, Any]) -> str:
    """The answer cell with the learner's values in the place of each `...`; code stands after its stub, and counts."""
    for variable, value in values.items():
        if isinstance(value, Source):
            answer_cell = f"{answer_cell}\n\n{value}"
        answer_cell = answer_cell.replace(f"\n{variable} = ...", f"\n{variable} = {value!r}")
    return answer_cell


def _expect_all_points(tally: Tally, name: str, where: str, cell: Any, shown: Mapping[str, Any]) -> None:
    points = sum(exercise.points for exercise in exercises_of(cell))
    tally.expect(name, shown.get("text/plain") == repr(float(points)), f"{where}: {name_of(cell)}: {told(shown)}")


def _values(cell: Any, inputs: Inputs, learner: str) -> dict[str, Any]:
    return {
        exercise.part_by_name[part].variable: value
        for exercise in exercises_of(cell)
        for part, value in inputs(exercise, learner).items()
    }
