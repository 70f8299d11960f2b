"""Keep one of each: copies of the released cells do not count twice, and never stop the batch."""

from __future__ import annotations

import uuid
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.preprocessors.cells import (
    NBGRADER,
    add_note,
    check_of,
    grade_id_of,
    graded_cells,
    is_answer,
    metadata_of,
    name_of,
    released_for,
)
from grader.render import METADATA


class KeepOneOfEach(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of nbgrader's DeduplicateIds, which keeps the last copy and leaves metadata that stops the whole batch."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        keep_one_of_each(nb, released_for(resources))
        return nb, resources


def keep_one_of_each(notebook: Any, released: Any) -> None:
    """Leave one cell for each graded cell of `released`; cells that name no such cell become ordinary ones."""
    graded = graded_cells(released)
    by_id = {cell.get("id"): grade_id for grade_id, cell in graded.items()}
    found: dict[str, list[Any]] = {}
    for cell in notebook.cells:
        # A copy has an id of its own, so the id comes first; some editors drop ids, others metadata.
        grade_id = by_id.get(cell.get("id")) or grade_id_of(cell)
        if grade_id not in graded:
            metadata_of(cell).pop(NBGRADER, None)
        else:
            found.setdefault(grade_id, []).append(cell)
    for grade_id, cells in found.items():
        _keep_one(notebook, graded[grade_id], cells)


def _keep_one(notebook: Any, released_cell: Any, cells: list[Any]) -> None:
    answer = is_answer(released_cell)
    answered = [cell for cell in cells if _differs(cell, released_cell)] if answer else []
    candidates = answered or cells
    kept = next((cell for cell in candidates if cell.get("id") == released_cell.get("id")), candidates[0])
    metadata_of(kept)[NBGRADER] = {"grade_id": grade_id_of(released_cell)}
    for cell in cells:
        if cell is not kept:
            # An answer cell that was split, or copied and answered, ran in the learner's session and runs here too.
            _make_ordinary(cell, runs=any(cell is one for one in answered), taken_id=released_cell.get("id"))
    if len(cells) > 1 and answer:
        add_note(notebook, f"{name_of(released_cell)} was there {len(cells)} times; those that were answered were run in order",
                 check_of(released_cell))  # fmt: skip
    elif len(cells) > 1:
        add_note(notebook, f"{name_of(released_cell)} was copied; graded from the original", check_of(released_cell))


def _differs(cell: Any, released_cell: Any) -> bool:
    return str(cell.get("source", "")).strip() != str(released_cell.source).strip()


def _make_ordinary(cell: Any, *, runs: bool, taken_id: str | None) -> None:
    for key in (NBGRADER, METADATA):
        metadata_of(cell).pop(key, None)
    if cell.get("id") == taken_id:
        cell["id"] = uuid.uuid4().hex[:8]
    if not runs:
        cell["cell_type"] = "raw"
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
