"""Needs attention: why a submission was not graded, in a sentence for the list and with nbgrader's log for the curious."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = "needs_attention"

_OURS = re.compile(r"^\s*grader\.errors\.(?:NotGraded|UserError): (.*)$", re.MULTILINE)
_RAISED = re.compile(r"^\s*(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception|Signal)): ?(.*)$", re.MULTILINE)

_NOTEBOOK = re.compile(r"(?:Sanitizing|Autograding|Converting notebook) .*?([^/\\\n]+\.ipynb)$", re.MULTILINE)

_KNOWN = {
    "NotJSONError": "it is not JSON, so no notebook; perhaps it was cut short",
    "UnicodeDecodeError": "it is not saved as UTF-8, so it could not be read; opened and saved in Jupyter it can be",
    "DeadKernelError": "the kernel stopped while the notebook was run",
    "UnresponsiveKernelError": "a cell ran without end and could not be interrupted",
}


def reason_of(result: Mapping[str, Any]) -> str:
    """The sentence for a step of nbgrader's that failed, from the log it left."""
    log = str(result.get("log", "")) + str(result.get("error", ""))
    ours = _OURS.search(log)
    if ours is not None:
        return ours.group(1)
    if "No notebooks" in log:
        return "none of the level's notebooks was handed in"
    # nbgrader ends with an error of its own that only says that there was one.
    raised = [(name, text) for name, text in _RAISED.findall(log) if name != "NbGraderException"]
    if not raised:
        return "nbgrader stopped without giving a reason"
    name, text = raised[-1]
    if "Cannot add or remove cells" in text:
        return (
            "that would add or take away cells that are graded, and submissions to it are in the gradebook already; "
            "--own-words stays as it was once something was graded"
        )
    return _KNOWN.get(name) or f"it could not be processed ({name}: {text[:160]})".replace(": )", ")")


def notebooks_tried(result: Mapping[str, Any]) -> list[str]:
    """The notebooks that the step came to, in order: where it failed, it was at the last of them."""
    return list(dict.fromkeys(_NOTEBOOK.findall(str(result.get("log", "")))))


def note_attention(root: Path, level: str, student: str, reason: str, log: str = "") -> str:
    """Keep the reason, and nbgrader's log for the curious, below needs_attention/; gives back the reason as kept."""
    reason = printable(reason)
    path = _path(root, level, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{reason}\n\n{log}\n", encoding="utf-8")
    return reason


def clear_attention(root: Path, level: str, student: str) -> None:
    _path(root, level, student).unlink(missing_ok=True)


def attention_list(root: Path, level: str) -> dict[str, str]:
    """Student -> reason, of those that the last run could not grade."""
    paths = sorted((root / FOLDER / level).glob("*.txt"))
    return {path.name.removesuffix(".txt"): path.read_text(encoding="utf-8").split("\n")[0] for path in paths}


def printable(text: str) -> str:
    """`text` on one line and without control characters: it may hold what a learner's program has said."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _path(root: Path, level: str, student: str) -> Path:
    return root / FOLDER / level / f"{student}.txt"
