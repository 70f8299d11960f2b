"""When a worked solution opens: after an honest attempt, and in a class only when the instructor has handed it out.

For self-study the answer key writes it, in a folder that `make lab` has prepared. In a class it comes from a file of the
instructor's beside the notebooks, also where the key is installed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.asking import Refused
from llmserving.exercises.attempts import TRIES_ENOUGH, Record
from llmserving.exercises.collect import collect
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import LAB_KINDS, Exercise
from llmserving.exercises.worked import Worked


def solutions_file(level: str) -> str:
    """The name of the file in which an instructor hands out the worked solutions of a level."""
    return f"solutions_{level}.json"


def digest(exercise: Exercise, data: Mapping[str, Any]) -> str | None:
    """What tells one full answer from another without keeping it; None where a part could not be read."""
    told = []
    for part in exercise.parts:
        answer = data["parts"][part.name]
        if answer["kind"] == "fault":
            return None
        # The same number with its unit and without is the same answer.
        told.append(
            [answer.get("number"), answer.get("unit") or part.unit, answer.get("letter"), answer.get("letters")]
            if part.kind not in LAB_KINDS
            else [answer.get("source"), answer.get("fields")]
        )
    return hashlib.sha256(json.dumps([exercise.id, told]).encode()).hexdigest()[:12]


def unread_parts(exercise: Exercise, data: Mapping[str, Any]) -> list[str]:
    """The parts whose answer could not be read, where another could."""
    unread = [part.name for part in exercise.parts if data["parts"][part.name]["kind"] == "fault"]
    return unread if len(unread) < len(exercise.parts) else []


def require_attempt(exercise: Exercise, record: Record) -> None:
    """Refused, with what is missing, before the exercise is solved or tried twice with different answers."""
    if record.solved is not None or record.best >= exercise.points or len(record.answers) >= TRIES_ENOUGH:
        return
    every = "with every part answered" if len(exercise.parts) > 1 else "with an answer that can be read"
    unread = [f"`{part.variable}`" for part in exercise.parts if part.name in record.parts_unread]
    if unread:
        every += f"; in the last check there was no answer that can be read for {', '.join(unread)}"
    if record.answers:
        raise Refused(f"one more try: {exercise.id} opens after a check of another answer, {every}")
    raise Refused(f"{exercise.id} opens when it is solved, or after two checks of different answers, {every}")


def opened(exercise: Exercise, learner: str) -> Worked:
    """The worked solution, from the instructor's file or from the key; Refused where it is still closed."""
    path = Path(solutions_file(exercise.level))
    if path.is_file():
        return _handed_out(exercise, path)
    if not _self_study():
        raise Refused(
            f"{exercise.id} is closed here. In a class it opens when `{path}` from your instructor lies beside this "
            "notebook; for self-study it opens in the copies that `make lab` makes"
        )
    try:
        key = session.answer_key()
    except Exception as error:
        raise Refused(f"the answer key is installed but cannot be loaded ({type(error).__name__}: {error})") from None
    if key is None:
        raise Refused(f"{exercise.id} is written by the answer key, and none is installed here")
    recorded = {name: collect(name, {}) for name in (*exercise.builds_on, exercise.id)} if exercise.lab else None
    worked: Worked = key.worked_solution(exercise.id, learner, recorded)
    return worked


def invitation(exercise: Exercise, record: Record) -> str | None:
    """The line under a verdict that says how to see the steps; None while they are closed."""
    try:
        require_attempt(exercise, record)
    except Refused:
        return None
    if not _self_study() and not Path(solutions_file(exercise.level)).is_file():
        return None
    return f'The worked solution is open: `solution("{exercise.id}")`.'


def _self_study() -> bool:
    """Whether this is a learner's own folder, made by `python -m grader learn`, and nobody grades in it."""
    folder = session.records_folder()
    return folder is not None and (folder / session.LEARNER_FILE).is_file() and session.keeps_records()


def _handed_out(exercise: Exercise, path: Path) -> Worked:
    try:
        handed_out = json.loads(path.read_text(encoding="utf-8"))
        whose = handed_out.get("learner", DEFAULT_LEARNER)
        worked = Worked.from_json(handed_out["exercises"][exercise.id])
        return worked if whose == DEFAULT_LEARNER else replace(worked, whose=whose)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(f"{path} beside this notebook holds no solution of {exercise.id} that can be read") from None
