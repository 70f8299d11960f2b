"""Names that are not set: the course's calls are offered once a check has run, and what is missing is told in a sentence.

Whoever comes back after a break runs one cell of many, and the kernel knows nothing of those above it.
"""

from __future__ import annotations

import sys

from llmserving.exercises import session
from llmserving.exercises.catalogue import EXERCISES

RUN_ABOVE = "Run > Run All Above Selected Cell"
CALLS = ("another", "check", "hint", "own_words", "placement", "recall", "record", "solution", "status")


def offer_calls() -> None:
    """Set those of the calls that the learner's cells have not set, in a notebook: what a card names can be called then."""
    if session.in_notebook():
        names = session.shell().user_ns
        for call in CALLS:
            names.setdefault(call, getattr(sys.modules["llmserving"], call))


def said_of_missing(name: str | None) -> str | None:
    """What to do about a name that is not set; None where it is neither an answer nor a call of the course.

    A sentence a line: JupyterLab breaks long lines of an error within a word.
    """
    for exercise in EXERCISES.values():
        if any(part.variable == name for part in exercise.parts):
            return (
                f"{name} is not set yet: the answer cell of {exercise.id} sets it.\nRun that cell first, or all above by "
                f"{RUN_ABOVE}."
            )
    if name in CALLS:
        return f"{name} is a call of the course that this notebook has not imported yet:\nfrom llmserving import {name}"
    return None
