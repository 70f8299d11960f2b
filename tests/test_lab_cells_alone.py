"""A cell of a level 5 lab that goes on from an answer can be run before it, or alone after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.selftest.as_run import run_cell
from llmserving import faults
from llmserving.exercises import session

LABS = Path(__file__).parents[1] / "notebooks" / "L5"


def _cells(*labs: str) -> Iterator[Any]:
    for lab in labs:
        for cell in nbformat.read(LABS / f"{lab}.ipynb", as_version=4).cells:
            if cell.cell_type == "code" and "llmserving" not in cell.metadata:
                yield pytest.param(cell.source, id=f"{lab}: {cell.id}")


@pytest.mark.parametrize("source", [*_cells("lab_clinic", "lab_faults")])
def test_a_cell_runs_alone(source: str) -> None:
    run_cell(source)


def test_what_no_cell_has_set_says_so_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError, match="no cell has set MendedAsh; run its answer cell first"):
        session.yours("MendedAsh")(8, 4)
    monkeypatch.setattr(session, "namespace", lambda: {"MendedAsh": faults.Ash})
    assert session.yours("MendedAsh") is faults.Ash
