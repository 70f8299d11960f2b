"""Run a submission: live cells stay out, in the kernel whose answer key `grade` has asked for."""

from __future__ import annotations

from nbgrader.preprocessors import Execute
from traitlets import Unicode

from grader.kernel import KERNEL
from grader.notebook_kernel import NotebookKernel
from grader.render import LIVE_TAG


class RunAnswers(Execute, NotebookKernel):  # type: ignore[misc]
    """nbgrader's Execute; a `skip-execution` tag means nothing here."""

    kernel_name = Unicode(KERNEL).tag(config=True)
    skip_cells_with_tag = Unicode(LIVE_TAG).tag(config=True)
