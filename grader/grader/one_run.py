"""One run: what grades or releases has the class folder to itself, since two would write over each other's files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grader.errors import UserError

LOCK = ".one_run"


@contextmanager
def one_run(root: Path) -> Iterator[None]:
    """UserError where another process, or this one, is in here for the same class folder.

    The lock is SQLite's on an empty file, and the operating system lets go of it however a run ends: one that was killed
    stands in nobody's way, though the file stays.
    """
    path = root / LOCK
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                why = "another run of grade or release is going on in this class folder; wait until it has ended"
                raise UserError(f"{why}, then run this again") from None
            raise UserError(f"{path} could not be locked ({error}); remove it and run this again") from None
        yield
