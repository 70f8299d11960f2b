"""Keep one of each: copies of the released cells do not count twice, and never stop the batch."""

from __future__ import annotations

import re
import uuid
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.errors import NotGraded
from grader.own_words import is_own_words
from grader.preprocessors.cells import (
    NBGRADER,
    add_note,
    check_of,
    grade_id_of,
    is_answer,
    metadata_of,
    name_of,
    released_for,
    source_of,
)
from grader.preprocessors.places import Places, best_placed, places_in
from grader.preprocessors.recognise import recognise
from grader.render import METADATA

# What the notebook format takes for a cell's id.
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class KeepOneOfEach(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of nbgrader's DeduplicateIds, which keeps the last copy and leaves metadata that stops the whole batch."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        keep_one_of_each(nb, released_for(resources))
        return nb, resources


def keep_one_of_each(notebook: Any, released: Any) -> None:
    """Leave one cell for each cell of `released`, with the released id; whatever else there is becomes ordinary.

    NotGraded where not one of the graded cells is recognised: that is another notebook, or one that something has
    mangled, and no zero.
    """
    found = recognise(notebook, released)
    graded = [index for index, cell in enumerate(released.cells) if grade_id_of(cell) is not None]
    if graded and not any(index in found for index in graded):
        raise NotGraded(
            "not one of the released statements, answer cells and checks was recognised in it; "
            "is it another notebook, or an emptied one?"
        )
    known = {id(cell) for index in graded for cell in found.get(index, ())}
    for cell in notebook.cells:
        if id(cell) not in known:
            metadata_of(cell).pop(NBGRADER, None)
    places = places_in(notebook, found)
    kept = {}
    for index, cells in found.items():
        released_cell = released.cells[index]
        if index in graded:
            kept[index] = _keep_one(notebook, released_cell, index, cells, places)
        else:
            kept[index] = best_placed(cells, index, places, released_cell.get("id"))
    _settle_ids(notebook, {id(cell): released.cells[index].get("id") for index, cell in kept.items()})


def _keep_one(notebook: Any, released_cell: Any, index: int, cells: list[Any], places: Places) -> Any:
    answer = is_answer(released_cell)
    answered = [cell for cell in cells if _differs(cell, released_cell)] if answer else []
    kept = best_placed(answered or cells, index, places, released_cell.get("id"))
    metadata_of(kept)[NBGRADER] = {"grade_id": grade_id_of(released_cell)}
    for cell in cells:
        if cell is not kept:
            # An answer cell that was split, or copied and answered, ran in the learner's session and runs here too.
            _make_ordinary(cell, runs=any(cell is one for one in answered))
    if len(cells) > 1 and is_own_words(released_cell):
        add_note(notebook, f"{name_of(released_cell)} was there {len(cells)} times; one of them is graded, look at the others",
                 check_of(released_cell))  # fmt: skip
    elif len(cells) > 1 and answer:
        add_note(notebook, f"{name_of(released_cell)} was there {len(cells)} times; those that were answered were run in order",
                 check_of(released_cell))  # fmt: skip
    elif len(cells) > 1:
        add_note(notebook, f"{name_of(released_cell)} was copied; graded from the original", check_of(released_cell))
    return kept


def _settle_ids(notebook: Any, released_ids: dict[int, str | None]) -> None:
    """Every cell has an id, no two the same; those kept have the release's. released_ids: by the cell's identity."""
    notebook["nbformat_minor"] = max(notebook.get("nbformat_minor", 0), 5)
    taken = set(released_ids.values())
    for cell in notebook.cells:
        wanted = cell.get("id")
        if id(cell) in released_ids:
            cell["id"] = released_ids[id(cell)]
        elif not isinstance(wanted, str) or not _ID.match(wanted) or wanted in taken:
            cell["id"] = uuid.uuid4().hex[:8]
        taken.add(cell["id"])


def _differs(cell: Any, released_cell: Any) -> bool:
    return source_of(cell).strip() != str(released_cell.source).strip()


def _make_ordinary(cell: Any, *, runs: bool) -> None:
    for key in (NBGRADER, METADATA):
        metadata_of(cell).pop(key, None)
    if not runs:
        cell["cell_type"] = "raw"
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
