"""Cells of the labs in a kernel in which nothing else ran: a restart, or a jump into the middle, ends in a sentence at most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grader.course import read_notebook
from grader.selftest.kernel_session import kernel
from llmserving.exercises.course import LEVELS
from llmserving.exercises.missing_names import said_of_missing

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LABS = [notebook.path for level in LEVELS for notebook in level.labs]


def cells_between_the_exercises(path: str) -> Iterator[Any]:
    """From the last to the first, so that no cell finds what one before it has imported or set."""
    for cell in reversed(read_notebook(NOTEBOOKS / f"{path}.ipynb").cells):
        if cell.cell_type == "code" and "llmserving" not in cell.metadata:
            yield cell


@pytest.mark.slow
@pytest.mark.parametrize("path", LABS)
def test_a_cell_that_is_run_alone_lacks_nothing_but_what_a_cell_above_is_said_to_set(path: str) -> None:
    sources = "\n".join(cell.source for cell in read_notebook(NOTEBOOKS / f"{path}.ipynb").cells)
    with kernel() as run:
        run("import llmserving")  # from then on a name that is not set is told in a sentence
        for cell in cells_between_the_exercises(path):
            if error := run(cell.source).get("error"):
                lacks = re.fullmatch(r"NameError: name '(\w+)' is not defined", error)
                assert lacks, f"{cell.id}: {error}"
                name = lacks[1]
                assert said_of_missing(name) or re.search(rf"^{name}\b.* = ", sources, re.MULTILINE), (
                    f"{cell.id}: {error}"
                )
