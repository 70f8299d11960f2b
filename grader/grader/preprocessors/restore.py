"""Restore: of a submission's graded cells only the answers are the learner's; everything else comes from the release."""

from __future__ import annotations

import copy
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.preprocessors.cells import (
    add_note,
    check_of,
    grade_id_of,
    graded_cells,
    is_answer,
    metadata_of,
    name_of,
    released_for,
)


class RestoreFromRelease(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of nbgrader's OverwriteCells, which restores the source of a locked cell and leaves its tags.

    A check cell tagged `skip-execution` would not be run, and silence earns full marks.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        restore_from_release(nb, released_for(resources))
        return nb, resources


def restore_from_release(notebook: Any, released: Any) -> None:
    """Every graded cell of `released` is in `notebook` afterwards, with the release's type, metadata and tags."""
    graded = graded_cells(released)
    notebook.cells = [_restored(notebook, cell, graded.get(grade_id_of(cell) or "")) for cell in notebook.cells]
    _restore_tags(notebook, released)
    for position, cell in enumerate(released.cells):
        grade_id = grade_id_of(cell)
        if grade_id is None or any(grade_id_of(present) == grade_id for present in notebook.cells):
            continue
        notebook.cells.insert(_place_after(notebook, released.cells[:position]), copy.deepcopy(cell))
        state = "untouched" if is_answer(cell) else "from the release"
        add_note(notebook, f"{name_of(cell)} was missing; it was added back {state}", check_of(cell))


def _restored(notebook: Any, cell: Any, released_cell: Any) -> Any:
    if released_cell is None:
        return cell
    restored = copy.deepcopy(released_cell)
    if is_answer(released_cell):
        restored.source = cell.source if isinstance(cell.get("source"), str) else ""
    elif _changed(cell, released_cell):
        add_note(notebook, f"{name_of(released_cell)} was changed; the released one was graded",
                 check_of(released_cell))  # fmt: skip
    return restored


def _changed(cell: Any, released_cell: Any) -> bool:
    same_source = str(cell.get("source", "")).strip() == released_cell.source.strip()
    return not same_source or cell.get("cell_type") != released_cell.cell_type or _tags(cell) != _tags(released_cell)


def _restore_tags(notebook: Any, released: Any) -> None:
    """Other cells of the release keep what the learner made of them, but run or do not run as in the release."""
    tags = {cell.get("id"): _tags(cell) for cell in released.cells if grade_id_of(cell) is None}
    for cell in notebook.cells:
        released_tags = tags.get(cell.get("id"))
        if grade_id_of(cell) is None and released_tags is not None and _tags(cell) != released_tags:
            metadata_of(cell)["tags"] = list(released_tags)


def _tags(cell: Any) -> list[Any]:
    tags = metadata_of(cell).get("tags", [])
    return sorted(map(str, tags)) if isinstance(tags, list) else [str(tags)]


def _place_after(notebook: Any, earlier: list[Any]) -> int:
    """The index after the last cell of the release before it that is still there, or the top."""
    for anchor in reversed(earlier):
        for index, cell in enumerate(notebook.cells):
            known = grade_id_of(anchor)
            if grade_id_of(cell) == known if known else cell.get("id") == anchor.get("id"):
                return index + 1
    return 0
