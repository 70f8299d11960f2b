"""Release levels: nbgrader's student version of each, the pages beside them, one copy a learner if there is a roster."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from llmserving.exercises.draws import DEFAULT_LEARNER

from grader.attention import reason_of
from grader.class_folder import ClassFolder
from grader.course import levels_in, pages_in, read_notebook, require_level, write_notebook
from grader.errors import UserError
from grader.one_run import one_run
from grader.releases import PERSONAL, RELEASE, own_words_before, read_releases, record_release
from grader.render_command import files_that_differ
from grader.roster_news import what_the_roster_changed
from grader.student_version import student_version


def release(
    folder: ClassFolder,
    levels: Sequence[str],
    roster: Mapping[str, Mapping[str, str]] | None = None,
    own_words: float | None = None,
) -> list[str]:
    """Release `levels`; a line for each. Nothing is released while a notebook is out of step with its exercises.

    roster: id -> names; each of them gets a copy with numbers of their own and a row in the gradebook. Without one, a
    level that was released with personal numbers before is released to the same learners again; where one names others
    than before, more lines say whose copies do not fit any more. own_words: points for each text in the learner's own
    words, graded by hand, 0 for none; what it was before where it is not given.
    """
    if own_words is not None and not 0 <= own_words < 1000:
        raise UserError(f"--own-words takes points from 0 to 999, but got {own_words:g}")
    for level in levels:
        require_level(level, levels_in(folder.source))
    pages = pages_in(folder.source)
    released = {*levels, *(page.name for page in pages)}
    stale = [path for path in files_that_differ(folder.source) if path.parts[0] in released]
    if stale:
        raise UserError(f"{', '.join(map(str, stale))} must be rendered first: python -m grader render")
    with one_run(folder.root):
        if roster is not None:
            with folder.gradebook as gradebook:
                for learner, names in roster.items():
                    gradebook.update_or_create_student(learner, **names)
        for page in pages:
            write_notebook(student_version(read_notebook(page), DEFAULT_LEARNER), folder.root / RELEASE / page.name)
        return [line for level in levels for line in _release_level(folder, level, roster, own_words)]


def _release_level(
    folder: ClassFolder, level: str, roster: Mapping[str, Mapping[str, str]] | None, own_words: float | None
) -> list[str]:
    before = read_releases(folder.root, level)
    released = folder.root / RELEASE / level
    points = own_words_before(folder.root, level) if own_words is None else own_words
    folder.api.config.PrepareRelease.own_words = points
    with tempfile.TemporaryDirectory(dir=folder.root, prefix=".release-") as kept:
        # nbgrader removes the release that is there before it knows that the new one can be made.
        if released.exists():
            shutil.copytree(released, Path(kept) / level)
        result = folder.api.generate_assignment(level, force=True)
        if not result["success"]:
            if (Path(kept) / level).exists():
                shutil.rmtree(released, ignore_errors=True)
                shutil.copytree(Path(kept) / level, released)
            raise UserError(f"{level} was not released: {reason_of(result)}")
    # nbgrader has called finish_release, and swallows whatever goes wrong in it; here it is told.
    learners = before[-1].learners if before else None
    made = record_release(folder.root, level, learners if roster is None else list(roster), points)
    again = "" if len(read_releases(folder.root, level)) > len(before) else ", the same content as before"
    where = f"{RELEASE}/{level}" if made.learners is None else f"{PERSONAL}/*/{level}, {len(made.learners)} learners"
    submitted = folder.api.get_submitted_students(level)
    news = what_the_roster_changed(before[-1], made.learners, submitted) if before else []
    return [f"{level}  release {made.version}  {where}{again}", *(f"{level}  {line}" for line in news)]
