"""Render: what a notebook says of an exercise is written by the exercise, for one learner's numbers.

A cell that belongs to an exercise says so in its metadata: {"llmserving": {"role": "statement", "exercise": "L2.1"}}, or
role "answer" or "check" with the id of the check ("L2.1", or a group such as "L1.cache"), or role "own-words" for the text
that a learner may write beside an argument. START_HERE has a cell with the role "overview", the table of levels, and three
with the placement: its questions ("placement"), their answers ("placement_answers") and the call ("placement_check"), none
of them graded. A cell of the fault lab with the role "day" names the exercise "of" which it shows the day: what is called in
it, such as `ash_day()`, is written with the learner's number. A cell's source and its nbgrader metadata are made here; of an
answer cell only the solution between the markers is kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.course import LEVELS, Level
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import CODE_KINDS
from llmserving.exercises.placing import placement_markdown, placement_stub
from llmserving.exercises.statement import answer_stub, between, statement_markdown
from llmserving.units import format_number

from grader.own_words import OWN_WORDS, own_words_source, points_of

METADATA = "llmserving"
LIVE_TAG = "live"
ROLES = (
    "statement", "answer", "check", OWN_WORDS, "overview", "placement", "placement_answers", "placement_check", "day",
)  # fmt: skip

ANSWER_HEAD = "# Put your answer in the place of each ... and run this cell, then the next."
CODE_HEAD = (
    "# Write what each raise stands for, put your answer in the place of each ..., and run this cell, then the next."
)
ANSWER_HEADS = (ANSWER_HEAD, CODE_HEAD)
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

_OF_LABS = "A lab is for building and measuring, beside its level: the level is finished without it."

_DAY = re.compile(r"(?<=_day)\(\d*\)")
_SOLUTION = re.compile(rf"{BEGIN}\n.*?{END}", re.DOTALL)


def render_notebook(notebook: Any, learner: str = DEFAULT_LEARNER) -> Any:
    """A copy of `notebook` with its exercise cells written for `learner`, and the learner's id in its metadata."""
    rendered = nbformat.from_dict(notebook)
    for cell in rendered.cells:
        belongs = cell.metadata.get(METADATA)
        if belongs is not None:
            _render_cell(cell, belongs["role"], belongs.get("exercise") or belongs.get("of", ""), learner)
    rendered.metadata[METADATA] = {**rendered.metadata.get(METADATA, {}), "learner": learner}
    return rendered


def render_file(path: Path) -> bool:
    """Render a notebook of the instructor's in place; True if it changed."""
    before = path.read_text(encoding="utf-8")
    rendered = render_notebook(nbformat.reads(before, as_version=4))
    after = nbformat.writes(rendered) + "\n"
    if after == before:
        return False
    path.write_text(after, encoding="utf-8")
    return True


def _render_cell(cell: Any, role: str, name: str, learner: str) -> None:
    if role == "statement":
        cell.source = statement_markdown(EXERCISES[name], learner)
        cell.metadata["nbgrader"] = _nbgrader(f"{name}-statement", locked=True)
    elif role == "overview":
        cell.source = _overview()
    elif role == "placement":
        cell.source = placement_markdown(learner)
    elif role == "placement_answers":
        cell.source = f"{ANSWER_HEAD}\n{placement_stub()}"
    elif role == "placement_check":
        whose = "" if learner == DEFAULT_LEARNER else f'learner="{learner}"'
        cell.source = f"from llmserving import placement\n\nplacement({whose})"
    elif role == "day":
        before = EXERCISES[name].numbers(learner)["before"]
        cell.source = _DAY.sub(f"({before or ''})", cell.source)
    elif role == OWN_WORDS:
        cell.source = own_words_source(name, points_of(cell))
    elif role == "answer":
        cell.source = _answer_source(name, cell.source)
        cell.metadata["nbgrader"] = _nbgrader(f"{name}-answer", solution=True)
    elif role == "check":
        whose = "" if learner == DEFAULT_LEARNER else f', learner="{learner}"'
        cell.source = f'from llmserving import check\n\ncheck("{name}"{whose})'
        points = sum(EXERCISES[exercise_id].points for exercise_id in GROUPS[name])
        cell.metadata["nbgrader"] = _nbgrader(name, locked=True, grade=True, points=points)
    else:
        raise ValueError(f"a cell of {name!r} has the role {role!r}; the roles are {', '.join(ROLES)}")


def _overview() -> str:
    """The course as a table: a row a notebook, with the link, the exercises, and what it takes."""
    rows = ["| level | notebook | exercises | about | points |", "|---|---|---|---|---|"]
    for level in LEVELS:
        for notebook in level.every_notebook:
            ids = ", ".join(exercise.id for exercise in notebook.exercises) or "none, to read"
            points = format_number(sum(exercise.points for exercise in notebook.exercises))
            link = f"[{notebook.title}]({notebook.path}.ipynb)"
            beside = ", lab" if notebook in level.labs else ""
            rows.append(f"| {level.name} {level.title}{beside} | {link} | {ids} | {notebook.minutes} min | {points} |")
    questions = "\n".join(
        f"- **{level.name}, {level.title.lower()}**, about {level.minutes} minutes{_in_labs(level)}: *{level.question}*"
        for level in LEVELS
    )
    return "\n\n".join([questions, "\n".join(rows), *([_OF_LABS] if any(level.labs for level in LEVELS) else [])])


def _in_labs(level: Level) -> str:
    minutes = sum(lab.minutes for lab in level.labs)
    return f", and {minutes} in {'its lab' if len(level.labs) == 1 else 'its labs'}" if level.labs else ""


def stubs_of(check: str) -> str:
    """The answer cell of a check before anything is answered."""
    exercises = [EXERCISES[exercise_id] for exercise_id in GROUPS[check]]
    has_code = any(part.kind in CODE_KINDS for exercise in exercises for part in exercise.parts)
    head = CODE_HEAD if has_code else ANSWER_HEAD
    stubs = [answer_stub(exercise) for exercise in exercises]
    return f"{head}\n{between(*stubs).join(stubs)}"


def _answer_source(check: str, source: str) -> str:
    solution = _SOLUTION.search(source)
    stubs = stubs_of(check)
    # As a formatter has it: code is set apart by two empty lines.
    return stubs + (f"{between(stubs)}{solution.group()}" if solution else "")


def _nbgrader(
    grade_id: str, *, locked: bool = False, grade: bool = False, solution: bool = False, points: float | None = None
) -> dict[str, Any]:
    made = {
        # nbgrader takes letters, digits, _ and - only, so L2.1 is L2_1 in the gradebook.
        "grade_id": grade_id.replace(".", "_"),
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "task": False,
        "schema_version": 3,
    }
    return made if points is None else {**made, "points": int(points) if points == int(points) else points}
