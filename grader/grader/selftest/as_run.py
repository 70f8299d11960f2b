"""What an answer cell leaves behind once it was run, for code and recordings that the key writes as lines of a cell."""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Mapping
from typing import Any

from llmserving.exercises import Exercise, Part

from grader.answer_key.sources import Source

_cells = itertools.count()


def run_cell(source: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names that a cell sets, beside those that are set already; IPython keeps a cell's source in the same way."""
    names = {} if names is None else names
    file = f"<cell {next(_cells)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names


def as_answers(exercise: Exercise, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as `solutions` gives them, as what the learner's variables hold once the answer cell was run."""
    return {name: _answer(exercise.part_by_name[name], value) for name, value in parts.items()}


def _answer(part: Part, value: Any) -> Any:
    """Under the part's name, or of a call of `record` what it is called with."""
    if not isinstance(value, Source):
        return value
    if part.kind != "measurement":
        return run_cell(value)[part.variable]
    call = ast.parse(value).body[-1]
    if not isinstance(call, ast.Expr) or not isinstance(call.value, ast.Call):
        raise ValueError(f"a recording ends in a call, but this does not: {value}")
    return {str(given.arg): ast.literal_eval(given.value) for given in call.value.keywords}
