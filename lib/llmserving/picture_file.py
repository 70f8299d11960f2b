"""Figures written to files by the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PICTURES = (".svg", ".png")


def checked_picture(path: Path) -> Path:
    """The path, if its name ends like a picture that can be written; ValueError otherwise."""
    if path.suffix.casefold() not in PICTURES:
        raise ValueError(f"--figure writes {' or '.join(PICTURES)}, but got {str(path)!r}")
    return path


def write_picture(figure: Any, path: Path) -> None:
    """Write a LessonFigure, in the format that the path's name ends with; ValueError where it cannot be written."""
    try:
        if path.suffix.casefold() == ".png":
            figure.save_png(path)
        else:
            path.write_text(figure.svg(), encoding="utf-8")
    except OSError as fault:
        raise ValueError(f"--figure cannot write {str(path)!r}: {fault.strerror}") from None
