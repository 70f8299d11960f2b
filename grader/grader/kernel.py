"""Will the kernel that runs the notebooks find the key? Asked of that very interpreter, before anything is graded."""

from __future__ import annotations

import subprocess
import sys

from grader.errors import UserError

KERNEL = "python3"

_ASK = "import sys; from llmserving.exercises.session import answer_key; sys.exit(0 if answer_key() else 3)"


def kernel_python() -> str:
    """The interpreter that the notebooks' kernel starts."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        named: str = KernelSpecManager().get_kernel_spec(KERNEL).argv[0]
    except NoSuchKernel:
        raise UserError(f"there is no Jupyter kernel {KERNEL!r} here; install ipykernel") from None
    # As jupyter_client does: these names mean the interpreter that asks.
    own = {"python", f"python{sys.version_info.major}", f"python{sys.version_info.major}.{sys.version_info.minor}"}
    return sys.executable if named in own else named


def require_key() -> None:
    """UserError where the notebooks' kernel would find no answer key: every check would end in 'graded later'."""
    python = kernel_python()
    try:
        asked = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"the notebooks' kernel, {python}, could not be started: {error}") from None
    if asked.returncode != 0:
        why = asked.stderr.strip().split("\n")[-1] or "none is installed"
        raise UserError(
            f"the notebooks' kernel, {python}, finds no answer key ({why}); install llmserving-grader there"
        )
