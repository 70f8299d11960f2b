"""The kernel that our commands run a notebook in: it knows whose notebook it is, keeps no records, and does start."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from llmserving.exercises.session import LEARNER_VARIABLE, RECORDS_VARIABLE
from nbclient import NotebookClient
from nbclient.util import run_sync

from grader.render import METADATA


class NotebookKernel(NotebookClient):
    """nbclient's client, for the learner that the notebook's metadata names."""

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        environment = {
            **os.environ,
            RECORDS_VARIABLE: "off",
            # Else a records folder somewhere above would say whose numbers a check takes.
            LEARNER_VARIABLE: self.nb.metadata[METADATA]["learner"],
        }
        # What the kernel process itself says, once a notebook, is of no use to an instructor.
        await super().async_start_new_kernel(env=environment, stderr=subprocess.DEVNULL, **kwargs)

    start_new_kernel = run_sync(async_start_new_kernel)

    async def async_start_new_kernel_client(self) -> Any:
        """Start once more where the kernel does not answer: another process can take its ports before it does.

        No cell has run then, so nothing of a submission runs twice.
        """
        try:
            return await super().async_start_new_kernel_client()
        except RuntimeError:
            self.km = self.create_kernel_manager()
            await self.async_start_new_kernel()
            return await super().async_start_new_kernel_client()

    start_new_kernel_client = run_sync(async_start_new_kernel_client)
