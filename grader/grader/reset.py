"""Reset: a fresh copy of one notebook. The learner's own is kept beside it first."""

from __future__ import annotations

import difflib
import os
from datetime import datetime
from pathlib import Path

from llmserving.exercises.session import LEARNER_FILE, RECORDS_FOLDER, learner_file_is_damaged, learner_of

from grader.course import course_files, read_notebook, write_notebook
from grader.errors import UserError
from grader.student_version import student_version


def reset(notebook: Path, notebooks: Path) -> Path | None:
    """Write a fresh copy of `notebook` for the learner of its folder; the backup's path, or None if it was not there."""
    folder, name = _located(notebook, course_files(notebooks))
    own = folder / name
    if learner_file_is_damaged(folder / RECORDS_FOLDER):
        raise UserError(
            f"{own.name} was not reset: {folder / RECORDS_FOLDER / LEARNER_FILE} cannot be read, so it is not known whose "
            f'numbers it is to carry; `python -m grader learn "{folder}"` makes that file again'
        )
    backup = _back_up(own) if own.exists() else None
    write_notebook(student_version(read_notebook(notebooks / name), learner_of(folder / RECORDS_FOLDER)), own)
    return backup


def _located(notebook: Path, known: list[Path]) -> tuple[Path, Path]:
    """The learner's folder, and the notebook's name in the course."""
    path = notebook if notebook.suffix == ".ipynb" else notebook.with_name(f"{notebook.name}.ipynb")
    path = path.resolve()
    folder = next((parent for parent in path.parents if (parent / RECORDS_FOLDER).is_dir()), None)
    if folder is None:
        raise UserError(f"{notebook} does not lie in a folder that `python -m grader learn` has prepared")
    name = path.relative_to(folder)
    if name in known:
        return folder, name
    names = {str(one): one for one in known}
    by_stem = [one for one in names if Path(one).stem == name.stem]
    near = by_stem or difflib.get_close_matches(str(name), names, n=3, cutoff=0.4) or list(names)
    shown = ", ".join(str(Path(os.path.relpath(folder / one))) for one in near)
    raise UserError(f"the course has no notebook {name}; did you mean {shown}?")


def _back_up(own: Path) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    content = own.read_bytes()
    for number in range(1, 1000):
        again = "" if number == 1 else f"-{number}"
        backup = own.with_name(f"{own.stem}.backup-{stamp}{again}.ipynb")
        try:
            with open(backup, "xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"{own.name} was not reset, since it could not be backed up: {error.strerror}") from None
        return backup
    raise UserError(f"{own.name} was not reset: there are too many backups of this second beside it")
