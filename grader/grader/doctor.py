"""Doctor: is everything there that grading and learning need."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.course import find_notebooks
from grader.errors import UserError
from grader.kernel import kernel_python, require_key
from grader.render_command import files_that_differ

_PACKAGES = ("llmserving", "llmserving-grader", "nbgrader", "jupyterlab", "ipykernel")


def doctor(notebooks: Path | None = None) -> tuple[list[str], bool]:
    """A line for each thing that was looked at, and whether all of them are in order."""
    checks = [_Line("python", platform.python_version())]
    checks += [_installed(name) for name in _PACKAGES]
    checks += [
        _tried("kernel", kernel_python),
        _tried("answer key", _key),
        _tried("notebooks", lambda: _rendered(notebooks)),
    ]
    width = max(len(line.what) for line in checks)
    return [line.text(width) for line in checks], all(line.fine for line in checks)


class _Line:
    def __init__(self, what: str, found: str, fine: bool = True) -> None:
        self.what, self.found, self.fine = what, found, fine

    def text(self, width: int) -> str:
        return f"{'ok' if self.fine else 'PROBLEM':<8} {self.what:<{width}}  {self.found}"


def _installed(name: str) -> _Line:
    try:
        return _Line(name, version(name))
    except PackageNotFoundError:
        return _Line(name, "is not installed", fine=False)


def _tried(what: str, look: Callable[[], str]) -> _Line:
    try:
        return _Line(what, look())
    except UserError as error:
        return _Line(what, str(error), fine=False)


def _key() -> str:
    require_key()
    return "found by the kernel"


def _rendered(notebooks: Path | None) -> str:
    folder = find_notebooks(notebooks)
    stale = files_that_differ(folder)
    if stale:
        raise UserError(f"{', '.join(map(str, stale))} must be rendered: python -m grader render")
    return f"rendered, in {folder}"
