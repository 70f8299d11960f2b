"""The notebooks as a course: every item in its place, nothing crowded, nothing stale, nothing from the network."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.answer_key import KEY
from grader.answer_key.key import ChoiceKey, PartKey, ValueKey
from grader.answer_key.rubrics import RUBRICS
from grader.render import LIVE_TAG, METADATA, render_notebook
from llmserving.exercises import EXERCISES, GROUPS, NOTEBOOK_OF
from llmserving.exercises.course import LEVELS

from tests.conftest import SAID
from tests.mistakes import mistakes_of
from tests.notebook_runs import NOTEBOOKS, ROOT, run_offline

CPU_BUDGET_S = 60
MEMORY_BUDGET_BYTES = 2 * 10**9

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.parent.name != "notebooks"], ids=lambda path: path.stem
)


@cache
def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def belongings(path: Path, role: str) -> list[str]:
    found = (cell.metadata.get(METADATA, {}) for cell in read(path).cells)
    return [belongs["exercise"] for belongs in found if belongs.get("role") == role]


def prose(path: Path) -> str:
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_an_item_stands_once_in_the_notebook_that_the_table_names(exercise_id: str) -> None:
    stands_in = [
        str(path.relative_to(ROOT / "notebooks")) for path in NOTEBOOKS if exercise_id in belongings(path, "statement")
    ]
    assert stands_in == [NOTEBOOK_OF[exercise_id]]


@each_lesson
def test_each_check_has_its_answer_cell_right_above_and_its_statements_above_that(path: Path) -> None:
    cells = [cell.metadata.get(METADATA) for cell in read(path).cells]
    for check in belongings(path, "check"):
        at = cells.index({"role": "check", "exercise": check})
        above = [{"role": "statement", "exercise": name} for name in GROUPS[check]]
        assert cells[at - 1 - len(above) : at] == [*above, {"role": "answer", "exercise": check}]


def test_the_list_of_notebooks_is_the_folder() -> None:
    listed = {f"{notebook.path}.ipynb" for level in LEVELS for notebook in level.every_notebook}
    assert listed | {"START_HERE.ipynb", "GLOSSARY.ipynb"} == {
        str(path.relative_to(ROOT / "notebooks")) for path in NOTEBOOKS
    }


@each_notebook
def test_a_notebook_is_not_crowded(path: Path) -> None:
    assert len(code_cells(path)) <= 20


@each_notebook
def test_what_a_notebook_says_of_an_exercise_is_what_the_exercise_says(path: Path) -> None:
    assert nbformat.writes(render_notebook(read(path))) == nbformat.writes(read(path)), "run python -m grader render"


@each_notebook
def test_outputs_are_stored_and_none_is_an_error(path: Path) -> None:
    for cell in code_cells(path):
        is_answer = cell.metadata.get(METADATA, {}).get("role") in ("answer", "placement_answers")
        assert cell.execution_count, f"{cell.id} was not run"
        assert cell.outputs or is_answer, f"{cell.id} has no stored output"
        assert all(output.output_type != "error" for output in cell.outputs)
    assert "widgets" not in read(path).metadata


@each_lesson
def test_where_feedback_sends_a_learner_there_is_that_heading(path: Path) -> None:
    headings = set(re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE))
    for exercise_id in belongings(path, "statement"):
        for key in KEY[exercise_id].parts.values():
            assert set(rereads(key)) <= headings, exercise_id


def rereads(key: PartKey) -> list[str]:
    own = [] if isinstance(key, ValueKey | ChoiceKey) else [key.reread]
    return own + [mistake.reread for mistake in mistakes_of(key)]


@pytest.mark.parametrize("exercise_id", sorted(set(RUBRICS) & set(EXERCISES)))
def test_below_the_check_of_a_reason_there_is_room_for_own_words_and_then_the_checklist(exercise_id: str) -> None:
    cells = read(ROOT / "notebooks" / NOTEBOOK_OF[exercise_id]).cells
    belongs = [cell.metadata.get(METADATA) for cell in cells]
    check = EXERCISES[exercise_id].group or exercise_id
    at = belongs.index({"role": "own-words", "exercise": exercise_id})
    assert at > belongs.index({"role": "check", "exercise": check})
    following = next(cell for cell in cells[at:] if cell.cell_type == "code")
    assert following.source in (
        f'from llmserving import own_words\n\nown_words("{name}")' for name in (exercise_id, check)
    )


@each_notebook
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", prose(path)):
        assert (path.parent / target).exists(), target


GLOSSARY_ROW = re.compile(r"^\| (.+?) \| .+ \| \[.+\]\((.+)\) \|$", re.MULTILINE)
TERMS = GLOSSARY_ROW.findall(prose(ROOT / "notebooks" / "GLOSSARY.ipynb"))


def defines(text: str, term: str) -> bool:
    """Whether `text` has a heading that is the term, or the term in bold, whatever their capitals."""
    heading = rf"^#+ {re.escape(term)}$"
    bold = rf"\*\*{re.escape(term)}\*\*"
    return re.search(f"{heading}|{bold}", text, re.MULTILINE | re.IGNORECASE) is not None


@pytest.mark.parametrize(("term", "notebook"), TERMS, ids=[term for term, _ in TERMS])
def test_a_term_of_the_glossary_is_defined_where_it_says(term: str, notebook: str) -> None:
    assert defines(prose(ROOT / "notebooks" / notebook), term)


def test_the_glossary_lists_what_the_course_leans_on() -> None:
    topics = {"static batching", "dynamic batching", "continuous batching", "HBM", "HBM bandwidth", "GPTQ", "AWQ"}
    topics |= {"throughput", "time to first token", "time per output token", "KV cache", "PagedAttention"}
    terms = [term for term, _ in TERMS]
    assert topics <= set(terms)
    assert len(set(terms)) == len(terms)


def test_the_vocabulary_is_met_before_the_first_exercise() -> None:
    cells = read(ROOT / "notebooks" / "L1" / "two_phases.ipynb").cells
    first = next(at for at, cell in enumerate(cells) if cell.metadata.get(METADATA, {}).get("role") == "statement")
    before = "\n".join(cell.source for cell in cells[:first] if cell.cell_type == "markdown")
    vocabulary = {
        "prefill",
        "decode",
        "HBM bandwidth",
        "KV cache",
        "PagedAttention",
        "continuous batching",
        "W4A16",
        "W8A8",
    }
    assert not {term for term in vocabulary if not defines(before, term)}
    assert "`block_size`" in before
    assert "allocation" in before
    assert "scheduling" in before


def test_a_term_that_is_only_mentioned_is_not_defined() -> None:
    assert not defines("A slot is named, and **slots of a block** are bold.\n## Slots", "slot")


@each_notebook
def test_prose_is_plain(path: Path) -> None:
    text = re.sub(r"`[^`]*`", "", prose(path))
    assert not re.search(r"(?<![\[!])!(?!\[|=)", text), "an exclamation mark"
    assert not re.search("[\U0001f300-\U0001faff\u2600-\u27bf]", text), "an emoji"


@each_lesson
def test_a_cell_that_draws_or_times_is_live_and_no_exercise_cell_is(path: Path) -> None:
    for cell in code_cells(path):
        is_live = LIVE_TAG in cell.metadata.get("tags", [])
        draws = (
            re.search(r"explorer|figures|hbm_bar|own_words|perf_counter|perplexity\(|recall\(", cell.source) is not None
        )
        draws |= re.search(r"lab_steps|two_phases\(", cell.source) is not None
        # What is measured is recorded by hand in an answer cell, or by the live cell that measures.
        draws |= METADATA not in cell.metadata and re.search(r"(?m:^record\()", cell.source) is not None
        draws |= re.search(r"bench_matmul\(|with_outliers\(", cell.source) is not None
        assert is_live == draws, cell.id


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_begins_by_doing(level: Any) -> None:
    """One short paragraph, then a cell to run, before any vocabulary."""
    first = read(ROOT / "notebooks" / f"{level.notebooks[0].path}.ipynb").cells
    assert first[0].cell_type == "markdown"
    assert len(first[0].source.split()) < 60
    assert first[1].cell_type == "code"
    assert "explorer" in first[1].source


@pytest.mark.parametrize("level", LEVELS[1:], ids=lambda level: level.name)
def test_a_level_ends_by_recalling_the_levels_before_it(level: Any) -> None:
    with_exercises = [notebook.path for notebook in level.notebooks if notebook.exercises]
    last = code_cells(ROOT / "notebooks" / f"{with_exercises[-1]}.ipynb")[-1]
    assert last.source == f'from llmserving import recall\n\nrecall("{level.name}")'


def test_start_here_asks_the_placement_and_is_not_graded() -> None:
    cells = read(ROOT / "notebooks" / "START_HERE.ipynb").cells
    roles = [cell.metadata.get(METADATA, {}).get("role") for cell in cells]
    at = roles.index("placement")
    assert roles[at : at + 3] == ["placement", "placement_answers", "placement_check"]
    assert not [cell for cell in cells if "nbgrader" in cell.metadata]


@pytest.mark.slow
@each_notebook
def test_a_notebook_runs_offline_within_three_times_its_budget(
    path: Path, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    """Live cells included. What it took is printed beside the budget; a busy or a slow machine is given room."""
    run = run_offline(path, tmp_path)
    place = path.relative_to(ROOT / "notebooks").with_suffix("")
    budget = f"budget {CPU_BUDGET_S} s, {MEMORY_BUDGET_BYTES / 1e9:.0f} GB"
    record_property(SAID, f"{place}: {run.cpu_s:.1f} s of CPU, {run.peak_bytes / 1e9:.2f} GB ({budget})")
    assert run.cpu_s < 3 * CPU_BUDGET_S
    assert run.peak_bytes < 3 * MEMORY_BUDGET_BYTES


def test_the_network_block_can_fail(tmp_path: Path) -> None:
    """A cell that asks for an address outside this machine stops the run."""
    cell = nbformat.v4.new_code_cell("import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)")
    path = tmp_path / "asks.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    with pytest.raises(Exception, match="the network is blocked"):
        run_offline(path, tmp_path)
