"""Recognise: which cells of a submission are which cells of the release, whatever an editor has dropped of them.

In this order: the cell's id, nbgrader's grade_id, our role and exercise, and last the source. What a cell says of itself
names the released cell and nothing more; type, points, tags and source of a locked cell are the release's.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Any

from grader.preprocessors.cells import check_of, grade_id_of, is_answer, metadata_of, source_of, variables_of
from grader.preprocessors.names import names_set
from grader.render import ANSWER_HEADS, METADATA

_CHECKED = re.compile(r"""\bcheck\(\s*["']([^"']+)["']""")


def recognise(notebook: Any, released: Any) -> dict[int, list[Any]]:
    """Index in the release -> the cells that are it or copies of it, in the order of the notebook."""
    by_mark: dict[Hashable, int] = {}
    for index, cell in enumerate(released.cells):
        for mark in _marks(cell):
            by_mark.setdefault(mark, index)
    found: dict[int, list[Any]] = {}
    unknown = []
    for cell in notebook.cells:
        # A copy has an id of its own, so the id comes first.
        at = next((by_mark[mark] for mark in _marks(cell) if mark in by_mark), None)
        if at is None:
            unknown.append(cell)
        else:
            found.setdefault(at, []).append(cell)
    for cell in unknown:
        at = next((at for at in _by_source(cell, released, found) if at not in found), None)
        if at is not None:
            found[at] = [cell]
    return found


def _marks(cell: Any) -> Iterator[Hashable]:
    if isinstance(cell.get("id"), str):
        yield "id", cell["id"]
    grade_id = grade_id_of(cell)
    if grade_id is not None:
        yield "grade_id", grade_id
    belongs = metadata_of(cell).get(METADATA)
    if isinstance(belongs, dict) and isinstance(belongs.get("exercise"), str):
        yield "exercise", belongs["exercise"], str(belongs.get("role"))


def _by_source(cell: Any, released: Any, found: dict[int, list[Any]]) -> Iterator[int]:
    """Released cells that `cell` could be by what stands in it: an answer before a check, for where they were merged."""
    source = _plain(source_of(cell))
    if not source:
        return
    checked = set(_CHECKED.findall(source)) if cell.get("cell_type") == "code" else set()
    # Without the head line it is a cell of the learner's own that holds the answer: see own_answers.
    answered = names_set(source, stubs=True) if source.startswith(ANSWER_HEADS) else set()
    for at, one in enumerate(released.cells):
        graded = grade_id_of(one) is not None
        if (
            at not in found
            and graded
            and is_answer(one)
            and one.cell_type == "code"
            and answered & set(variables_of(check_of(one)))
        ):
            yield at
    for at, one in enumerate(released.cells):
        if at not in found and one.cell_type == cell.get("cell_type") and source == _plain(one.source):
            yield at
    for at, one in enumerate(released.cells):
        if at not in found and _is_check(one) and check_of(one) in checked:
            yield at


def _is_check(released_cell: Any) -> bool:
    return bool(released_cell.metadata.get(METADATA, {}).get("role") == "check")


def _plain(source: str) -> str:
    """Without the spaces at the ends of lines, which not every editor keeps."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
