"""Own words: the cell below an argument for the learner's own text, optional, or graded by hand for points."""

from __future__ import annotations

from typing import Any

import nbformat
from llmserving.units import format_number

NBGRADER = "nbgrader"
OWN_WORDS = "own-words"
_METADATA = "llmserving"  # render has it too, and builds on this file

_WHEN_IT_OPENS = (
    "The next cell shows what an answer must hold, once {} is solved or two different answers were checked; in a class, once "
    "the instructor has opened the solutions too."
)


def own_words_source(name: str, points: float) -> str:
    """The text of the cell before the learner writes in it; points: 0 where it is not graded."""
    worth = f"{format_number(points)} {'point' if points == 1 else 'points'}, graded by hand" if points else "optional"
    then = f" {_WHEN_IT_OPENS.format(name)}" if points == 0 else ""
    return (
        f"**In your own words, {name}** ({worth}): double-click here and write why, in two or three sentences, as you would "
        f"tell a colleague.{then}"
    )


def points_of(cell: Any) -> float:
    """What the cell is worth as it was released; 0 where it is not graded."""
    return float(cell.metadata.get(NBGRADER, {}).get("points", 0))


def is_own_words(cell: Any) -> bool:
    """Whether a cell of the course's or of a release is one for the learner's own text."""
    belongs = cell.metadata.get(_METADATA)
    return isinstance(belongs, dict) and belongs.get("role") == OWN_WORDS


def graded_by_hand(notebook: Any, points: float) -> None:
    """Make each of these cells one that nbgrader has graded by hand, as an answer and its grade in one; none for 0 points."""
    for cell in notebook.cells if points else ():
        if not is_own_words(cell):
            continue
        name = cell.metadata[_METADATA]["exercise"]
        cell.metadata[NBGRADER] = nbformat.from_dict(
            {
                "grade_id": f"{name}-{OWN_WORDS}".replace(".", "_"),
                "grade": True,
                "solution": True,
                "locked": False,
                "task": False,
                "schema_version": 3,
                "points": int(points) if points == int(points) else points,
            }
        )
        cell.metadata["deletable"] = False
        cell.source = own_words_source(name, points)
