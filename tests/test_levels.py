"""Each level stands on those before it and on nothing after it, and says so where an earlier answer is missing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.answer_key.solutions import reference_inputs
from grader.course import START_HERE, notebooks_in, read_notebook, write_notebook
from grader.learn import prepare
from grader.selftest.cells import cells_to_run, exercises_of, name_of, of_role
from grader.selftest.trials import filled
from llmserving import check
from llmserving.exercises import EXERCISES, Exercise
from llmserving.exercises.attempts import SOLVED
from llmserving.exercises.course import LEVELS
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.progress import PROGRESS_FILE
from llmserving.exercises.session import RECORDS_FOLDER, RECORDS_VARIABLE

from tests.notebook_runs import NOTEBOOKS, ROOT, run_offline

NAMES = [level.name for level in LEVELS]
IN_ORDER = [exercise.id for level in LEVELS for exercise in level.every_exercise]
LARGEST_PICTURE_BYTES = 150_000
each_level = pytest.mark.parametrize("level", NAMES)


@each_level
def test_the_readme_shows_the_level_in_both_themes_and_says_what_is_seen(level: str) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.search(
        rf'<picture><source [^>]*dark[^>]*srcset="([^"]*{level}_dark[^"]*)">\s*<img ([^>]*)></picture>', readme
    )
    assert shown, f"no picture of {level}: make pictures makes it, and the README's table of levels takes it"
    light = re.search(rf'src="(docs/pictures/{level}_light.png)"', shown[2])
    words = re.search(r'alt="([^"]+)"', shown[2])
    assert light
    assert words
    assert len(words[1].split()) > 10
    for path in (shown[1], light[1]):
        assert 10_000 < (ROOT / path).stat().st_size < LARGEST_PICTURE_BYTES, path


def test_a_lab_stands_beside_its_level_and_nothing_of_the_level_builds_on_it() -> None:
    for level in LEVELS:
        assert not [one.id for one in level.exercises if one.lab], "a lab is listed among the level's labs"
        assert all(one.lab for one in level.lab_exercises)
        assert not [one.id for one in level.exercises if any(EXERCISES[name].lab for name in one.builds_on)]


def test_an_exercise_builds_only_on_those_before_it() -> None:
    assert sorted(IN_ORDER) == sorted(EXERCISES)
    for exercise in EXERCISES.values():
        assert all(IN_ORDER.index(earlier) < IN_ORDER.index(exercise.id) for earlier in exercise.builds_on), exercise.id


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_link_to_a_later_level_only_says_what_comes_next(path: Path) -> None:
    if path.parent.name in NAMES:
        assert forward_links(path.parent.name, read_notebook(path)) == []


def test_a_link_that_sends_a_learner_ahead_is_seen() -> None:
    cells = [
        nbformat.v4.new_markdown_cell(source)
        for source in ("See [it](../L3/paging.ipynb).", "Next: [it](../L2/a.ipynb)")
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert forward_links("L1", notebook) == ["See [it](../L3/paging.ipynb)."]
    assert forward_links("L3", notebook) == []


def forward_links(level: str, notebook: Any) -> list[str]:
    """Sentences that lead to a later level, unless they say that it comes next."""
    later = NAMES[NAMES.index(level) + 1 :]
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    sentences = re.split(r"\n\n|(?<=[.?]) ", prose)
    return [
        sentence
        for sentence in sentences
        if any(f"/{name}/" in target for name in later for target in re.findall(r"\]\(([^)]+)\)", sentence))
        and not re.search(r"\bnext\b", sentence, re.IGNORECASE)
    ]


@pytest.mark.slow
@each_level
def test_a_level_passes_with_only_the_levels_up_to_it_done(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up_to_it = LEVELS[: NAMES.index(level) + 1]
    learn = learner_with(tmp_path, [one.name for one in up_to_it])
    monkeypatch.chdir(learn)
    for exercise in (exercise for earlier in up_to_it[:-1] for exercise in earlier.exercises):
        check(exercise.id, *reference_inputs(exercise, DEFAULT_LEARNER).values())
    for path in notebooks_in(learn / level):
        for cell, score, _ in worked(path, EXERCISES.values()):
            assert score == sum(exercise.points for exercise in exercises_of(cell)), name_of(cell)
    records = json.loads((learn / RECORDS_FOLDER / PROGRESS_FILE).read_text())["exercises"]
    assert {name for name, record in records.items() if record["solved"] in SOLVED} == {
        *(exercise.id for one in up_to_it for exercise in one.exercises),
        *(exercise.id for exercise in up_to_it[-1].lab_exercises),
    }


@pytest.mark.slow
@each_level
def test_a_level_alone_says_what_is_not_answered_and_ends_in_no_traceback(level: str, tmp_path: Path) -> None:
    """No other level is there, and here only what builds on another answer is answered."""
    learn = learner_with(tmp_path, [level])
    for path in notebooks_in(learn / level):
        for cell, score, told in worked(path, [one for one in EXERCISES.values() if one.builds_on]):
            answered = [exercise for exercise in exercises_of(cell) if exercise.builds_on]
            assert score == sum(exercise.points for exercise in answered), name_of(cell)
            assert told.count("not answered yet") >= len(exercises_of(cell)) - len(answered)


def learner_with(folder: Path, levels: Iterable[str]) -> Path:
    """The folder of a new learner who has these levels and no others."""
    course = folder / "course"
    for level in levels:
        shutil.copytree(ROOT / "notebooks" / level, course / level, ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / "notebooks" / START_HERE, course)
    prepare(folder / "learn", course.resolve(), DEFAULT_LEARNER)
    return folder / "learn"


def worked(path: Path, answered: Iterable[Exercise]) -> list[tuple[Any, float, str]]:
    """Answer these exercises in a learner's notebook and run it as grading would: each check cell, its points and words."""
    known = {exercise.id for exercise in answered}
    notebook = read_notebook(path)
    for cell in of_role(notebook, "answer"):
        exercises = [exercise for exercise in exercises_of(cell) if exercise.id in known]
        right = {
            exercise.part_by_name[part].variable: value
            for exercise in exercises
            for part, value in reference_inputs(exercise, DEFAULT_LEARNER).items()
        }
        cell.source = filled(cell.source, right)
    notebook.cells = cells_to_run(notebook)
    write_notebook(notebook, path)
    run = run_offline(path, path.parent, {RECORDS_VARIABLE: "on"})
    shown = ((cell, run.outputs(cell.id)[0].data) for cell in of_role(run.notebook, "check"))
    return [(cell, float(data["text/plain"]), data["text/html"]) for cell, data in shown]
