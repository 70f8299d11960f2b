"""A kernel as JupyterLab starts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager


@contextmanager
def kernel_in(folder: Path) -> Iterator[Callable[[str], list[tuple[str, str]]]]:
    """A function that runs a cell in a kernel of `folder`'s and gives back the errors: their names and what is shown."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()

    def errors_of(source: str) -> list[tuple[str, str]]:
        errors: list[tuple[str, str]] = []

        def note(message: Any) -> None:
            if message["msg_type"] == "error":
                content = message["content"]
                errors.append((content["ename"], "\n".join(content["traceback"])))

        client.execute_interactive(source, output_hook=note, timeout=120)
        return errors

    try:
        client.wait_for_ready(timeout=120)
        yield errors_of
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
