"""What happens to a submission's cells before and after it runs, without running it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import nbformat.warnings
import pytest
from grader.course import course_files, find_notebooks, read_notebook
from grader.errors import NotGraded
from grader.notebook_kernel import NotebookKernel
from grader.preprocessors.cells import grade_id_of, report_of, runs, start_report
from grader.preprocessors.keep_one import keep_one_of_each
from grader.preprocessors.missing_name import hint_on
from grader.preprocessors.names import names_set
from grader.preprocessors.read_scores import read_scores
from grader.preprocessors.restore import restore_from_release
from grader.student_version import student_version
from llmserving.exercises.card import VERDICT_MIME
from nbclient.util import run_sync
from nbgrader.utils import determine_grade

from tests.grader.submissions import (
    Change,
    cell_of,
    copied,
    copied_up,
    deleted,
    moved,
    new_ids,
    no_metadata,
    no_nbgrader,
    only_sources,
    own,
    reverse,
    right,
    tagged,
    then,
    written,
)

RELEASED = student_version(read_notebook(find_notebooks() / "L2" / "kv_size.ipynb"), "default")


def sanitized(*changes: Change, released: Any = RELEASED) -> Any:
    """The release, changed by a learner, after both steps."""
    notebook = copy.deepcopy(released)
    for change in changes:
        change(notebook)
    start_report(notebook, "ada", "default")
    keep_one_of_each(notebook, released)
    restore_from_release(notebook, released)
    nbformat.validate(notebook)
    return notebook


def notes(notebook: Any) -> list[str]:
    return [note["text"] for note in report_of(notebook)["notes"]]


def grade_ids(notebook: Any) -> list[str]:
    return [grade_id for cell in notebook.cells if (grade_id := grade_id_of(cell)) is not None]


def test_an_untouched_notebook_stays_as_it_is_and_has_no_notes() -> None:
    notebook = sanitized()
    assert notebook.cells == RELEASED.cells
    assert notes(notebook) == []


def test_a_copied_check_is_set_aside_and_the_original_kept() -> None:
    notebook = sanitized(copied("check", "L2.1"))
    assert grade_ids(notebook) == grade_ids(RELEASED)
    (twin,) = (cell for cell in notebook.cells if cell["id"].endswith("-copy"))
    assert twin.cell_type == "raw"
    assert "nbgrader" not in twin.metadata
    assert notes(notebook) == ["L2.1: the check cell was copied; graded from the original"]


def test_a_copy_pasted_above_does_not_pass_for_the_original() -> None:
    def swap(notebook: Any) -> None:
        at = notebook.cells.index(cell_of(notebook, "check", "L2.1"))
        notebook.cells[at], notebook.cells[at + 1] = notebook.cells[at + 1], notebook.cells[at]

    notebook = sanitized(copied("check", "L2.1"), swap)
    assert cell_of(notebook, "check", "L2.1")["id"] == cell_of(RELEASED, "check", "L2.1")["id"]


def test_an_answer_cell_that_was_split_runs_whole() -> None:
    notebook = sanitized(copied("answer", "L2.1", "L2_1_kv_gb = size / 1e9"), written("L2.1", "size = 1"))
    kept, rest = (cell for cell in notebook.cells if cell.source in ("size = 1", "L2_1_kv_gb = size / 1e9"))
    assert grade_id_of(kept) == "L2_1-answer"
    assert (rest.cell_type, grade_id_of(rest)) == ("code", None)
    assert "was there 2 times" in notes(notebook)[0]


def test_a_spare_copy_of_an_untouched_answer_cell_does_not_undo_the_answer() -> None:
    notebook = sanitized(copied("answer", "L2.1"), written("L2.1", "L2_1_kv_gb = 1"))
    running = [cell.source for cell in notebook.cells if cell.cell_type == "code" and "L2_1_kv_gb =" in cell.source]
    assert running == ["L2_1_kv_gb = 1"]


def test_an_answer_given_in_the_copy_is_the_answer() -> None:
    notebook = sanitized(copied("answer", "L2.1", "L2_1_kv_gb = 1"))
    running = [cell.source for cell in notebook.cells if cell.cell_type == "code" and "L2_1_kv_gb =" in cell.source]
    assert running == ["L2_1_kv_gb = 1"]
    assert grade_ids(notebook) == grade_ids(RELEASED)


@pytest.mark.parametrize("tag", ["skip-execution", "live", "raises-exception"])
def test_tags_of_a_check_come_from_the_release(tag: str) -> None:
    notebook = sanitized(tagged("check", "L2.1", tag))
    assert "tags" not in cell_of(notebook, "check", "L2.1").metadata
    assert notes(notebook) == ["L2.1: the check cell was changed; the released one was graded"]


def test_a_live_cell_stays_live() -> None:
    live = next(cell for cell in RELEASED.cells if "live" in cell.metadata.get("tags", []))

    def untag(notebook: Any) -> None:
        next(cell for cell in notebook.cells if cell["id"] == live["id"]).metadata.pop("tags")

    notebook = sanitized(untag)
    assert next(cell for cell in notebook.cells if cell["id"] == live["id"]).metadata["tags"] == ["live"]


@pytest.mark.parametrize(("role", "state"), [("check", "from the release"), ("answer", "untouched")])
def test_a_deleted_cell_comes_back_in_its_place(role: str, state: str) -> None:
    notebook = sanitized(deleted(role, "L2.2"))
    assert [cell["id"] for cell in notebook.cells] == [cell["id"] for cell in RELEASED.cells]
    assert notes(notebook) == [f"L2.2: the {role} cell was missing; it was added back {state}"]


def test_all_cells_but_one_deleted_come_back_in_order() -> None:
    def leave_one(notebook: Any) -> None:
        notebook.cells = [cell_of(notebook, "answer", "L2.2")]

    assert grade_ids(sanitized(leave_one)) == grade_ids(RELEASED)


@pytest.mark.parametrize("cells", [[], [nbformat.v4.new_code_cell("L2_1_kv_gb = 1")]])
def test_a_notebook_in_which_nothing_is_recognised_is_not_graded(cells: list[Any]) -> None:
    def replace(notebook: Any) -> None:
        notebook.cells = cells

    with pytest.raises(NotGraded, match="not one of the released statements, answer cells and checks was recognised"):
        sanitized(replace)


DROPPED = [then(new_ids, no_metadata), only_sources, then(new_ids, no_nbgrader)]


@pytest.mark.parametrize("drop", DROPPED, ids=["no metadata", "only sources", "no nbgrader"])
def test_answers_are_found_whatever_an_editor_has_dropped(drop: Change) -> None:
    answered = then(right(), own("mine = 1", 6))
    notebook, as_usual = sanitized(answered, drop), sanitized(answered)
    assert [cell.source.strip() for cell in notebook.cells] == [cell.source.strip() for cell in as_usual.cells]
    assert grade_ids(notebook) == grade_ids(RELEASED)


@pytest.mark.parametrize("name", course_files(find_notebooks()), ids=str)
def test_every_notebook_of_the_course_is_put_together_again_from_its_sources(name: Path) -> None:
    released = student_version(read_notebook(find_notebooks() / name), "default")
    answered, upset = copy.deepcopy(released), copy.deepcopy(released)
    right()(answered)
    then(right(), only_sources, reverse)(upset)
    start_report(upset, "ada", "default")
    keep_one_of_each(upset, released)
    restore_from_release(upset, released)
    assert [(cell["id"], cell.source) for cell in upset.cells] == [(cell["id"], cell.source) for cell in answered.cells]


def test_an_answer_that_does_not_parse_is_recognised_too() -> None:
    source = cell_of(RELEASED, "answer", "L2.1").source + "\nL2_1_kv_gb = = 1"
    notebook = sanitized(written("L2.1", source), new_ids, no_metadata)
    assert cell_of(notebook, "answer", "L2.1").source == source
    assert notes(notebook) == []


OUT_OF_ORDER = "cells of the notebook were out of order; they were put back in the order of the release"


@pytest.mark.parametrize(
    "move",
    [
        moved("check", "L2.1", 0),
        moved("answer", "L2.1", -1),
        moved("check", "EC8", 4),
        moved("statement", "EC8", -1),
        reverse,
    ],
)
def test_a_moved_cell_is_put_back(move: Change) -> None:
    notebook = sanitized(move)
    assert notebook.cells == RELEASED.cells
    assert notes(notebook) == [OUT_OF_ORDER]


def in_order(notebook: Any, *sources: str) -> bool:
    found = [cell.source for cell in notebook.cells]
    places = [found.index(source) for source in sources]
    return places == sorted(places)


CHECK = cell_of(RELEASED, "check", "L2.1").source
LESSON = next(cell for cell in RELEASED.cells if cell["id"] == "gb-and-gib").source


def test_cells_of_the_learners_own_stay_after_what_they_followed() -> None:
    notebook = sanitized(own("top = 0", 0), own("one = 1", 8), own("two = 2", 9), own("end = 3", -1))
    assert notes(notebook) == []
    added = [cell.source for cell in notebook.cells]
    with_a_move = sanitized(
        own("top = 0", 0), own("one = 1", 8), own("two = 2", 9), own("end = 3", -1), moved("check", "EC8", -1)
    )
    assert [cell.source for cell in with_a_move.cells] == added


@pytest.mark.parametrize("also", [[], [reverse]], ids=["moved to the end", "then all reversed"])
def test_an_answer_that_was_moved_still_finds_its_helpers(also: list[Change]) -> None:
    answer = "L2_1_kv_gb = helper(kv_bytes)"
    helper = "def helper(f):\n    return f() / 1e9"
    if also:
        changes = [written("L2.1", answer), *also, own(helper, 0)]
    else:
        changes = [written("L2.1", answer), own(helper, -1), moved("answer", "L2.1", -1)]
    assert in_order(sanitized(*changes), helper, answer, CHECK)


def test_a_cell_that_needs_an_answer_runs_after_it_wherever_it_stood() -> None:
    notebook = sanitized(written("L2.1", "L2_1_kv_gb = 1"), own("twice = 2 * L2_1_kv_gb", 0), moved("check", "EC8", 0))
    assert in_order(notebook, "L2_1_kv_gb = 1", "twice = 2 * L2_1_kv_gb")


@pytest.mark.parametrize("helper", ["%run helpers.py", "from helpers import *", "exec(text)", "broken = = 1"])
def test_a_helper_that_cannot_be_read_stays_before_the_answer(helper: str) -> None:
    notebook = sanitized(written("L2.1", "L2_1_kv_gb = f()"), own(helper, -1), moved("answer", "L2.1", -1))
    assert in_order(notebook, helper, "L2_1_kv_gb = f()", CHECK)


def test_in_a_reversed_notebook_a_helper_runs_after_what_it_uses_and_before_what_uses_it() -> None:
    helper, answer, later = "size = kv_bytes()", "L2_1_kv_gb = size / 1e9", "half = L2_1_kv_gb / 2"
    notebook = sanitized(written("L2.1", answer), own(helper, 4), own(later, 9), reverse)
    assert in_order(notebook, LESSON, helper, answer, CHECK)
    assert in_order(notebook, answer, later)


def test_a_check_copied_to_the_top_with_its_id_is_graded_where_it_was_released() -> None:
    twice = copy.deepcopy(RELEASED)
    copied_up("check", "L2.1")(twice)
    with pytest.warns(nbformat.warnings.DuplicateCellId):
        read = nbformat.reads(json.dumps(twice), as_version=4)
    notebook = sanitized(lambda one: one.update(cells=read.cells))
    assert [cell["id"] for cell in notebook.cells[1:]] == [cell["id"] for cell in RELEASED.cells]
    assert notebook.cells[0].cell_type == "raw"
    assert notes(notebook) == ["L2.1: the check cell was copied; graded from the original"]


@pytest.mark.parametrize("place", [0, 4, 6, -1])
def test_an_answer_in_a_cell_of_the_learners_own_counts(place: int) -> None:
    notebook = sanitized(own("L2_1_kv_gb = 1", place), deleted("answer", "L2.1"))
    assert in_order(notebook, "L2_1_kv_gb = 1", CHECK)
    assert "L2_1_kv_gb" not in cell_of(notebook, "answer", "L2.1").source
    assert notes(notebook) == [
        "L2.1: the answer cell was missing; the answer was taken from a cell of the learner's own"
    ]


def test_an_answer_cell_left_open_does_not_run_over_an_answer_given_elsewhere() -> None:
    notebook = sanitized(own("size = 1", -1), own("L2_1_kv_gb = size", -1), own("other = 1", -1))
    assert in_order(notebook, "size = 1", "L2_1_kv_gb = size", CHECK, "other = 1")
    assert "..." not in cell_of(notebook, "answer", "L2.1").source.replace("each ...", "")
    assert notes(notebook) == [
        "L2.1: the answer cell was left open; the answer was taken from a cell of the learner's own"
    ]


@pytest.mark.parametrize("changes", [[], [deleted("answer", "LAB2.1")]], ids=["left open", "deleted"])
def test_no_stub_of_a_function_runs_over_one_that_was_written_elsewhere(changes: list[Change]) -> None:
    lab = student_version(read_notebook(find_notebooks() / "L2" / "lab_kv_bytes.ipynb"), "default")
    code = "def kv_bytes_per_token(**shape):\n    return 1"
    for place in (0, -1):
        notebook = sanitized(own(code, place), *changes, released=lab)
        assert "def " not in cell_of(notebook, "answer", "LAB2.1").source
        assert in_order(notebook, code, cell_of(notebook, "check", "LAB2.1").source)
    answer = cell_of(lab, "answer", "LAB2.1").source
    kept = sanitized(own(code, -1), written("LAB2.1", f"{answer}\n\n\n{code}"), released=lab)
    assert code in cell_of(kept, "answer", "LAB2.1").source


def test_an_answer_that_was_given_is_not_taken_from_elsewhere() -> None:
    notebook = sanitized(written("L2.1", "L2_1_kv_gb = 1"), own("L2_1_kv_gb = 2", -1))
    assert notebook.cells[-1].source == "L2_1_kv_gb = 2"
    assert notes(notebook) == []


def test_a_cell_of_the_learners_own_runs_although_tagged_live_but_a_copy_of_a_live_cell_does_not() -> None:
    live = next(cell for cell in RELEASED.cells if "live" in cell.metadata.get("tags", []))
    notebook = sanitized(own("helper = 2", 0, "live"), own(live.source, 0, "live"))
    assert [runs(cell) for cell in notebook.cells[:2]] == [False, True]


@pytest.mark.parametrize(
    ("source", "sets"),
    [
        ("a = b = 1; c, (d, *e) = x", {"a", "b", "c", "d", "e"}),
        ("import os.path, numpy as np\nfrom math import pi as tau", {"os", "np", "tau"}),
        ("def f():\n    global g\n    g = local = 1\nclass C:\n    inner = 1", {"f", "g", "C"}),
        ("[i for i in x]\n(y := 1)\nfor z in x: w = 1", {"y", "z", "w"}),
        ("a = ...\nb: int = ...\nc: int", set()),
        ("%matplotlib inline\na = 1\n!ls", {"a"}),
        ("a = = 1\nb == 2\nc = ...", {"a"}),
        ("a = " + "+".join(["1"] * 5000), {"a"}),
        ("a = (" * 500, {"a"}),
        ("a = '\\d'", {"a"}),
    ],
)
def test_names_that_a_cell_sets(source: str, sets: set[str]) -> None:
    assert names_set(source) == sets


def test_an_edited_check_and_statement_are_the_released_ones_again() -> None:
    def edit(notebook: Any) -> None:
        cell_of(notebook, "check", "L2.1").source = "2.0"
        cell_of(notebook, "statement", "L2.1").source = "What is 1 + 1?"

    notebook = sanitized(edit)
    assert notebook.cells == RELEASED.cells
    assert len(notes(notebook)) == 2


def test_an_answer_whose_metadata_an_editor_has_dropped_is_known_by_its_id() -> None:
    def drop(notebook: Any) -> None:
        cell = cell_of(notebook, "answer", "L2.1")
        cell.source, cell.metadata = "L2_1_kv_gb = 1", nbformat.from_dict({})

    notebook = sanitized(drop)
    assert cell_of(notebook, "answer", "L2.1").source == "L2_1_kv_gb = 1"
    assert notes(notebook) == []


@pytest.mark.parametrize("nonsense", ["text", [], {"grade_id": 7}, {"grade_id": "L2_1", "schema_version": 99}, {}])
def test_metadata_that_makes_no_sense_is_put_right(nonsense: Any) -> None:
    def spoil(notebook: Any) -> None:
        for cell in notebook.cells:
            cell.metadata["nbgrader"] = nonsense

    assert grade_ids(sanitized(spoil)) == grade_ids(RELEASED)


def test_a_cell_that_claims_to_be_graded_but_was_not_released_is_an_ordinary_one() -> None:
    def add(notebook: Any) -> None:
        extra = nbformat.v4.new_code_cell(
            "99.0", metadata={"nbgrader": {"grade_id": "bonus", "grade": True, "points": 99}}
        )
        notebook.cells.append(extra)

    notebook = sanitized(add)
    assert "nbgrader" not in notebook.cells[-1].metadata


def shown(text: str, verdicts: Any = None) -> Any:
    data = {"text/plain": text, **({} if verdicts is None else {VERDICT_MIME: verdicts})}
    return nbformat.v4.new_output("execute_result", data, execution_count=1)


def verdict(score: float, state: str = "right") -> dict[str, Any]:
    return {"L2.1": {"score": score, "points": 2, "diagnoses": [], "states": {"kv_gb": state}}}


def scored(*outputs: Any) -> tuple[float, Any]:
    """What nbgrader takes from the check of L2.1 when it has shown `outputs`, and the notebook."""
    notebook = sanitized()
    for cell in notebook.cells:
        if grade_id_of(cell) in ("L2_2", "EC8"):
            name = cell.metadata["llmserving"]["exercise"]
            nothing = {name: {"score": 0, "points": 2, "diagnoses": [], "states": {}}}
            cell.outputs = [shown("0.0", nothing)]
    check = cell_of(notebook, "check", "L2.1")
    check.outputs = list(outputs)
    read_scores(notebook)
    return determine_grade(check)[0], notebook


def test_a_score_counts_and_its_verdict_is_in_the_report() -> None:
    score, notebook = scored(shown("1.5", verdict(1.5, "partly")))
    assert score == 1.5
    assert report_of(notebook)["exercises"]["L2.1"]["states"] == {"kv_gb": "partly"}


def test_a_warning_costs_nothing() -> None:
    assert scored(nbformat.v4.new_output("stream", name="stderr", text="careful"), shown("2.0", verdict(2)))[0] == 2


@pytest.mark.parametrize(
    "outputs",
    [
        (),
        (shown("nan"),),
        (shown("inf"),),
        (shown("np.float64(2.0)"),),
        (shown("2.0", verdict(2)), shown("2.0", verdict(2))),
    ],
)
def test_silence_or_anything_but_one_number_is_zero_with_a_sentence(outputs: tuple[Any, ...]) -> None:
    score, notebook = scored(*outputs)
    assert score == 0
    assert notes(notebook) == ["L2.1: the check gave no score, so it counts as 0"]
    assert "Note: L2.1: the check gave no score" in cell_of(notebook, "check", "L2.1").outputs[0].text


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        (
            (nbformat.v4.new_output("error", ename="ImportError", evalue="no check", traceback=[]),),
            "stopped with ImportError",
        ),
        ((shown("0.0", verdict(0, "recorded")),), "the answer key could not be loaded"),
        ((shown("2.0"),), "without the verdicts"),
        ((shown("2.0", {}),), "without the verdicts"),
        ((shown("2.0", verdict(0)),), "shows 2.0, but its verdicts come to 0.0"),
        ((shown("99.0", verdict(99)),), "shows 99.0"),
        ((shown("-1.0", verdict(-1)),), "shows -1.0"),
    ],
)
def test_a_check_that_broke_or_contradicts_itself_is_no_grade(outputs: tuple[Any, ...], why: str) -> None:
    with pytest.raises(NotGraded, match=why):
        scored(*outputs)


@pytest.mark.parametrize(
    ("ename", "evalue", "note"),
    [
        ("ValueError", "\x1b[2J", "stopped with ValueError:  [2J"),
        ("SyntaxError", "invalid syntax (2420996107.py, line 1)", "stopped with SyntaxError: invalid syntax (line 1)"),
        ("KeyboardInterrupt", "", "was stopped, since it ran longer than is allowed"),
    ],
)
def test_an_answer_cell_that_stopped_is_noted_in_plain_signs(ename: str, evalue: str, note: str) -> None:
    notebook = sanitized()
    error = nbformat.v4.new_output("error", ename=ename, evalue=evalue, traceback=[])
    cell_of(notebook, "answer", "L2.1").outputs = [error]
    read_scores(notebook)
    assert notes(notebook)[0] == f"L2.1: the answer cell {note}"


NOT_RUN = "set only in a cell that is not run when grading; an answer cell must set what it needs"


def stopped(name: str) -> list[Any]:
    return [nbformat.v4.new_output("error", ename="NameError", evalue=f"name '{name}' is not defined", traceback=[])]


def test_a_name_from_a_live_cell_is_told() -> None:
    notebook = sanitized(own("mine = slider", 1), own("elsewhere = 1", 1))
    next(cell for cell in notebook.cells if "live" in cell.metadata.get("tags", [])).source = "slider = 3"
    next(cell for cell in notebook.cells if cell.source == "mine = slider").outputs = stopped("slider")
    answer = cell_of(notebook, "answer", "L2.1")

    def hint(name: str) -> str:
        return hint_on(notebook, answer, "L2.1", stopped(name)[0])

    assert hint("slider") == f"; it uses `slider`, which is {NOT_RUN}"
    assert hint("mine") == f"; it uses `mine`, which needs `slider`, which is {NOT_RUN}"
    assert hint("elsewhere") == hint("nowhere") == ""
    answer.outputs = stopped("slider")
    read_scores(notebook)
    assert notes(notebook)[0].endswith(f"name 'slider' is not defined{hint('slider')}")


@pytest.mark.parametrize(
    ("name", "check", "source", "hinted"),
    [
        ("C", "SC6", "SC6 = C", True),
        ("C", "SC6", "SC6 = c\nother = C", False),
        ("B", "L2.1", "L2_1_kv_gb = 2 * B", False),
    ],
)
def test_a_letter_without_quotes_is_told(name: str, check: str, source: str, hinted: bool) -> None:
    cell = nbformat.v4.new_code_cell(source)
    hint = hint_on(nbformat.v4.new_notebook(cells=[cell]), cell, check, stopped(name)[0])
    assert hint == ('; a letter is written in quotes: "C"' if hinted else "")


def test_a_cell_of_the_learners_own_that_was_to_set_an_answer_and_stopped_is_noted() -> None:
    notebook = sanitized(own("L2_1_kv_gb = nothing", 0), own("plain = nothing", 0))
    for cell in notebook.cells[:2]:
        cell.outputs = stopped("nothing")
    read_scores(notebook)
    told = "L2.1: the learner's own cell that sets L2_1_kv_gb stopped with NameError: name 'nothing' is not defined"
    assert [note for note in notes(notebook) if "stopped" in note] == [told]


def test_a_note_has_no_full_stop_of_its_own() -> None:
    notebook = sanitized()
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="that will not do.", traceback=[])
    cell_of(notebook, "answer", "L2.1").outputs = [error]
    read_scores(notebook)
    assert notes(notebook)[0] == "L2.1: the answer cell stopped with ValueError: that will not do"


class FirstStartFails(NotebookKernel):
    """Its first kernel is gone before it answers, as when another process has taken its ports."""

    starts = 0

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        await super().async_start_new_kernel(**kwargs)
        self.starts += 1
        if self.starts == 1:
            assert self.km is not None
            await self.km.shutdown_kernel(now=True)  # type: ignore[misc]

    start_new_kernel = run_sync(async_start_new_kernel)


def test_a_kernel_that_does_not_come_up_is_started_once_more() -> None:
    notebook = nbformat.v4.new_notebook(metadata={"llmserving": {"learner": "ada"}})
    source = "import os; print(os.environ['LLMSERVING_LEARNER'], os.environ['LLMSERVING_RECORDS'])"
    notebook.cells = [nbformat.v4.new_code_cell(source)]
    client = FirstStartFails(notebook, kernel_name="python3")
    client.execute()
    assert client.starts == 2
    assert notebook.cells[0].outputs[0].text == "ada off\n"
