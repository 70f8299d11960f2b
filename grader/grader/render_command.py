"""Render: bring the statements, stubs and checks of every notebook in step with the exercises."""

from __future__ import annotations

from pathlib import Path

import nbformat

from grader.course import course_files, read_notebook
from grader.errors import UserError
from grader.render import render_file, render_notebook


def files_that_differ(notebooks: Path) -> list[Path]:
    """Notebooks, relative to `notebooks`, whose exercise cells are not what the exercises say; nothing is written."""
    return [name for name in course_files(notebooks) if _differs(notebooks / name)]


def render_all(notebooks: Path) -> list[Path]:
    """Render every notebook in place; the names of those that changed."""
    return [name for name in course_files(notebooks) if _render(notebooks / name)]


def _render(path: Path) -> bool:
    try:
        return render_file(path)
    except (ValueError, KeyError) as error:
        raise UserError(f"{path} could not be rendered: {error}") from None


def _differs(path: Path) -> bool:
    notebook = read_notebook(path)
    try:
        return bool(nbformat.writes(render_notebook(notebook)) + "\n" != path.read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        raise UserError(f"{path} could not be rendered: {error}") from None
