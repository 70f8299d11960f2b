"""A copy of a submission for nbgrader to read, where it cannot read the submission itself."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from grader.class_folder import ClassFolder
from grader.course import notebooks_in

_UTF8 = "utf-8"


@contextmanager
def readable(folder: ClassFolder, level: str, student: str, called: Mapping[str, str]) -> Iterator[None]:
    """nbgrader reads UTF-8 without a mark at its start, and nothing else, and looks for the level's own names: where a
    notebook was saved or named otherwise, it is given a copy of the submission. What was handed in stays as it is.

    called: the level's name -> the name that the file has.
    """
    coursedir = folder.api.coursedir
    given = coursedir.submitted_directory
    source = Path(coursedir.format_path(given, student, level))
    notebooks = [*notebooks_in(source), *(source / other for other in called.values())]
    recoded = {path.relative_to(source): text for path in notebooks if (text := _recoded(path)) is not None}
    if not recoded and not called:
        yield
        return
    with tempfile.TemporaryDirectory(dir=folder.root, prefix=".reading-") as copies:
        try:
            coursedir.submitted_directory = Path(copies).name
            copy = Path(coursedir.format_path(Path(copies).name, student, level))
            shutil.copytree(source, copy, symlinks=True)
            for path, text in recoded.items():
                (copy / path).unlink()
                (copy / path).write_text(text, encoding=_UTF8)
            for name, other in called.items():
                (copy / other).rename(copy / name)
            yield
        finally:
            coursedir.submitted_directory = given


def _recoded(path: Path) -> str | None:
    """The text of a notebook that is not plain UTF-8; None where it is, or where it cannot be told what it is."""
    raw = path.read_bytes()
    encoding = json.detect_encoding(raw)
    if encoding == _UTF8:
        return None
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return None
