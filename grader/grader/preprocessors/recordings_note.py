"""Recordings that are not there: what was measured is graded by the file beside the notebook, and not by what a cell shows.

Whoever has answered, and has left that file out, is told so, and the instructor too: with the file it can be graded again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.recordings import RECORDINGS_FILE, UnreadableRecordings, recordings

from grader.preprocessors.cells import add_note, check_of, is_of, runs, source_of, variables_of
from grader.preprocessors.names import names_set

_SO = "so what was measured counts as not recorded; with the file beside the notebook it can be graded again"


def note_recordings(notebook: Any, folder: Path) -> None:
    """A note where checks that were answered rest on recordings, and `folder`, the notebook's, has none to read."""
    waiting = list(_waiting(notebook))
    why = _why_none(folder) if waiting else None
    if why is not None:
        add_note(notebook, f"{', '.join(waiting)}: {why}, {_SO}", waiting[0])


def _waiting(notebook: Any) -> Iterator[str]:
    """Checks of measurements that have an answer, none of which is recorded in a cell that is graded."""
    ran = [source_of(cell) for cell in notebook.cells if runs(cell)]
    if any("record(" in source for source in ran):
        return
    answered = {name for source in ran for name in names_set(source)}
    for cell in notebook.cells:
        check = check_of(cell) if is_of(cell, "check") else ""
        measures = any(part.kind == "measurement" for name in GROUPS.get(check, ()) for part in EXERCISES[name].parts)
        if measures and answered & set(variables_of(check)):
            yield check


def _why_none(folder: Path) -> str | None:
    if not (folder / RECORDINGS_FILE).exists():
        name = Path(RECORDINGS_FILE)
        others = [path.name for path in sorted(folder.glob(f"*{name.stem}*{name.suffix}"))]
        but = f" under that name, but {others[0]} was" if others else ""
        return f"{RECORDINGS_FILE} was not handed in{but}"
    try:
        with contextlib.chdir(folder):
            recordings()
    except UnreadableRecordings as why:
        return str(why)
    return None
