"""Run a submission: of live cells only imports, in the kernel whose answer key `grade` has asked for, to the end.

A cell that ends the kernel, or that cannot be interrupted, is left out, and the others run without it: what is wrong with
one answer costs no other.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader.preprocessors import Execute
from traitlets import Unicode

from grader.kernel import KERNEL
from grader.notebook_kernel import NotebookKernel
from grader.preprocessors.cells import runs
from grader.preprocessors.skipped_imports import imports_of_skipped
from grader.render import LIVE_TAG

RAN_TOO_LONG, ENDED_KERNEL = "CellTimeoutError", "KernelEnded"

# IPython's own `exit` stops the kernel some time later, in a cell that may be another's; Python's stops the cell. Loading the
# key takes seconds, which are nobody's who runs into a time limit.
_START = """
from sys import exit, exit as quit
from llmserving.exercises.session import answer_key
answer_key()
del answer_key
"""
_START_TIMEOUT_S = 120
# The first time it may be the machine that has ended it.
_ENDINGS_OF_A_CELL = 2
_BEFORE_ANY = -1


class RunAnswers(Execute, NotebookKernel):  # type: ignore[misc]
    """nbgrader's Execute; a `skip-execution` tag means nothing here."""

    kernel_name = Unicode(KERNEL).tag(config=True)
    skip_cells_with_tag = Unicode(LIVE_TAG).tag(config=True)

    def preprocess(self, nb: Any, resources: Any = None, km: Any = None) -> tuple[Any, Any]:
        """As often as it takes, each time with one cell more left out, which then shows ENDED_KERNEL or RAN_TOO_LONG."""
        self._left_out: dict[int, str] = {}
        endings: Counter[int] = Counter()
        while True:
            self._at, self._interrupted = _BEFORE_ANY, _BEFORE_ANY
            try:
                return super().preprocess(nb, resources, km)  # type: ignore[no-any-return]
            except DeadKernelError:
                if self._at == _BEFORE_ANY:
                    raise
                endings[self._at] += 1
                if endings[self._at] == _ENDINGS_OF_A_CELL:
                    self._left_out[self._at] = ENDED_KERNEL
            except CellTimeoutError:
                # The same is raised where what a cell shows comes late, and then the machine is to blame.
                if self._at == _BEFORE_ANY or self._interrupted != self._at:
                    raise
                self._left_out[self._at] = RAN_TOO_LONG

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        if self._at == _BEFORE_ANY:
            self._aside(_START, index)
        self._at = index
        if index in self._left_out:
            cell.outputs = [nbformat.v4.new_output("error", ename=self._left_out[index], evalue="", traceback=[])]
            return cell, resources
        if cell.cell_type == "code" and not runs(cell):
            self._aside(imports_of_skipped(self.nb.cells, index), index)
        return super().preprocess_cell(cell, resources, index)  # type: ignore[no-any-return]

    def _get_timeout(self, cell: Any) -> int | None:
        allowed: int | None = super()._get_timeout(cell)
        return max(allowed, _START_TIMEOUT_S) if allowed is not None and self._at == _BEFORE_ANY else allowed

    async def _async_handle_timeout(self, timeout: int, cell: Any = None) -> Any:
        self._interrupted = self._at
        return await super()._async_handle_timeout(timeout, cell)

    def _aside(self, source: str, index: int) -> None:
        """Run what is in no cell of the notebook; nothing that it shows is kept."""
        place = self.nb.cells[index]
        try:
            self.execute_cell(nbformat.v4.new_code_cell(source), index, store_history=False)
        finally:
            self.nb.cells[index] = place  # nbclient puts there what it has run
