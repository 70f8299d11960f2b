"""Run a submission: live cells stay out, the numbers are those of its learner, and no record of the run is kept."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from llmserving.exercises.session import LEARNER_VARIABLE, RECORDS_VARIABLE
from nbclient.util import run_sync
from nbgrader.preprocessors import Execute
from traitlets import Unicode

from grader.render import LIVE_TAG, METADATA


class RunAnswers(Execute):  # type: ignore[misc]
    """nbgrader's Execute in a kernel that is told whose notebook it runs; a `skip-execution` tag means nothing here."""

    skip_cells_with_tag = Unicode(LIVE_TAG).tag(config=True)

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        environment = {
            **os.environ,
            RECORDS_VARIABLE: "off",
            # Else a records folder somewhere above the class folder would say whose numbers a check takes.
            LEARNER_VARIABLE: self.nb.metadata[METADATA]["learner"],
        }
        # What the kernel process itself says, once a submission, is of no use to an instructor.
        await super().async_start_new_kernel(env=environment, stderr=subprocess.DEVNULL, **kwargs)

    start_new_kernel = run_sync(async_start_new_kernel)
