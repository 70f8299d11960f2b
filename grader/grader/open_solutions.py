"""Open the worked solutions of a released level: files to hand out, in each learner's numbers, and a page to post."""

from __future__ import annotations

import html
import json
from collections.abc import Collection
from pathlib import Path

from llmserving.exercises import EXERCISES, Exercise
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.opening import solutions_file
from llmserving.exercises.worked import worked_card

from grader.answer_key import worked_solution
from grader.class_folder import ClassFolder
from grader.course import levels_in, require_level
from grader.errors import UserError
from grader.releases import read_releases

SOLUTIONS = "solutions"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family:sans-serif;line-height:1.5;max-width:60em;margin:1em auto;padding:0 1em">
<h1>{title}</h1>
{cards}
</body></html>
"""


def open_solutions(folder: ClassFolder, level: str, roster: Collection[str] | None = None) -> str:
    """Write the worked solutions of `level` below solutions/; a line that says where.

    roster: only for these learners; for all who have a copy of their own where it is not given.
    """
    releases = read_releases(folder.root, level)
    if not releases:
        require_level(level, levels_in(folder.source))
        raise UserError(f"{level} has not been released from {folder.root}, so there is nothing to open yet")
    released = releases[-1]
    exercises = [EXERCISES[name] for name in released.exercises if name in EXERCISES]
    if released.learners is None:
        if roster is not None:
            raise UserError(f"{level} was released with the course's own numbers, the same for all; leave out --roster")
        _write(folder.root / SOLUTIONS / level, level, exercises, DEFAULT_LEARNER)
        return f"{level}  {SOLUTIONS}/{level}: {solutions_file(level)} to hand out, {_page_name(level)} to post"
    unknown = sorted(set(roster or ()) - set(released.learners))
    if unknown:
        raise UserError(f"{level} was not released to {', '.join(unknown)}; release it with this roster first")
    learners = released.learners if roster is None else list(roster)
    for learner in learners:
        _write(folder.root / SOLUTIONS / learner / level, level, exercises, learner)
    files = f"{solutions_file(level)} to hand out, {_page_name(level)} to read"
    return f"{level}  {SOLUTIONS}/*/{level}, {len(learners)} learners: {files}"


def _write(folder: Path, level: str, exercises: list[Exercise], learner: str) -> None:
    worked = {exercise.id: worked_solution(exercise.id, learner) for exercise in exercises}
    rows = {name: one.as_json() for name, one in worked.items()}
    cards = "\n".join(
        f"<h2>{html.escape(f'{exercise.id} · {exercise.title}')}</h2>\n{worked_card(exercise, worked[exercise.id]).html()}"
        for exercise in exercises
    )
    whose = "" if learner == DEFAULT_LEARNER else f" for {learner}"
    page = _PAGE.format(title=html.escape(f"{level} · worked solutions{whose}"), cards=cards)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / solutions_file(level)).write_text(
        json.dumps({"level": level, "learner": learner, "exercises": rows}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    (folder / _page_name(level)).write_text(page, encoding="utf-8")


def _page_name(level: str) -> str:
    return f"solutions_{level}.html"
