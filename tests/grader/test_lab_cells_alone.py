"""Cells of level 3's labs in a kernel in which nothing else ran: a restart, or a jump into the middle, ends in no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grader.course import read_notebook
from grader.selftest.kernel_session import kernel

FOLDER = Path(__file__).parents[2] / "notebooks/L3"


def cells_between_the_exercises(name: str) -> Iterator[Any]:
    """From the last to the first, so that no cell finds what one before it has imported or set."""
    for cell in reversed(read_notebook(FOLDER / f"{name}.ipynb").cells):
        if cell.cell_type == "code" and "llmserving" not in cell.metadata:
            yield cell


@pytest.mark.parametrize("name", ["lab_paging", "lab_quantization"])
def test_a_cell_that_goes_on_from_an_answer_says_that_there_is_none(name: str) -> None:
    told = {}
    with kernel() as run:
        for cell in cells_between_the_exercises(name):
            told[cell.id] = run(cell.source)
            assert "error" not in told[cell.id], f"{cell.id}: {told[cell.id]['error']}"
    if name == "lab_paging":
        assert "no cell has set PagedKV; run its answer cell first" in told["every-script"]["stdout"]
        assert "counted on PagedAllocator" in told["measure-waste"]["stdout"]
    else:
        assert "round_trip is not written yet: no cell has set round_trip" in told["own-row"]["stdout"]
        assert "Record your prediction first" in told["measure-matmul"]["stdout"]
