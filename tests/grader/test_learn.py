"""Self-study copies: only what is missing is added, and a reset keeps what was there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.course import course_files, find_notebooks
from grader.errors import UserError
from grader.learn import prepare
from grader.reset import reset
from llmserving.exercises import EXERCISES, session
from llmserving.exercises.statement import statement_markdown

from grader import __main__ as cli
from tests.grader.submissions import cell_of

COURSE = find_notebooks()


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LLMSERVING_LEARNER", raising=False)
    prepare(tmp_path / "learn", COURSE, "ada")
    return tmp_path / "learn"


def test_the_whole_course_with_the_learners_numbers_and_no_answers(learn: Path) -> None:
    assert [path for path in course_files(COURSE) if not (learn / path).exists()] == []
    assert json.loads((learn / ".llmserving" / "learner.json").read_text()) == {"learner": "ada"}
    notebook = nbformat.read(learn / "L2" / "kv_size.ipynb", as_version=4)
    assert cell_of(notebook, "statement", "L2.1").source == statement_markdown(EXERCISES["L2.1"], "ada")
    for path in learn.rglob("*.ipynb"):
        assert "SOLUTION" not in path.read_text()
        assert all(cell.get("outputs", []) == [] for cell in nbformat.read(path, as_version=4).cells)


def test_start_here_stands_before_the_other_pages_and_the_levels() -> None:
    names = [str(name) for name in course_files(COURSE)]
    pages = [name for name in names if "/" not in name]
    assert pages[0] == "START_HERE.ipynb"
    assert "GLOSSARY.ipynb" in pages
    assert names[: len(pages)] == pages


def test_what_is_there_is_never_touched(learn: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (learn / "L2" / "kv_size.ipynb").write_text("my own work, broken or not")
    (learn / "L1" / "kv_cache.ipynb").unlink()
    before = everything(learn)
    assert cli.main(["learn", str(learn), "--learner", "ada"]) == 0
    assert capsys.readouterr().out == f"{learn}: added L1/kv_cache.ipynb\n"
    after = everything(learn)
    assert {name: after[name] for name in before} == before
    assert cli.main(["learn", str(learn)]) == 0
    assert capsys.readouterr().out == ""
    assert everything(learn) == after


def test_another_learner_is_refused_and_nothing_changes(learn: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(learn)
    assert cli.main(["learn", str(learn), "--learner", "bob"]) == 2
    told = capsys.readouterr().err
    assert "'ada'" in told
    assert "'bob'" in told
    assert everything(learn) == before


def test_a_folder_whose_records_are_gone_is_known_by_its_notebooks(learn: Path) -> None:
    (learn / ".llmserving" / "learner.json").unlink()
    with pytest.raises(UserError, match="prepared for the learner 'ada', not for 'bob'"):
        prepare(learn, COURSE, "bob")


DAMAGED = ["", "{", "[]", '{"learner": "../x"}', "[" * 100_000]


@pytest.mark.parametrize("text", DAMAGED, ids=[text[:20] for text in DAMAGED])
def test_a_damaged_learner_file_is_made_again_from_the_notebooks_and_kept(
    learn: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    records = learn / ".llmserving"
    (records / "learner.json").write_text(text)
    before = everything(learn)
    assert cli.main(["learn", str(learn)]) == 0
    assert "learner.json could not be read; it was made again for the learner 'ada'" in capsys.readouterr().out
    assert json.loads((records / "learner.json").read_text()) == {"learner": "ada"}
    assert (records / "learner.unreadable-1.json").read_text() == text
    after = everything(learn)
    assert {name for name in after if before.get(name) != after[name]} == {
        ".llmserving/learner.json", ".llmserving/learner.unreadable-1.json",
    }  # fmt: skip
    assert cli.main(["learn", str(learn)]) == 0
    assert capsys.readouterr().out == ""


def test_a_damaged_learner_file_does_not_give_the_folder_to_somebody_else(learn: Path) -> None:
    (learn / ".llmserving" / "learner.json").write_text("{")
    before = everything(learn)
    with pytest.raises(UserError, match="prepared for the learner 'ada', not for 'bob'"):
        prepare(learn, COURSE, "bob")
    assert everything(learn) == before


def test_nothing_is_reset_while_it_is_not_known_whose_numbers_to_write(
    learn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (learn / ".llmserving" / "learner.json").write_text("{")
    before = everything(learn)
    assert cli.main(["reset", str(learn / "L2" / "kv_size.ipynb")]) == 2
    told = capsys.readouterr().err
    assert "learner.json cannot be read" in told
    assert f'python -m grader learn "{learn}"' in told
    assert everything(learn) == before
    assert cli.main(["learn", str(learn)]) == 0
    assert cli.main(["reset", str(learn / "L2" / "kv_size.ipynb")]) == 0


@pytest.mark.parametrize("learner", ["Zo\xeb", "Zoe\u0308"])
def test_a_name_with_accents_has_one_folder_and_one_draw(tmp_path: Path, learner: str) -> None:
    prepare(tmp_path / "learn", COURSE, learner)
    assert session.learner_of(tmp_path / "learn" / ".llmserving") == "Zo\xeb"
    assert prepare(tmp_path / "learn", COURSE, "Zo\xeb") == []
    notebook = nbformat.read(tmp_path / "learn" / "L2" / "kv_size.ipynb", as_version=4)
    assert cell_of(notebook, "statement", "L2.1").source == statement_markdown(EXERCISES["L2.1"], "Zo\xeb")


# The Hindi one has vowel signs, which are part of its letters.
@pytest.mark.parametrize(
    "learner", ["ada", "7b", "a_b@c.d+e-f", "\u674e\u5a1c", "\u0939\u093f\u0928\u094d\u0926\u0940"]
)
def test_letters_of_every_language_are_letters(learner: str) -> None:
    assert session.valid_learner(learner) == learner


@pytest.mark.parametrize(
    "learner", ["../up", "a/b", "a b", "a#1", "a\x1fb", "\u0308a", "_a", "\xb2", "a\u202eb", "a\ud800", "a" * 65, 7]
)
def test_what_could_name_no_folder_or_no_seed_is_no_learner(learner: Any) -> None:
    with pytest.raises(ValueError, match="a learner id is 1 to 64 letters"):
        session.valid_learner(learner)


@pytest.mark.parametrize("learner", ["../up", "", " ", "a" * 65])
def test_an_id_that_cannot_be_one_is_refused(tmp_path: Path, learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMSERVING_LEARNER", learner)
    if learner == "":
        assert prepare(tmp_path / "learn", COURSE) != []
        return
    with pytest.raises(UserError, match="a learner id is"):
        prepare(tmp_path / "learn", COURSE)
    assert not (tmp_path / "learn").exists()


def test_the_course_itself_is_no_place_for_copies() -> None:
    before = everything(COURSE)
    with pytest.raises(UserError, match="holds the course itself"):
        prepare(COURSE, COURSE, "ada")
    assert everything(COURSE) == before


def test_reset_keeps_the_learners_notebook_and_writes_a_fresh_one(learn: Path) -> None:
    path = learn / "L2" / "kv_size.ipynb"
    fresh = path.read_bytes()
    backups = []
    for work in (b"first try", b"second try"):
        path.write_bytes(work)
        backup = reset(path, COURSE)
        assert backup is not None
        assert backup.read_bytes() == work
        assert backup.name.startswith("kv_size.backup-20")
        assert path.read_bytes() == fresh
        backups.append(backup)
    assert len(set(backups)) == 2
    assert backups[0].read_bytes() == b"first try"


def test_reset_brings_back_a_notebook_that_was_deleted(learn: Path) -> None:
    path = learn / "L1" / "two_phases.ipynb"
    fresh = path.read_bytes()
    path.unlink()
    assert reset(path.with_suffix(""), COURSE) is None
    assert path.read_bytes() == fresh


def test_reset_of_an_unknown_notebook_names_the_nearest(learn: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(learn)
    assert cli.main(["reset", str(learn / "L2" / "kv_sise.ipynb")]) == 2
    assert "kv_size.ipynb" in capsys.readouterr().err
    assert cli.main(["reset", str(learn.parent / "elsewhere.ipynb")]) == 2
    assert "does not lie in a folder that" in capsys.readouterr().err
    assert everything(learn) == before
