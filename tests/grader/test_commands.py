"""The command line: what each command says when it cannot do its work, and that it changed nothing then."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import nbformat
import pytest
from grader.export import export_grades
from grader.render_command import files_that_differ
from llmserving.exercises.card import VERDICT_MIME

from grader import __main__ as cli
from tests.grader.submissions import cell_of, new_class, small_course


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course(tmp_path / "course", "L2/kv_size")


def run(*arguments: str) -> int:
    return cli.main(arguments)


def test_no_command_waits_for_a_grammar_that_nothing_here_reads() -> None:
    """It took seconds in each process that reads a notebook: every command, and JupyterLab. See constraints.txt."""
    assert importlib.util.find_spec("rfc3987_syntax") is None


def test_init_makes_a_class_folder_once(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", str(tmp_path / "class"), "--notebooks", str(course)) == 0
    config = tmp_path / "class" / "nbgrader_config.py"
    config.write_text(config.read_text() + "# mine\n")
    assert run("init", str(tmp_path / "class"), "--notebooks", str(course)) == 0
    assert "is a class folder already; nothing was changed" in capsys.readouterr().out
    assert config.read_text().endswith("# mine\n")


def test_init_refuses_a_folder_that_holds_something(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("mine")
    assert run("init", str(tmp_path / "home"), "--notebooks", str(course)) == 2
    assert "exists and is not empty" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.txt"]


def test_init_says_where_the_notebooks_should_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", str(tmp_path / "class"), "--notebooks", str(tmp_path / "nowhere")) == 2
    assert "no level was found in" in capsys.readouterr().err
    assert not (tmp_path / "class").exists()


@pytest.mark.parametrize("name", ["cl*ss", "c++"])
def test_init_refuses_a_path_that_nbgrader_would_take_for_a_pattern(
    tmp_path: Path, course: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("init", str(tmp_path / name), "--notebooks", str(course)) == 2
    assert "nbgrader cannot work below" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("words", [("release", "L2"), ("grade", "L2"), ("report", "L2"), ("export",)])
def test_outside_a_class_folder_each_command_says_so(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words, "--class", str(tmp_path)) == 2
    assert "is not a class folder; make one with: python -m grader init DIR" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_class_folder_without_anything_released_or_graded(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(new_class(tmp_path / "class", course).root)
    for words, why in (
        (("grade", "L2"), "L2 has not been released"),
        (("report", "L2"), "nothing of L2 has been graded yet"),
        (("release", "l9"), "there is no level 'l9' here; there is L2"),
        (("release", "L2", "--roster", "nowhere.csv"), "the roster nowhere.csv could not be read"),
    ):
        assert run(*words, "--class", root) == 2
        told = capsys.readouterr().err
        assert why in told
        assert told.count("\n") == 1


def test_a_class_folder_whose_course_has_moved(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = new_class(tmp_path / "class", course).root
    shutil.move(course, tmp_path / "moved")
    assert run("release", "L2", "--class", str(root)) == 2
    assert "are not at" in capsys.readouterr().err


def test_a_gradebook_that_cannot_be_opened(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = new_class(tmp_path / "class", course).root
    (root / "gradebook.db").write_text("this is no database" * 100)
    assert run("export", "--class", str(root)) == 2
    assert "the gradebook of" in capsys.readouterr().err


def test_grade_says_when_nothing_was_handed_in(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = new_class(tmp_path / "class", course, "L2").root
    for level in ("L2", "l2", " L2 "):
        assert run("grade", level, "--class", str(root)) == 0
        assert "nothing was handed in: submitted/*/L2 is empty" in capsys.readouterr().out


def test_render_check_names_what_differs_and_changes_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = course / "L2" / "kv_size.ipynb"
    rendered = path.read_text()
    assert run("render", "--check", "--notebooks", str(course)) == 0
    path.write_text(rendered.replace("How large is the KV cache?", "How large was it?"))
    edited = path.read_text()
    assert run("render", "--check", "--notebooks", str(course)) == 1
    assert "L2/kv_size.ipynb differs" in capsys.readouterr().err
    assert path.read_text() == edited
    assert run("render", "--notebooks", str(course)) == 0
    assert path.read_text() == rendered


def test_render_execute_stores_the_same_outputs_each_time(course: Path) -> None:
    path = course / "L2" / "kv_size.ipynb"
    assert run("render", "--execute", "--notebooks", str(course)) == 0
    once = path.read_text()
    check = cell_of(nbformat.read(path, as_version=4), "check", "L2.1")
    assert check.execution_count is not None
    assert VERDICT_MIME in check.outputs[0].data
    assert "widget-view" not in once
    assert files_that_differ(course) == []
    assert run("render", "--execute", "--notebooks", str(course)) == 0
    assert path.read_text() == once
    assert not list(course.rglob(".llmserving"))


def test_doctor_names_a_course_that_is_out_of_step(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", "--notebooks", str(course)) == 0
    assert "PROBLEM" not in capsys.readouterr().out
    path = course / "L2" / "kv_size.ipynb"
    path.write_text(path.read_text().replace("How large is", "How big is"))
    assert run("doctor", "--notebooks", str(course)) == 1
    assert "PROBLEM" in capsys.readouterr().out


def test_export_cannot_start_a_formula(tmp_path: Path, course: Path) -> None:
    folder = new_class(tmp_path / "class", course)
    with folder.gradebook as gradebook:
        gradebook.add_assignment("L2")
        gradebook.add_student("ada", last_name='=HYPERLINK("x")', first_name="@home, far")
    export_grades(folder, tmp_path / "grades.csv")
    text = (tmp_path / "grades.csv").read_text()
    assert '"\'=HYPERLINK(""x"")","\'@home, far"' in text
