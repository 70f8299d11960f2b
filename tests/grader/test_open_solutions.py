"""Opening the worked solutions of a class: files in each learner's numbers, apart from a release that holds none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from grader.answer_key import worked_solution
from grader.answer_key.rubrics import RUBRICS
from grader.class_folder import ClassFolder
from grader.errors import UserError
from grader.open_solutions import open_solutions
from llmserving import check, solution
from llmserving.exercises import EXERCISES, learner, session
from llmserving.exercises.progress import Progress

from grader import __main__ as cli
from tests.grader.submissions import new_class, small_course


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> ClassFolder:
    """A class with the course's own numbers."""
    notebooks = small_course(tmp_path_factory.mktemp("course"), "L1/two_phases", "L2/kv_size")
    return new_class(tmp_path_factory.mktemp("classes") / "class", notebooks, "L1", "L2")


@pytest.fixture(scope="module")
def personal(tmp_path_factory: pytest.TempPathFactory) -> ClassFolder:
    """A class in which each learner has numbers of their own."""
    notebooks = small_course(tmp_path_factory.mktemp("course"), "L2/kv_size")
    return new_class(tmp_path_factory.mktemp("classes") / "class", notebooks, "L2", roster="ada\nbob\n")


def texts_of(level: str, whose: str) -> list[str]:
    """Everything that opening would tell: steps, lines, and reasons."""
    worked = [worked_solution(name, whose) for name, exercise in EXERCISES.items() if exercise.level == level]
    lines = [line for one in worked for text in one.steps.values() for line in text.split("\n")]
    return [line for line in [*lines, *(reason for one in worked for reason in one.reasons)] if len(line) > 20]


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_a_release_holds_nothing_of_what_is_opened_later(shared: ClassFolder, level: str) -> None:
    released = "".join(path.read_text() for path in (shared.root / "release").rglob("*") if path.is_file())
    told = [text for text in texts_of(level, "default") if json.dumps(text, ensure_ascii=False)[1:-1] in released]
    assert told == []
    assert not list((shared.root / "release").rglob("solutions*"))


def test_nor_do_personal_copies(personal: ClassFolder) -> None:
    copies = "".join(path.read_text() for path in (personal.root / "personal" / "ada").rglob("*.ipynb"))
    assert [text for text in texts_of("L2", "ada") if text in copies] == []


def test_shared_numbers_give_one_file_and_one_page(shared: ClassFolder) -> None:
    said = open_solutions(shared, "L2")
    assert said == "L2  solutions/L2: solutions_L2.json to hand out, solutions_L2.html to post"
    made = sorted(path.name for path in (shared.root / "solutions" / "L2").iterdir())
    assert made == ["solutions_L2.html", "solutions_L2.json"]
    page = (shared.root / "solutions" / "L2" / "solutions_L2.html").read_text()
    assert "<h1>L2 · worked solutions</h1>" in page
    assert "2 × 1 × 2,048 × 32 × 4,096 × 2 bytes" in page
    assert page.count("<h2>") == len(
        json.loads((shared.root / "releases.json").read_text())["releases"][1]["exercises"]
    )


def test_with_the_file_beside_the_notebook_a_learner_of_the_class_sees_it_without_a_key(
    personal: ClassFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "2 learners" in open_solutions(personal, "L2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    monkeypatch.setattr(session, "answer_key", lambda: None)
    check("L2.1", 1, learner="ada")
    check("L2.1", 2, learner="ada")
    assert "closed" in repr(solution("L2.1"))
    (tmp_path / "solutions_L2.json").write_bytes(
        (personal.root / "solutions" / "ada" / "L2" / "solutions_L2.json").read_bytes()
    )
    own = worked_solution("L2.1", "ada").steps["kv_gb"].replace("**", "")
    assert own.split("\n")[1] in repr(solution("L2.1"))
    assert own != worked_solution("L2.1", "bob").steps["kv_gb"].replace("**", "")


def test_a_roster_opens_them_for_some(personal: ClassFolder, tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("bob\n")
    for made in (personal.root / "solutions").rglob("*.json"):
        made.unlink()
    assert cli.main(["solutions", "L2", "--roster", str(tmp_path / "some.txt"), "--class", str(personal.root)]) == 0
    assert [path.parts[-3] for path in (personal.root / "solutions").rglob("*.json")] == ["bob"]


def test_what_cannot_be_opened_is_a_sentence(shared: ClassFolder, personal: ClassFolder, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="L2 was not released to carl; release it with this roster first"):
        open_solutions(personal, "L2", ["ada", "carl"])
    with pytest.raises(UserError, match="released with the course's own numbers, the same for all; leave out --roster"):
        open_solutions(shared, "L2", ["ada"])
    with pytest.raises(UserError, match="there is no level 'L9'"):
        open_solutions(shared, "L9")
    unreleased = new_class(tmp_path / "class", shared.source)
    with pytest.raises(UserError, match="L1 has not been released"):
        open_solutions(unreleased, "L1")
    assert not (unreleased.root / "solutions").exists()


def test_the_reasons_for_own_words_come_with_the_file(shared: ClassFolder) -> None:
    open_solutions(shared, "L1")
    rows = json.loads((shared.root / "solutions" / "L1" / "solutions_L1.json").read_text())
    assert tuple(rows["exercises"]["WH1"]["reasons"]) == RUBRICS["WH1"]
