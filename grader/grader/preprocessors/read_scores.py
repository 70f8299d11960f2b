"""Read the scores: what a check cell has shown becomes the one number that nbgrader takes from it.

Stock nbgrader gives full marks for silence and for anything that is no number, and none for a correct answer whose
check cell carried a warning. Here silence is 0 with a sentence, a warning costs nothing, and a check that itself broke
is no grade at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from llmserving.exercises import GROUPS
from llmserving.exercises.card import VERDICT_MIME
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.attention import printable
from grader.errors import NotGraded
from grader.preprocessors.cells import (
    NBGRADER,
    add_note,
    check_of,
    is_answer,
    is_of,
    name_of,
    report_of,
    runs,
    source_of,
    variables_of,
)
from grader.preprocessors.missing_name import hint_on
from grader.preprocessors.names import names_set
from grader.preprocessors.recordings_note import note_recordings
from grader.preprocessors.run_answers import ENDED_KERNEL
from grader.preprocessors.stopped import nothing_earned, stopped_by_answer, why_stopped
from grader.render import METADATA


class ReadScores(NbGraderPreprocessor):  # type: ignore[misc]
    """After Execute: scores, the report's line for each exercise, and the notes where the learner reads them."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        note_recordings(nb, Path(resources["metadata"]["path"]))
        read_scores(nb)
        return nb, resources


def read_scores(notebook: Any) -> None:
    """Leave in every check cell one score between 0 and its points, and fill the notebook's report."""
    answers = {name for cell in notebook.cells if is_of(cell, "answer") for name in variables_of(check_of(cell))}
    for cell in notebook.cells:
        if NBGRADER not in cell.metadata and runs(cell):
            _note_own_error(notebook, cell, answers)
        if METADATA not in cell.metadata or NBGRADER not in cell.metadata or cell.cell_type != "code":
            continue
        if is_answer(cell):
            _note_error(notebook, cell, name_of(cell), check_of(cell))
        elif cell.metadata[NBGRADER]["grade"]:
            _read_score(notebook, cell)


def _note_own_error(notebook: Any, cell: Any, answers: set[str]) -> None:
    """A cell beside the answers that stopped is worth a note where it was to set one, or ended the kernel."""
    given = sorted(names_set(source_of(cell)) & answers)
    if given:
        check = next(check for check in GROUPS if given[0] in variables_of(check))
        _note_error(notebook, cell, f"{check}: the learner's own cell that sets {given[0]}", check)
    elif (error := _error_of(cell)) is not None and error.ename == ENDED_KERNEL:
        starts = source_of(cell).strip().splitlines()[0][:40]
        _note_error(notebook, cell, f"the cell that starts with {starts!r}", "")


def _note_error(notebook: Any, cell: Any, name: str, check: str) -> None:
    error = _error_of(cell)
    if error is None:
        return
    stopped = why_stopped(error)
    if stopped is not None:
        add_note(notebook, f"{name} was stopped, since it {stopped}", check)
        return
    why = f"{error.ename}: {error.evalue}".strip(": \n").split("\n")[0][:120]
    # IPython names a cell by a number that is another one each time.
    why = re.sub(r"\(\d+\.py, line (\d+)\)", r"(line \1)", why)
    add_note(notebook, f"{name} stopped with {why}{hint_on(notebook, cell, check, error)}", check)


def _error_of(cell: Any) -> Any:
    return next((output for output in cell.outputs if output.output_type == "error"), None)


def _read_score(notebook: Any, cell: Any) -> None:
    check, points = check_of(cell), float(cell.metadata[NBGRADER]["points"])
    error = _error_of(cell)
    if error is not None and (stopped := stopped_by_answer(check, error)) is not None:
        add_note(notebook, stopped, check)
        report_of(notebook)["exercises"].update(nothing_earned(check, error))
        cell.outputs = [*_notes_shown(notebook, check), _result(cell, 0.0)]
        return
    if error is not None:
        raise NotGraded(f"the check of {check} itself stopped with {error.ename}: {error.evalue}"[:200])
    cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    score = _number(results[0]) if len(results) == 1 else None
    if score is None:
        add_note(notebook, f"{check}: the check gave no score, so it counts as 0", check)
        result, score = _result(cell, 0.0), 0.0
    else:
        result = results[0]
        report_of(notebook)["exercises"].update(_verdicts(check, result, score))
    result.data["text/plain"] = repr(min(max(score, 0.0), points))
    others = [output for output in cell.outputs if output.output_type != "execute_result"]
    cell.outputs = [*_notes_shown(notebook, check), *others, result]


def _result(cell: Any, score: float) -> Any:
    shown = {"text/plain": repr(score)}
    return nbformat.v4.new_output("execute_result", shown, execution_count=cell.execution_count)


def _number(result: Any) -> float | None:
    try:
        number = float(result.data["text/plain"])
    except (KeyError, TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _verdicts(check: str, result: Any, score: float) -> Mapping[str, Any]:
    """The verdict on each exercise of the check; NotGraded where they are not those that its score comes from."""
    verdicts = result.data.get(VERDICT_MIME)
    try:
        if set(verdicts) != set(GROUPS[check]):
            raise ValueError
        total = sum(min(max(float(one["score"]), 0.0), float(one["points"])) for one in verdicts.values())
        states = {state for one in verdicts.values() for state in one["states"].values()}
    except (TypeError, ValueError, KeyError, AttributeError):
        raise NotGraded(f"the check of {check} gave a number without the verdicts it stands for") from None
    if "recorded" in states:
        raise NotGraded("the answer key could not be loaded where the notebook ran; see: python -m grader doctor")
    if abs(total - score) > 1e-9:
        raise NotGraded(f"the check of {check} shows {score}, but its verdicts come to {total}")
    return {name: _plain(one) for name, one in verdicts.items()}


def _plain(verdict: Any) -> dict[str, Any]:
    """Of a verdict that went through the learner's kernel, what the report shows of it."""
    return {
        "score": float(verdict["score"]),
        "points": float(verdict["points"]),
        "diagnoses": [printable(str(name)) for name in verdict.get("diagnoses", ())],
        "states": {printable(str(part)): printable(str(state)) for part, state in verdict["states"].items()},
    }


def _notes_shown(notebook: Any, check: str) -> list[Any]:
    lines = "".join(f"Note: {note['text']}.\n" for note in report_of(notebook)["notes"] if note["check"] == check)
    return [nbformat.v4.new_output("stream", name="stdout", text=lines)] if lines else []
