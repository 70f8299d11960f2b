"""Run a notebook of the instructor's from end to end, every cell, with the network blocked, and weigh it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from grader.selftest.kernel_session import BLOCK_NETWORK
from llmserving.exercises.session import RECORDS_VARIABLE
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)

_WEIGH = """
import json, resource
_usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpu_s": _usage.ru_utime + _usage.ru_stime, "peak_bytes": _usage.ru_maxrss * 1024}))
"""


@dataclass(frozen=True)
class Run:
    notebook: Any
    cpu_s: float
    peak_bytes: int

    def outputs(self, cell_id: str) -> list[Any]:
        return next(cell.outputs for cell in self.notebook.cells if cell.get("id") == cell_id)


def run_offline(path: Path, folder: Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run a copy of the notebook in `folder`; an error in a cell raises, and so does any use of the network.

    environment: variables beside this process's own; no records are kept unless they say so.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BLOCK_NETWORK))
    notebook.cells.append(nbformat.v4.new_code_cell(_WEIGH))
    client = NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, RECORDS_VARIABLE: "off", **(environment or {})})
    notebook.cells.pop(0)
    weight = json.loads(notebook.cells.pop().outputs[0].text)
    return Run(notebook, weight["cpu_s"], weight["peak_bytes"])
