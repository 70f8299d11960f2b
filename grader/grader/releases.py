"""The list of releases of a class: what was released when, in which version, and with whose numbers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.recordings import RECORDINGS_FILE

from grader.course import notebooks_in, pages_in, read_notebook, write_notebook
from grader.errors import NotGraded, UserError
from grader.render import METADATA
from grader.student_version import for_learner

RELEASES_FILE = "releases.json"
RELEASE = "release"
PERSONAL = "personal"


@dataclass(frozen=True)
class Release:
    """One release of a level. learners: ids that got a copy with their own numbers; None where all share the course's.

    version: hash of the released cells. exercises: id -> version, so that a later release with other wording is told
    from one that could change a verdict. own_words: points for each text in own words, graded by hand; 0 for none.
    """

    assignment: str
    version: str
    date: str
    learners: list[str] | None
    exercises: dict[str, int]
    own_words: float = 0.0

    def learner_of(self, student: str) -> str:
        """Whose numbers the copy of `student` carries: who is on no roster has the class's copy."""
        return student if self.learners is not None and student in self.learners else DEFAULT_LEARNER


def read_releases(root: Path, assignment: str) -> list[Release]:
    """Releases of one level, oldest first."""
    path = root / RELEASES_FILE
    if not path.exists():
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["releases"]
        return [Release(**row) for row in rows if row["assignment"] == assignment]
    except (ValueError, KeyError, TypeError):
        raise UserError(
            f"{path} could not be read; restore it from a backup, or release again after moving it"
        ) from None


def latest_release(root: Path, assignment: str) -> Release:
    releases = read_releases(root, assignment)
    if not releases:
        raise NotGraded(f"{assignment} was never released from this class folder")
    return releases[-1]


def released_notebook(root: Path, assignment: str, name: str, learner: str) -> Any:
    """The notebook as it was handed out to `learner`."""
    path = root / RELEASE / assignment / f"{name}.ipynb"
    if not path.exists():
        raise NotGraded(f"{path.relative_to(root)} is missing; release {assignment} again")
    return for_learner(read_notebook(path), learner)


def finish_release(assignment: str, **_: Any) -> None:
    """nbgrader calls this in the class folder after generate_assignment: stamp the version, note it, write copies."""
    root = Path.cwd()
    earlier = read_releases(root, assignment)
    record_release(root, assignment, earlier[-1].learners if earlier else None, own_words_before(root, assignment))


def own_words_before(root: Path, assignment: str) -> float:
    """What the last release gave for a text in own words."""
    return next((release.own_words for release in reversed(read_releases(root, assignment))), 0.0)


def record_release(root: Path, assignment: str, learners: Sequence[str] | None, own_words: float = 0.0) -> Release:
    """Stamp release/<assignment> with its version, add it to the list, and write personal copies for `learners`."""
    # nbgrader hands out whatever lies beside the notebooks, the instructor's own recordings too.
    (root / RELEASE / assignment / RECORDINGS_FILE).unlink(missing_ok=True)
    paths = notebooks_in(root / RELEASE / assignment)
    notebooks = {path: read_notebook(path) for path in paths}
    version = _content_version(notebooks)
    release = Release(
        assignment,
        version,
        datetime.now(UTC).isoformat(timespec="seconds"),
        None if learners is None else list(learners),
        {exercise_id: EXERCISES[exercise_id].version for exercise_id in exercises_in(notebooks.values())},
        own_words,
    )
    for path, notebook in notebooks.items():
        notebook.metadata[METADATA]["release"] = version
        write_notebook(notebook, path)
        for learner in learners or ():
            write_notebook(for_learner(notebook, learner), root / PERSONAL / learner / assignment / path.name)
    for page in pages_in(root / RELEASE):
        for learner in learners or ():
            write_notebook(for_learner(read_notebook(page), learner), root / PERSONAL / learner / page.name)
    _add(root, release)
    return release


def _add(root: Path, release: Release) -> None:
    """Add to the list; releasing the same once more, on the way to personal copies say, replaces the last row."""
    path = root / RELEASES_FILE
    rows = json.loads(path.read_text(encoding="utf-8"))["releases"] if path.exists() else []
    same = [row for row in rows if row["assignment"] == release.assignment][-1:]
    if same and same[0]["version"] == release.version:
        rows.remove(same[0])
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(json.dumps({"releases": [*rows, asdict(release)]}, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, path)


def _content_version(notebooks: dict[Path, Any]) -> str:
    content = [
        (path.name, [(cell.get("id"), cell.cell_type, cell.source) for cell in notebook.cells])
        for path, notebook in sorted(notebooks.items())
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()[:12]


def exercises_in(notebooks: Iterable[Any]) -> list[str]:
    """The exercises that released notebooks check, in their order."""
    checks = [
        cell.metadata[METADATA]["exercise"]
        for notebook in notebooks
        for cell in notebook.cells
        if cell.metadata.get(METADATA, {}).get("role") == "check"
    ]
    return [exercise_id for check in checks for exercise_id in GROUPS[check]]
