"""The student version of a notebook: no solution, no stored output, locked cells locked, one learner's numbers."""

from __future__ import annotations

from typing import Any

import nbformat
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells

from grader.render import METADATA, render_notebook

# An answer cell keeps its `name = ...` lines, so nothing has to be put in the place of the solution.
CODE_STUB = {"python": ""}

_FOR_EVERYONE = {"kernelspec", "language_info", METADATA}


def student_version(notebook: Any, learner: str) -> Any:
    """What a learner gets, from the instructor's notebook; the same steps that nbgrader's release takes."""
    copy: Any = nbformat.from_dict(notebook)
    resources: Any = {}
    for step in (LockCells(), ClearSolutions(code_stub=CODE_STUB), ClearOutput()):
        copy, resources = step.preprocess(copy, resources)
    return for_learner(tidied(copy), learner)


def tidied(notebook: Any) -> Any:
    """`notebook` without what belongs to somebody else's session: widget state, timings, an interpreter's version."""
    notebook.metadata = nbformat.from_dict(
        {key: notebook.metadata[key] for key in _FOR_EVERYONE & set(notebook.metadata)}
    )
    if "language_info" in notebook.metadata:
        notebook.metadata.language_info = {"name": notebook.metadata.language_info.get("name", "python")}
    for cell in notebook.cells:
        for key in ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(key, None)
    return notebook


def for_learner(notebook: Any, learner: str) -> Any:
    """A student version rendered again with `learner`'s numbers, checksums included."""
    copy, _ = ComputeChecksums().preprocess(render_notebook(notebook, learner), {})
    return copy
