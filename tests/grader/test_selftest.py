"""The selftest holds for the course, and each of its properties fails on a copy in which that property is broken."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.answer_key.rubrics import RUBRICS
from grader.answer_key.solutions import WrongInput, reference_inputs, wrong_inputs
from grader.answer_key.sources import Source
from grader.course import find_notebooks
from grader.render import METADATA
from grader.selftest import practice, release_checks, trials
from grader.selftest.tally import (
    ALONE,
    CLEAN,
    INSTRUCTOR,
    MISTAKES,
    NOT_TOLD,
    OTHERWISE,
    PRESENT,
    PROPERTIES,
    REFERENCE,
    UNTOUCHED,
)  # fmt: skip
from grader.student_version import student_version
from llmserving import check
from llmserving.exercises import EXERCISES, Exercise, session
from llmserving.exercises.course import LEVELS

from grader import selftest

PLACE = "L2/weights"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """One notebook of the course, to be broken."""
    path = tmp_path / f"{PLACE}.ipynb"
    path.parent.mkdir()
    shutil.copy(find_notebooks() / f"{PLACE}.ipynb", path)
    return path


def edit(path: Path, change: Callable[[Any], None]) -> None:
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


def cell_of(notebook: Any, role: str, exercise: str) -> Any:
    return next(c for c in notebook.cells if c.metadata.get(METADATA) == {"role": role, "exercise": exercise})


def looked_at(path: Path, learner: str = "default", released: Any = None) -> dict[str, list[str]]:
    source = nbformat.read(path, as_version=4)
    released = student_version(source, learner) if released is None else released
    return {
        name: off
        for name, off in release_checks.look_at(released, source, PLACE, learner, "here").failures.items()
        if off
    }


def test_the_course_holds_for_its_own_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert selftest.main(["--learners", "0"]) == 0, capsys.readouterr().out
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok"] * len(PROPERTIES)


@pytest.mark.slow
def test_the_course_holds_for_five_other_draws() -> None:
    """Together with the test above this is `python -m grader selftest`."""
    others = [f"selftest-{number}" for number in range(1, 6)]
    tally = selftest.selftest([level.name for level in LEVELS], others, find_notebooks())
    assert tally.holds, tally.report()


def test_nothing_is_off_in_a_copy_that_is_not_broken(copy: Path) -> None:
    assert looked_at(copy) == {}
    assert looked_at(copy, "ada") == {}


def test_a_check_cell_that_is_missing_fails(copy: Path) -> None:
    edit(copy, lambda notebook: notebook.cells.remove(cell_of(notebook, "check", "SC6")))
    assert "the check cells are for ['L2.3'], due are ['L2.3', 'SC6']" in looked_at(copy)[PRESENT][0]


def test_a_statement_that_stands_twice_fails(copy: Path) -> None:
    def twice(notebook: Any) -> None:
        notebook.cells.append(nbformat.from_dict({**cell_of(notebook, "statement", "SC6"), "id": "twice"}))

    edit(copy, twice)
    assert "the statement cells are for ['L2.3', 'SC6', 'SC6']" in looked_at(copy)[PRESENT][0]


def test_a_check_cell_with_other_points_fails(copy: Path) -> None:
    released = student_version(nbformat.read(copy, as_version=4), "default")
    cell_of(released, "check", "SC6").metadata.nbgrader.points = 7
    assert looked_at(copy, released=released)[PRESENT] == ["here: SC6 is not worth 1.0"]


def test_a_release_that_keeps_the_solutions_fails(copy: Path) -> None:
    off = looked_at(copy, released=nbformat.read(copy, as_version=4))[CLEAN]
    assert any("the answer cell L2.3 holds more than stubs" in text for text in off)
    assert any("### BEGIN SOLUTION" in text for text in off)


def test_a_lesson_that_tells_what_own_words_must_hold_fails() -> None:
    source = nbformat.read(find_notebooks() / "L1" / "two_phases.ipynb", as_version=4)
    released = student_version(source, "default")
    look_at = release_checks.look_at
    assert look_at(released, source, "L1/two_phases", "default", "here").failures[CLEAN] == []
    cell_of(released, "own-words", "WH1").source += f" {RUBRICS['WH1'][0]}"
    off = look_at(released, source, "L1/two_phases", "default", "here").failures[CLEAN]
    assert off == [f"here: it tells what an answer in own words must hold, {RUBRICS['WH1'][0]!r}"]


def test_a_solution_line_in_a_lesson_fails(copy: Path) -> None:
    line = "L2_3_fp16_gb = billions * 2"
    edit(copy, lambda notebook: notebook.cells.append(nbformat.v4.new_code_cell(f"# like this:\n{line}")))
    assert line in looked_at(copy)[CLEAN][0]


def test_a_cell_that_names_the_grader_fails(copy: Path) -> None:
    edit(copy, lambda notebook: notebook.cells.append(nbformat.v4.new_code_cell("from grader.answer_key import KEY")))
    assert "names the grader" in looked_at(copy)[CLEAN][0]


def test_a_stored_output_fails(copy: Path) -> None:
    released = student_version(nbformat.read(copy, as_version=4), "default")
    cell_of(released, "check", "SC6").outputs = [nbformat.v4.new_output("stream", text="1.0")]
    assert "has a stored output" in looked_at(copy, released=released)[CLEAN][0]


@pytest.mark.parametrize("learner", ["default", "ada"])
def test_a_statement_that_gives_the_answer_away_fails(
    copy: Path, monkeypatch: pytest.MonkeyPatch, learner: str
) -> None:
    exercise = EXERCISES["L2.3"]
    told = f"{exercise.statement} In FP16 they are {reference_inputs(exercise, learner)['fp16_gb']:.1f} GB."
    assert NOT_TOLD not in looked_at(copy, learner)
    monkeypatch.setitem(EXERCISES, "L2.3", dataclasses.replace(exercise, statement=told.replace(".0 GB", " GB")))
    assert "tells L2_3_fp16_gb" in looked_at(copy, learner)[NOT_TOLD][0]


def test_a_lesson_that_holds_the_right_number_fails(tmp_path: Path) -> None:
    source = nbformat.read(find_notebooks() / "L2/kv_size.ipynb", as_version=4)
    source.cells.append(nbformat.v4.new_markdown_cell("Such a cache takes 1.07 GB."))
    off = release_checks.look_at(student_version(source, "default"), source, "L2/kv_size", "default", "here").failures
    assert "tells L2_1_kv_gb: ['1.07']" in off[NOT_TOLD][0]


def test_a_run_that_looks_at_nothing_does_not_hold(tmp_path: Path) -> None:
    tally = selftest.selftest(["L2"], ["default"], tmp_path)
    assert not tally.holds
    assert tally.report().count("NOT RUN") == len(PROPERTIES)


def test_cells_that_need_the_network_or_give_an_answer_away_fail(copy: Path) -> None:
    """Three lessons: one asks the network, one leaves the right letter set, one writes to stderr."""

    def add(notebook: Any) -> None:
        check = notebook.cells.index(cell_of(notebook, "check", "SC6"))
        asks = "import socket\nsocket.socket().connect(('192.0.2.1', 80))"
        for source in (asks, 'SC6 = "A"', "import sys\nprint('careful', file=sys.stderr)"):
            notebook.cells.insert(check, nbformat.v4.new_code_cell(source))

    edit(copy, add)
    off = trials.try_release(copy, "default").failures
    assert any("gave OSError: the network is blocked, but a cell asked for ('192.0.2.1', 80)" in o for o in off[ALONE])
    assert any(text.endswith("gave careful\n") for text in off[ALONE])
    assert [text for text in off[UNTOUCHED] if "SC6 · right" in text]
    assert not off[REFERENCE]


def test_a_reference_that_is_wrong_and_a_mistake_without_its_message_fail(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key in the kernel is whole; what this process expects of it is not."""
    victim = next(wrong for wrong in wrong_inputs(EXERCISES["L2.3"], "ada") if wrong.part == "fp16_gb")

    def other_sentence(exercise: Exercise, learner: str) -> list[WrongInput]:
        changed = [
            dataclasses.replace(victim, sentence="Another sentence."),
            dataclasses.replace(victim, name="nobody"),
        ]
        passing = dataclasses.replace(victim, written=reference_inputs(EXERCISES["L2.3"], learner)["fp16_gb"])
        return [victim, *changed, passing] if exercise.id == "L2.3" else []

    def off_by_one(exercise: Exercise, learner: str) -> dict[str, Any]:
        right = reference_inputs(exercise, learner)
        return {**right, "int8_gb": right["int8_gb"] + 1} if exercise.id == "L2.3" else right

    monkeypatch.setattr(trials, "wrong_inputs", other_sentence)

    def wrong_letter(exercise: Exercise, learner: str) -> dict[str, Any]:
        right = reference_inputs(exercise, learner)
        return {"answer": "ABCD".replace(right["answer"], "")[0]} if exercise.id == "SC6" else right

    monkeypatch.setattr(trials, "other_inputs", off_by_one)
    monkeypatch.setattr(trials, "reference_inputs", wrong_letter)
    tally = trials.try_release(copy, "ada")
    assert (tally.counts[MISTAKES], len(tally.failures[MISTAKES])) == (4, 3)
    assert f"is {victim.name}, but:" in tally.failures[MISTAKES][0]
    assert len(tally.failures[OTHERWISE]) == 1
    assert "L2_3_int8_gb" in tally.failures[OTHERWISE][0]
    assert len(tally.failures[REFERENCE]) == 1
    assert "SC6 · not yet" in tally.failures[REFERENCE][0]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """What runs a call of check in this process, for the course's own learner, and keeps no record."""
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    monkeypatch.setenv(session.LEARNER_VARIABLE, "default")
    return lambda source: eval(source, {"check": check})._repr_mimebundle_()


def test_every_variant_is_answered_rightly_and_with_each_mistake_in_practice(
    run: Callable[[str], dict[str, Any]],
) -> None:
    tally = practice.try_practice(run, [EXERCISES["TF3"], EXERCISES["L2.1"]], "here")
    assert (tally.counts[REFERENCE], tally.counts[MISTAKES]) == (3, 3 * (1 + 3))
    assert not tally.failures[REFERENCE] + tally.failures[MISTAKES]


def test_a_variant_whose_reference_is_wrong_or_whose_mistake_is_not_named_fails(
    run: Callable[[str], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_the_course(exercise: Exercise, learner: str) -> dict[str, Any]:
        return reference_inputs(exercise, "default") | {"reason": reference_inputs(exercise, learner)["reason"]}

    def nobody(exercise: Exercise, learner: str) -> list[WrongInput]:
        return [dataclasses.replace(wrong, name="nobody") for wrong in wrong_inputs(exercise, learner)]

    monkeypatch.setattr(practice, "reference_inputs", of_the_course)
    monkeypatch.setattr(practice, "wrong_inputs", nobody)
    tally = practice.try_practice(run, [EXERCISES["TF3"]], "here")
    assert [text.split(":")[1].strip() for text in tally.failures[REFERENCE]] == ["TF3#1", "TF3#3"]
    assert len(tally.failures[MISTAKES]) == tally.counts[MISTAKES] > 0


def test_an_instructor_s_solution_that_is_wrong_fails_and_the_command_says_so(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def spoil(notebook: Any) -> None:
        answer = cell_of(notebook, "answer", "SC6")
        answer.source = answer.source.replace('SC6 = "A"', 'SC6 = "B"')
        assert '"B"' in answer.source

    edit(copy, spoil)
    assert selftest.main(["L2", "--learners", "0", "--notebooks", str(copy.parent.parent)]) == 1
    told = capsys.readouterr().out
    assert f"FAILED  {INSTRUCTOR}: 1 of 2" in told
    assert "weights: SC6: ✗ SC6 · not yet" in told


def test_a_level_that_does_not_exist_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert selftest.main(["l9"]) == 2
    assert "there is no level 'l9' here" in capsys.readouterr().err


def test_the_answer_cell_is_filled_where_its_dots_stand() -> None:
    assert trials.filled("# head\nSC1 = ...\nSC10 = ...", {"SC1": "B"}) == "# head\nSC1 = 'B'\nSC10 = ..."
    code = Source("def f():\n    return 1")
    assert trials.filled("# head\ndef f():\n    raise", {"f": code}) == f"# head\ndef f():\n    raise\n\n{code}"
