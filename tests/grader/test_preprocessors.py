"""What happens to a submission's cells before and after it runs, without running it."""

from __future__ import annotations

import copy
from typing import Any

import nbformat
import pytest
from grader.course import find_notebooks, read_notebook
from grader.errors import NotGraded
from grader.notebook_kernel import NotebookKernel
from grader.preprocessors.cells import grade_id_of, report_of, start_report
from grader.preprocessors.keep_one import keep_one_of_each
from grader.preprocessors.read_scores import read_scores
from grader.preprocessors.restore import restore_from_release
from grader.student_version import student_version
from llmserving.exercises.card import VERDICT_MIME
from nbclient.util import run_sync
from nbgrader.utils import determine_grade

from tests.grader.submissions import Change, cell_of, copied, deleted, tagged, written

RELEASED = student_version(read_notebook(find_notebooks() / "L2" / "kv_size.ipynb"), "default")


def sanitized(*changes: Change) -> Any:
    """The release, changed by a learner, after both steps."""
    notebook = copy.deepcopy(RELEASED)
    for change in changes:
        change(notebook)
    start_report(notebook, "ada", "default")
    keep_one_of_each(notebook, RELEASED)
    restore_from_release(notebook, RELEASED)
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
    running = [cell.source for cell in notebook.cells if cell.cell_type == "code" and "L2_1_kv_gb" in cell.source]
    assert running == ["L2_1_kv_gb = 1"]


def test_an_answer_given_in_the_copy_is_the_answer() -> None:
    notebook = sanitized(copied("answer", "L2.1", "L2_1_kv_gb = 1"))
    running = [cell.source for cell in notebook.cells if cell.cell_type == "code" and "L2_1_kv_gb" in cell.source]
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


def test_all_cells_deleted_come_back_in_order() -> None:
    notebook = sanitized(lambda notebook: notebook.cells.clear())
    assert grade_ids(notebook) == grade_ids(RELEASED)


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
