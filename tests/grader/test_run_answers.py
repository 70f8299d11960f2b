"""Running a submission: what a live cell imports is there for the others, and what it measures is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.preprocessors import RunAnswers
from grader.preprocessors.skipped_imports import imports_of_skipped


def code(source: str, *tags: str) -> Any:
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def imported(live: str, below: str, above: str = "") -> list[str]:
    """The import lines that are run of `live`, between the cells `above` and `below`."""
    lines = imports_of_skipped([code(above), code(live, "live"), code(below)], 1).splitlines()
    return [line.strip() for line in lines if "import" in line]


@pytest.mark.parametrize(
    ("live", "lines"),
    [
        ("import numpy as np\nfrom math import pi, tau as full", ["import numpy as np", "from math import tau as full"]),
        ("import random\nimport os.path, sys\nos.remove('x')", ["import os.path"]),
        ("%matplotlib inline\nfrom math import tau as full", ["from math import tau as full"]),
        ("from math import tau as full\nthis is no Python", []),
        ("def f():\n    import os", []),
    ],
)  # fmt: skip
def test_only_the_imports_that_a_cell_below_needs_are_run(live: str, lines: list[str]) -> None:
    assert imported(live, "print(np.ones(full), os.getcwd())") == lines


def test_a_name_that_the_learner_has_set_above_stays_what_it_is() -> None:
    assert imported("from math import pi", "area = pi", above="pi = 3") == []
    assert imported("from math import pi", "pi = pi + 1") == ["from math import pi"]


def test_an_answer_may_use_what_only_a_live_cell_imports_and_nothing_that_it_measures(tmp_path: Path) -> None:
    live = "import not_installed_here\nfrom math import tau\nmeasured = print('ran')"
    notebook = nbformat.v4.new_notebook(metadata={"llmserving": {"learner": "default"}})
    notebook.cells = [code(live, "live"), code("tau"), code("not_installed_here"), code("measured")]
    before = [cell.source for cell in notebook.cells]
    runner: Any = RunAnswers  # nbclient's own asks for the notebook already here
    runner().preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    skipped, known, *others = (cell.outputs for cell in notebook.cells)
    assert [cell.source for cell in notebook.cells] == before
    assert skipped == []
    assert known[0].data["text/plain"] == "6.283185307179586"
    assert [outputs[0].ename for outputs in others] == ["NameError", "NameError"]
