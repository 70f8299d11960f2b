"""What the preprocessors share: which released cell a submitted one is, and the notes they leave in the notebook.

A submission can hold anything, so nothing is taken for granted about its cells' metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from llmserving.exercises import EXERCISES, GROUPS

from grader.attention import printable
from grader.releases import latest_release, released_notebook
from grader.render import LIVE_TAG, METADATA

NBGRADER = "nbgrader"
REPORT = "report"


def released_for(resources: Mapping[str, Any]) -> Any:
    """The release that the notebook in `resources` belongs to, with the numbers of the folder it lies in.

    nbgrader changes into the class folder while it converts.
    """
    at = resources["nbgrader"]
    learner = latest_release(Path.cwd(), at["assignment"]).learner_of(at["student"])
    released = released_notebook(Path.cwd(), at["assignment"], at["notebook"], learner)
    for place, cell in enumerate(released.cells):
        # A notebook that an instructor has added may be older than ids.
        cell.setdefault("id", f"released-{place}")
    return released


def metadata_of(cell: Any) -> Any:
    """The cell's metadata, made a mapping if it is none."""
    if not isinstance(cell.get("metadata"), dict):
        cell["metadata"] = nbformat.from_dict({})
    return cell["metadata"]


def grade_id_of(cell: Any) -> str | None:
    named = metadata_of(cell).get(NBGRADER)
    grade_id = named.get("grade_id") if isinstance(named, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def graded_cells(released: Any) -> dict[str, Any]:
    """grade_id -> released cell, in the order of the notebook."""
    return {grade_id: cell for cell in released.cells if (grade_id := grade_id_of(cell)) is not None}


def is_answer(released_cell: Any) -> bool:
    return bool(released_cell.metadata[NBGRADER]["solution"])


def is_of(cell: Any, role: str) -> bool:
    """Whether the cell is of the course and has this role: statement, answer, check."""
    return bool(cell.metadata.get(METADATA, {}).get("role") == role)


def name_of(released_cell: Any) -> str:
    """How a note names the cell: 'L2.1: the check cell'; a cell that an instructor has added goes by its grade_id."""
    belongs = released_cell.metadata.get(METADATA)
    if belongs is None:
        return f"the cell {grade_id_of(released_cell)}"
    return f"{belongs['exercise']}: the {belongs['role']}{'' if belongs['role'] == 'statement' else ' cell'}"


def check_of(released_cell: Any) -> str:
    """The id of the check that stands for the cell's exercise; "" for a cell of no exercise."""
    name: str = released_cell.metadata.get(METADATA, {}).get("exercise", "")
    return (EXERCISES[name].group or name) if name in EXERCISES else name


def variables_of(check: str) -> list[str]:
    """The variables that a check reads; none for a check that is not the course's. A recording is in no variable."""
    parts = [part for name in GROUPS.get(check, ()) for part in EXERCISES[name].parts]
    return [part.variable for part in parts if part.kind != "measurement"]


def source_of(cell: Any) -> str:
    source = cell.get("source")
    return source if isinstance(source, str) else ""


def runs(cell: Any) -> bool:
    """Whether grading runs the cell."""
    tags = metadata_of(cell).get("tags")
    return cell.get("cell_type") == "code" and not (isinstance(tags, list) and LIVE_TAG in tags)


def start_report(notebook: Any, student: str, learner: str) -> None:
    """Begin our report in the notebook's metadata; one that came with the submission is thrown away."""
    notebook.metadata[METADATA] = nbformat.from_dict(
        {"learner": learner, REPORT: {"student": student, "notes": [], "exercises": {}}}
    )


def add_note(notebook: Any, text: str, check: str = "") -> None:
    """check: the id of the check beside which the learner reads the note; none where it concerns the whole notebook.

    Whoever shows a note ends it with a full stop; an error's own words may have one already.
    """
    text = printable(text).rstrip().removesuffix(".")
    report_of(notebook)["notes"].append(nbformat.from_dict({"check": check, "text": text}))


def report_of(notebook: Any) -> Any:
    return notebook.metadata[METADATA][REPORT]
