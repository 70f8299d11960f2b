"""Show the rubrics: under each text that is graded by hand, in the graded notebook and nowhere before."""

from __future__ import annotations

from typing import Any

import nbformat
from llmserving.units import format_number
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.answer_key.rubrics import RUBRICS
from grader.own_words import is_own_words, points_of
from grader.render import METADATA


class ShowRubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """nbgrader strips an instructor's model answer from the release and never brings it back; formgrader shows the graded
    notebook, so that is where the rubric has to stand.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        show_rubrics(nb)
        return nb, resources


def show_rubrics(notebook: Any) -> None:
    """After each of these cells, one with what it is held against."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if is_own_words(cell) and points_of(cell):
            cells.append(_rubric_cell(cell.metadata[METADATA]["exercise"], points_of(cell)))
    notebook.cells = cells


def _rubric_cell(name: str, points: float) -> Any:
    reasons = "\n".join(f"- {reason}" for reason in RUBRICS[name])
    share = format_number(points / len(RUBRICS[name]))
    text = f"**Rubric, {name}**: about {share} of {format_number(points)} points for each reason, in whatever words.\n\n{reasons}"
    return nbformat.v4.new_markdown_cell(text)
