"""Imports of cells that are not run: they measure nothing, and in the learner's session the names were there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from grader.preprocessors.cells import runs, source_of
from grader.preprocessors.names import names_set, names_used, parsed


def imports_of_skipped(cells: Sequence[Any], place: int) -> str:
    """Python for what the cell at `place`, which is not run, imports and a cell that is run needs; "" for nothing.

    A name that a cell above sets stays what it is. An import that fails leaves its name unset, and the cell that uses it
    says so.
    """
    tree = parsed(source_of(cells[place]))
    if tree is None:
        return ""
    used = {name for cell in cells if runs(cell) for name in names_used(source_of(cell))}
    already = {name for cell in cells[:place] if runs(cell) for name in names_set(source_of(cell))}
    wanted = used - already
    lines = [ast.unparse(line) for line in _imports(tree, wanted)]
    return "\n".join(f"try:\n    {line}\nexcept Exception:\n    pass" for line in lines)


def _imports(tree: ast.Module, wanted: set[str]) -> Iterator[ast.Import | ast.ImportFrom]:
    for line in tree.body:
        if not isinstance(line, ast.Import | ast.ImportFrom):
            continue
        line_wanted = [alias for alias in line.names if (alias.asname or alias.name).split(".")[0] in wanted]
        if not line_wanted:
            continue
        if isinstance(line, ast.Import):
            yield ast.Import(line_wanted)
        else:
            yield ast.ImportFrom(line.module, line_wanted, line.level)
