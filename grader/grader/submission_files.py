"""The files of a submission: which notebooks lie in it, and under which names."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.class_folder import SUBMITTED, ClassFolder
from grader.course import notebooks_in
from grader.errors import UserError
from grader.releases import RELEASE

_SHOWN = 6


def require_students(names: Sequence[str], submitted: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Of what was handed in, level by level, what these did; UserError where others have handed in and one of them has not."""
    everybody = sorted({student for students in submitted.values() for student in students})
    for name in names if everybody else ():
        if name not in everybody:
            near = difflib.get_close_matches(name, everybody, n=3, cutoff=0.4)
            there = f"did you mean {', '.join(near)}?" if near else f"there is {_listed(everybody)}"
            raise UserError(f"{name!r} has handed in nothing of {', '.join(submitted)} in {SUBMITTED}/; {there}")
    return {level: [student for student in students if student in names] for level, students in submitted.items()}


def why_not_a_student(student: str) -> str | None:
    """A sentence where the folder's name is not spelt as a roster and the gradebook spell it, though it reads the same."""
    composed = unicodedata.normalize("NFC", student)
    if composed == student:
        return None
    return (
        f"the folder's name reads {composed}, but its accents are signs of their own, as in some archives, and to a computer "
        f"that is another name; rename the folder to {composed}"
    )


def why_not_found(folder: ClassFolder, level: str, student: str) -> str | None:
    """A sentence where a notebook of the level is not there under its name and another file looks like it; else None.

    A file that a browser or a zip has renamed is no missing answer. The instructor sees both names and puts it right.
    """
    wanted = _wanted(folder, level)
    found = _found(_submitted(folder, level, student))
    missing = [name for name in wanted if name not in found]
    others = [name for name in found if name not in wanted]
    if missing and missing == wanted:
        return f"none of the level's notebooks was handed in: wanted {_listed(wanted)}; found {_listed(others)}"
    renamed = _renamed(wanted, found)
    if not renamed:
        return None
    return "; ".join(
        f"{name} was not handed in under that name, but {other} was; rename it if that is the notebook"
        for name, other in renamed[:_SHOWN]
    )


def level_notebooks(folder: ClassFolder, level: str, student: str) -> list[str]:
    """The notebooks of the level that were handed in under their names."""
    found = _found(_submitted(folder, level, student))
    return [name for name in _wanted(folder, level) if name in found]


def notebooks_without(folder: ClassFolder, level: str, student: str) -> list[str]:
    """The notebooks of the level that were not handed in."""
    found = _found(_submitted(folder, level, student))
    return [name for name in _wanted(folder, level) if name not in found]


def called_otherwise(folder: ClassFolder, level: str, student: str) -> dict[str, str]:
    """Notebook of the level -> the file that it seems to be under another name, where that can only be one."""
    pairs = _renamed(_wanted(folder, level), _found(_submitted(folder, level, student)))
    times = Counter(name for pair in pairs for name in pair)
    return {name: other for name, other in pairs if times[name] == times[other] == 1}


def notes_on_files(folder: ClassFolder, level: str, student: str) -> tuple[str, ...]:
    """What a graded submission lacks, and what in it was not looked at."""
    wanted = _wanted(folder, level)
    found = _found(_submitted(folder, level, student))
    missing = [f"{name} was not handed in" for name in notebooks_without(folder, level, student)]
    beside = [
        f"{other} was not graded; {name} was"
        for name in wanted
        for other in found
        if name in found and other not in wanted and _looks_like(other, name)
    ]
    return (*missing, *beside[:_SHOWN])


def _submitted(folder: ClassFolder, level: str, student: str) -> Path:
    coursedir = folder.api.coursedir
    return Path(coursedir.format_path(coursedir.submitted_directory, student, level))


def _wanted(folder: ClassFolder, level: str) -> list[str]:
    return [path.name for path in notebooks_in(folder.root / RELEASE / level)]


def _found(submission: Path) -> list[str]:
    """Every notebook below the folder, named from there; hidden files and folders are nobody's work."""
    names = [path.relative_to(submission) for path in sorted(submission.rglob("*.ipynb")) if path.is_file()]
    return [name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts)]


def _renamed(wanted: Sequence[str], found: Sequence[str]) -> list[tuple[str, str]]:
    """Each notebook that is not there under its name, with each file that looks like it."""
    others = [name for name in found if name not in wanted]
    return [(name, other) for name in wanted if name not in found for other in others if _looks_like(other, name)]


def _looks_like(other: str, name: str) -> bool:
    return _letters(Path(name).stem) in _letters(Path(other).stem)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "no notebook"
