"""The course's notebooks: where they are, and the one way to read and write them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from llmserving.exercises.course import LEVELS

from grader.errors import UserError

START_HERE = "START_HERE.ipynb"


def find_notebooks(given: Path | None = None) -> Path:
    """The folder of the instructor's notebooks: the one given, or notebooks/ of the checkout this package lies in."""
    folder = given if given is not None else Path(__file__).resolve().parents[2] / "notebooks"
    if not levels_in(folder):
        raise UserError(f"no level was found in {folder}; name the folder of the course's notebooks with --notebooks")
    return folder.resolve()


def levels_in(notebooks: Path) -> list[str]:
    """Names of the levels: the folders that hold notebooks."""
    if not notebooks.is_dir():
        return []
    return sorted(folder.name for folder in notebooks.iterdir() if folder.is_dir() and notebooks_in(folder))


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks lying directly in `folder`, by name; hidden files are no notebooks."""
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))


def pages_in(folder: Path) -> list[Path]:
    """The notebooks that stand beside the levels, START_HERE first."""
    return sorted(notebooks_in(folder), key=lambda path: path.name != START_HERE)


def course_files(notebooks: Path) -> list[Path]:
    """Every notebook of the course, relative to `notebooks`, START_HERE first."""
    found = pages_in(notebooks) + [path for level in levels_in(notebooks) for path in notebooks_in(notebooks / level)]
    return [path.relative_to(notebooks) for path in found]


def level_name(given: str) -> str:
    """A level as the course writes it, from a word of the command line: L1 for l1; another word stays as it is."""
    return next((level.name for level in LEVELS if level.name.casefold() == given.strip().casefold()), given)


def require_level(name: str, known: Iterable[str]) -> str:
    known = list(known)
    if name in known:
        return name
    near = difflib.get_close_matches(name.upper(), known, n=3, cutoff=0.4)
    there = [*near, *(level for level in known if level not in near)]
    raise UserError(f"there is no level {name!r} here; there is {', '.join(there) or 'none'}")


def read_notebook(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except OSError as error:
        raise UserError(f"{path} could not be read: {error.strerror}") from None
    except Exception:
        raise UserError(f"{path} is not a notebook that can be read") from None


def write_notebook(notebook: Any, path: Path) -> None:
    """Written beside and renamed, so that a crash never leaves half a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    os.replace(beside, path)
