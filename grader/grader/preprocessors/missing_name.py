"""A missing name: why an answer that worked in the learner's session stops here with NameError."""

from __future__ import annotations

import ast
import re
from typing import Any

from llmserving.exercises import EXERCISES, GROUPS

from grader.preprocessors.cells import runs, source_of
from grader.preprocessors.names import names_set, parsed

_NAME = re.compile(r"name '([^']+)' is not defined")


def hint_on(notebook: Any, cell: Any, check: str, error: Any) -> str:
    """What to add to the note on `error`, which stopped `cell`; "" for nothing."""
    found = _NAME.search(str(error.evalue)) if error.ename == "NameError" else None
    if found is None:
        return ""
    name = found.group(1)
    blamed = _not_run(notebook, name, {id(cell)})
    if blamed is not None:
        uses = f"`{name}`" if blamed == name else f"`{name}`, which needs `{blamed}`"
        return (
            f"; it uses {uses}, which is set only in a cell that is not run when grading; "
            "an answer cell must set what it needs"
        )
    if name in _bare_letters(source_of(cell), check):
        return f'; a letter is written in quotes: "{name}"'
    return ""


def _not_run(notebook: Any, name: str, seen: set[int]) -> str | None:
    """The name that only a cell that is not run sets: `name`, or one that a cell which was to set `name` stopped for."""
    setting = [cell for cell in notebook.cells if cell.cell_type == "code" and name in names_set(source_of(cell))]
    run = [cell for cell in setting if runs(cell)]
    if setting and not run:
        return name
    for cell in run:
        if id(cell) in seen:
            continue
        error = next((output for output in cell.get("outputs", []) if output.output_type == "error"), None)
        needed = _NAME.search(str(error.evalue)) if error is not None else None
        blamed = _not_run(notebook, needed.group(1), seen | {id(cell)}) if needed is not None else None
        if blamed is not None:
            return blamed
    return None


def _bare_letters(source: str, check: str) -> set[str]:
    """Letters without quotes that the cell gives as the answer to a choice."""
    choices = {
        part.variable: part.all_letters
        for exercise_id in GROUPS.get(check, ())
        for part in EXERCISES[exercise_id].parts
        if part.options
    }
    tree = parsed(source)
    given = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)] if tree is not None else []
    return {
        name.id
        for node in given
        for target in node.targets
        for name in ast.walk(node.value)
        if isinstance(target, ast.Name) and isinstance(name, ast.Name)
        if name.id.upper() in choices.get(target.id, ())
    }
