"""Restore: of a submission's graded cells only the answers are the learner's; everything else comes from the release."""

from __future__ import annotations

import copy
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.own_words import is_own_words
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
    source_of,
)
from grader.preprocessors.order import in_release_order, put_in_order
from grader.preprocessors.own_answers import take_own_answers
from grader.render import LIVE_TAG


class RestoreFromRelease(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of nbgrader's OverwriteCells, which restores the source of a locked cell and leaves its tags.

    A check cell tagged `skip-execution` would not be run, and silence earns full marks.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        restore_from_release(nb, released_for(resources))
        return nb, resources


def restore_from_release(notebook: Any, released: Any) -> None:
    """Every graded cell of `released` is in `notebook` afterwards, in its place, with its type, metadata and tags.

    After keep_one_of_each: a released cell has its released id, and nothing else has.
    """
    graded = graded_cells(released)
    notebook.cells = [_restored(notebook, cell, graded.get(grade_id_of(cell) or "")) for cell in notebook.cells]
    _restore_tags(notebook, released)
    present = {cell["id"]: cell for cell in notebook.cells}
    wanted = [
        present.get(cell["id"]) or copy.deepcopy(cell)
        for cell in released.cells
        if cell["id"] in present or grade_id_of(cell) is not None
    ]
    if not in_release_order(notebook.cells, wanted):
        add_note(notebook, "cells of the notebook were out of order; they were put back in the order of the release")
    latest = _own_answers(notebook, wanted, present)
    notebook.cells = put_in_order(notebook.cells, wanted, latest)


def _own_answers(notebook: Any, wanted: list[Any], present: dict[str, Any]) -> dict[str, str]:
    """Id of a cell of the learner's own that holds an answer -> id of the check it has to run before."""
    released_ids = {cell["id"] for cell in wanted}
    own = [cell for cell in notebook.cells if cell["id"] not in released_ids]
    checks = {
        check_of(cell): cell
        for cell in wanted
        if grade_id_of(cell) and cell.metadata[NBGRADER]["grade"] and not is_own_words(cell)
    }
    latest: dict[str, str] = {}
    for cell in wanted:
        if grade_id_of(cell) is None:
            continue
        missing, check = cell["id"] not in present, checks.get(check_of(cell))
        if is_answer(cell) and not is_own_words(cell):
            after = _after(notebook.cells, check)
            for giver in take_own_answers(notebook, cell, own, missing=missing, after=after):
                # One cell may hold several answers: it runs before the first check.
                if check is not None:
                    latest.setdefault(giver["id"], check["id"])
        elif missing:
            add_note(notebook, f"{name_of(cell)} was missing; it was added back from the release", check_of(cell))
    return latest


def _after(cells: list[Any], check: Any) -> list[Any]:
    place = next((place for place, cell in enumerate(cells) if cell is check), len(cells))
    return cells[place:]


def _restored(notebook: Any, cell: Any, released_cell: Any) -> Any:
    if released_cell is None:
        return cell
    restored = copy.deepcopy(released_cell)
    if is_answer(released_cell):
        restored.source = source_of(cell)
    elif _changed(cell, released_cell):
        add_note(notebook, f"{name_of(released_cell)} was changed; the released one was graded",
                 check_of(released_cell))  # fmt: skip
    return restored


def _changed(cell: Any, released_cell: Any) -> bool:
    same_source = source_of(cell).strip() == released_cell.source.strip()
    return not same_source or cell.get("cell_type") != released_cell.cell_type or _tags(cell) != _tags(released_cell)


def _restore_tags(notebook: Any, released: Any) -> None:
    """Other cells of the release keep what the learner made of them, but run or do not run as in the release.

    A cell of the learner's own runs, `live` or not: the tag came with a copy more often than not, an answer that uses
    the cell worked in the learner's session, and the cell may do nothing that one without the tag may not. Only a plain
    copy of a live cell stays out, as its original does.
    """
    tags = {cell["id"]: _tags(cell) for cell in released.cells if grade_id_of(cell) is None}
    live = [cell.source.strip() for cell in released.cells if LIVE_TAG in _tags(cell)]
    for cell in notebook.cells:
        if grade_id_of(cell) is not None:
            continue
        if cell["id"] in tags:
            wanted = tags[cell["id"]]
        elif LIVE_TAG in _tags(cell) and source_of(cell).strip() not in live:
            wanted = [tag for tag in _tags(cell) if tag != LIVE_TAG]
        else:
            continue
        if _tags(cell) != wanted:
            metadata_of(cell)["tags"] = list(wanted)


def _tags(cell: Any) -> list[Any]:
    tags = metadata_of(cell).get("tags", [])
    return sorted(map(str, tags)) if isinstance(tags, list) else [str(tags)]
