"""Execute the instructor's notebooks and store their outputs, so that they can be read, and compared, without running."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellExecutionError

from grader.course import course_files, read_notebook, write_notebook
from grader.errors import UserError
from grader.kernel import KERNEL
from grader.notebook_kernel import NotebookKernel
from grader.student_version import tidied

# Names a live kernel's widget, with a random id: without that kernel it shows an error in place of the text beside it.
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def execute_all(notebooks: Path) -> list[Path]:
    """Run every notebook, in a copy of the folder, and store the outputs in the originals; the names, in order."""
    with tempfile.TemporaryDirectory() as somewhere:
        copies = Path(somewhere) / "notebooks"
        shutil.copytree(notebooks, copies, ignore=shutil.ignore_patterns(".*"))
        for name in course_files(notebooks):
            write_notebook(executed(read_notebook(notebooks / name), copies / name), notebooks / name)
    return course_files(notebooks)


def executed(notebook: Any, path: Path) -> Any:
    """`notebook` with fresh outputs; UserError with the cell and its error where one stops."""
    client = NotebookKernel(
        notebook,
        timeout=120,
        kernel_name=KERNEL,
        record_timing=False,
        coalesce_streams=True,  # what is printed letter by letter is kept in one piece
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise UserError(f"{path.parent.name}/{path.name} stopped with {error.ename}: {error.evalue}") from None
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(_WIDGET_VIEW, None)
    return tidied(notebook)
