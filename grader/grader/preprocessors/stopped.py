"""Stopped: what ran too long or ended the kernel, in words, and what a check that came to no end because of it earns."""

from __future__ import annotations

from typing import Any

from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.exercise import CODE_KINDS

from grader.preprocessors.run_answers import ENDED_KERNEL, RAN_TOO_LONG

TOO_LONG = "ran longer than is allowed"
# By the error that is left in a cell that was interrupted or left out: what became of it, and its name in the report.
_STOPPED = {
    "KeyboardInterrupt": (TOO_LONG, "ran_too_long"),
    RAN_TOO_LONG: (TOO_LONG, "ran_too_long"),
    ENDED_KERNEL: ("ended the kernel", "ended_the_kernel"),
}


def why_stopped(error: Any) -> str | None:
    """What the cell did, as the end of "it was stopped, since it ..."; None for an error of another kind."""
    return _STOPPED[error.ename][0] if error.ename in _STOPPED else None


def stopped_by_answer(check: str, error: Any) -> str | None:
    """A sentence where the error in a check came of the learner's code, which the check calls; None where it did not."""
    code = [part.variable for name in GROUPS[check] for part in EXERCISES[name].parts if part.kind in CODE_KINDS]
    why = why_stopped(error)
    if not code or why is None:
        return None
    named = " or ".join(f"`{variable}`" for variable in code)
    looping = "; look for a loop that does not end" if why == TOO_LONG else ""
    return f"{check}: the check calls {named}, which {why}, so it counts as 0{looping}"


def nothing_earned(check: str, error: Any) -> dict[str, dict[str, Any]]:
    """The report's lines on the exercises of a check that an answer has stopped."""
    return {
        name: {
            "score": 0.0,
            "points": EXERCISES[name].points,
            "diagnoses": [_STOPPED[error.ename][1]],
            "states": {part.name: "unreadable" for part in EXERCISES[name].parts},
        }
        for name in GROUPS[check]
    }
