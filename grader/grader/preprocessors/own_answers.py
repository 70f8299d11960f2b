"""Own answers: an answer given in another cell than the answer cell counts, and no stub runs over it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.exercise import CODE_KINDS

from grader.preprocessors.cells import add_note, check_of, name_of, runs, source_of, variables_of
from grader.preprocessors.names import names_set


def take_own_answers(
    notebook: Any, answer: Any, own: Sequence[Any], *, missing: bool, after: Sequence[Any]
) -> list[Any]:
    """The cells of `own` that set what the answer cell leaves open; its stub lines for that are taken out.

    missing: whether the answer cell was put back because it was gone. after: cells that stand after the check.
    """
    check = check_of(answer)
    code_stubs = _code_stubs_in(answer.source, check)
    left_open = set(variables_of(check)) - names_set(answer.source) | set(code_stubs)
    givers = [cell for cell in own if runs(cell) and names_set(source_of(cell)) & left_open]
    given = {name for cell in givers for name in names_set(source_of(cell))} & left_open
    before = answer.source
    for name in given:
        answer.source = answer.source.replace(code_stubs.get(name, "\0"), "")
        answer.source = re.sub(rf"^{name}\s*=\s*\.\.\.[ \t]*\n?", "", answer.source, flags=re.MULTILINE)
    took = "the answer was taken from a cell of the learner's own"
    if missing:
        state = f"was missing; {took if givers else 'it was added back untouched'}"
        add_note(notebook, f"{name_of(answer)} {state}", check)
    elif answer.source != before or any(cell is one for cell in givers for one in after):
        add_note(notebook, f"{name_of(answer)} was left open; {took}", check)
    return givers


def _code_stubs_in(source: str, check: str) -> dict[str, str]:
    """Functions and classes of the check that are still as they were released, and nowhere written: name -> stub."""
    parts = [part for name in GROUPS.get(check, ()) for part in EXERCISES[name].parts if part.kind in CODE_KINDS]
    stubs = {part.variable: part.stub for part in parts if part.stub}
    return {
        name: stub for name, stub in stubs.items() if stub in source and name not in names_set(source.replace(stub, ""))
    }
