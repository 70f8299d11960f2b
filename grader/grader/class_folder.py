"""A class folder: nbgrader's configuration, gradebook, releases and submissions of one class."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import UserError

CONFIG_FILE = "nbgrader_config.py"
SUBMITTED = "submitted"

_CONFIG = '''"""nbgrader's configuration for this class, made by `python -m grader init`. Yours to add to, below the last line."""

from grader.class_config import configure

c = get_config()  # noqa: F821  (nbgrader provides it)
configure(c, __file__, notebooks={notebooks!r})
'''

_MARK = "grader.class_config"

# nbgrader reads these paths as patterns too, so a path with one of these would match nothing, or something else.
_PATTERN_SIGNS = re.compile(r"[\\*?\[\](){}^$|+]")


def init_class_folder(folder: Path, notebooks: Path) -> str:
    """Make a class folder; says what was done. An existing class folder is left as it is."""
    folder = folder.resolve()
    if is_class_folder(folder):
        return f"{folder} is a class folder already; nothing was changed."
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not empty; name a new folder for the class")
    for path in (folder, notebooks):
        if _PATTERN_SIGNS.search(path.as_posix()):
            raise UserError(
                f"nbgrader cannot work below {path}: use a path without any of \\ * ? [ ] ( ) {{ }} ^ $ | +"
            )
    (folder / SUBMITTED).mkdir(parents=True)
    (folder / CONFIG_FILE).write_text(_CONFIG.format(notebooks=str(notebooks)), encoding="utf-8")
    return f"{folder} is ready. In it: python -m grader release L1"


def is_class_folder(folder: Path) -> bool:
    config = folder / CONFIG_FILE
    return config.is_file() and _MARK in config.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class ClassFolder:
    """An opened class folder; `api` is nbgrader's own."""

    root: Path
    api: Any

    @property
    def source(self) -> Path:
        return Path(self.api.coursedir.source_directory)

    @property
    def gradebook(self) -> Any:
        """nbgrader's gradebook, to be used in a `with`."""
        try:
            return self.api.gradebook
        except Exception as error:
            why = str(error).split("\n")[0]
            raise UserError(f"the gradebook of {self.root} could not be opened: {why}") from None


def class_folder_of(coursedir: Any, config: Any) -> ClassFolder:
    """The class folder that a command of nbgrader's works in, with its own options. config: that command's."""
    from nbgrader.apps import NbGraderAPI

    return ClassFolder(Path(coursedir.root), NbGraderAPI(coursedir=coursedir, config=config))


def open_class_folder(folder: Path) -> ClassFolder:
    """Open `folder` with its own nbgrader_config.py, whatever the instructor has added to it included."""
    folder = folder.resolve()
    if not is_class_folder(folder):
        raise UserError(f"{folder} is not a class folder; make one with: python -m grader init DIR")
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    try:
        config = PyFileConfigLoader(CONFIG_FILE, path=str(folder)).load_config()
    except Exception as error:
        raise UserError(f"{folder / CONFIG_FILE} stopped with {type(error).__name__}: {error}") from None
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    if not Path(api.coursedir.source_directory).is_dir():
        raise UserError(
            f"the notebooks of the course are not at {api.coursedir.source_directory} any more; "
            f"correct the path in {folder / CONFIG_FILE}"
        )
    return ClassFolder(folder, api)
