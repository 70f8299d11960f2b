"""Where a check runs: whose numbers, which folder holds the records, which names are set, and is there a key."""

from __future__ import annotations

import functools
import json
import os
import sys
import unicodedata
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from llmserving.arguments import shown
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.markup import as_typed

RECORDS_FOLDER = ".llmserving"
LEARNER_FILE = "learner.json"
LEARNER_VARIABLE = "LLMSERVING_LEARNER"
RECORDS_VARIABLE = "LLMSERVING_RECORDS"

_LEARNER_SIGNS = "._@+-"
_LEARNER_LENGTH = 64


def valid_learner(learner: Any) -> str:
    """`learner`; ValueError where it could not name a folder and a seed on every system.

    Accents come back composed: a name that reads the same draws the same numbers, however a system has spelt it.
    """
    if isinstance(learner, str):
        name = unicodedata.normalize("NFC", learner)
        if 1 <= len(name) <= _LEARNER_LENGTH and _begins_id(name[0]) and all(map(_may_be_in_id, name)):
            return name
    raise ValueError(
        "a learner id is 1 to 64 letters, digits or . _ @ + - and starts with a letter or digit, but got "
        f"{as_typed(shown(learner))}"
    )


def _begins_id(sign: str) -> bool:
    return sign.isalpha() or sign.isdecimal()


def _may_be_in_id(sign: str) -> bool:
    """Vowel signs and other marks are part of a letter in many a script."""
    return _begins_id(sign) or sign in _LEARNER_SIGNS or unicodedata.category(sign) in ("Mn", "Mc")


def current_learner() -> str:
    """The id of LLMSERVING_LEARNER, else the one this folder was prepared for, else the course's own numbers."""
    named = os.environ.get(LEARNER_VARIABLE)
    if named:
        try:
            return valid_learner(named)
        except ValueError as error:
            raise ValueError(f"{LEARNER_VARIABLE} of this kernel's environment names nobody: {error}") from None
    folder = records_folder()
    return DEFAULT_LEARNER if folder is None else learner_of(folder)


def learner_of(folder: Path) -> str:
    """The learner that a records folder was made for; the course's own numbers where it does not say."""
    return _stored_learner(folder) or DEFAULT_LEARNER


def learner_file_is_damaged(folder: Path) -> bool:
    """Whether a records folder has a file of whose it is that cannot be read."""
    return (folder / LEARNER_FILE).exists() and _stored_learner(folder) is None


def damaged_learner_file() -> str | None:
    """What to say where this folder's learner is asked for and cannot be read."""
    folder = None if os.environ.get(LEARNER_VARIABLE) else records_folder()
    if folder is None or not learner_file_is_damaged(folder):
        return None
    return (
        f"`{folder / LEARNER_FILE}` cannot be read, so the course's own numbers are used, whatever the questions in your "
        f'notebooks say; `python -m grader learn "{folder.parent}"` makes it again.'
    )


def unreadable_name(path: Path) -> Path:
    """A free name beside `path` to keep it under, so that a file that cannot be read is not thrown away."""
    return next(name for n in range(1, 10_000) if not (name := path.with_suffix(f".unreadable-{n}.json")).exists())


def _stored_learner(folder: Path) -> str | None:
    try:
        return valid_learner(json.loads((folder / LEARNER_FILE).read_text(encoding="utf-8"))["learner"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def records_folder() -> Path | None:
    """The nearest .llmserving folder at or above the working directory, or None."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the folder was removed or renamed under a running kernel
        return None
    return next((path / RECORDS_FOLDER for path in (here, *here.parents) if (path / RECORDS_FOLDER).is_dir()), None)


def keeps_records() -> bool:
    """False while grading: a run over somebody else's notebook leaves no record."""
    return os.environ.get(RECORDS_VARIABLE) != "off"


def namespace() -> Mapping[str, Any]:
    """The names that the learner's cells have set."""
    running = shell()
    return sys.modules["__main__"].__dict__ if running is None else running.user_ns


def in_notebook() -> bool:
    """True where a cell's value is shown as HTML; elsewhere cards are printed."""
    return getattr(shell(), "kernel", None) is not None


def answer_key() -> Any | None:
    """The module that holds the answer key, or None where none is installed. Never imported by name from here."""
    found = _key_entry()
    return None if found is None else found.load()


@functools.cache
def _key_entry() -> EntryPoint | None:
    """Looked up once: every installed distribution is read for it, and a key does not come or go while a session runs."""
    return next(iter(entry_points(group="llmserving.answer_key")), None)


def shell() -> Any:
    """The running IPython, or None."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()
