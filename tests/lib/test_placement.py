"""The placement: one question a level, an answer to each, and where to begin. It spends and keeps nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from grader.answer_key.solutions import reference_inputs
from grader.render import ANSWER_HEAD, render_notebook
from llmserving import another, placement, status
from llmserving.exercises import session
from llmserving.exercises.course import LEVELS
from llmserving.exercises.placing import PLACEMENT, Item, items, placement_markdown, placement_stub
from nbformat import v4

pytestmark = pytest.mark.usefixtures("own_folder")

ITEMS = {item.level.name: item for item in items()}


def right_answer(item: Item, learner: str = "default") -> Any:
    return reference_inputs(item.exercise, f"{learner}#0")[item.part.name]


def wrong_answer(item: Item) -> Any:
    if item.part.kind == "value":
        return 987_654.3
    return next(letter for letter in item.part.all_letters if letter != right_answer(item))


def give(answers: dict[str, Any], right: str = "", wrong: str = "") -> None:
    """Set the answers to the levels named, as in "L1 L2"; the others stay open."""
    answers |= {item.part.variable: ... for item in ITEMS.values()}
    answers |= {ITEMS[name].part.variable: right_answer(ITEMS[name]) for name in right.split()}
    answers |= {ITEMS[name].part.variable: wrong_answer(ITEMS[name]) for name in wrong.split()}


def test_every_level_has_its_question() -> None:
    assert list(PLACEMENT) == [level.name for level in LEVELS]
    for level, (exercise_id, part) in PLACEMENT.items():
        assert ITEMS[level].exercise.level == level, f"{exercise_id} is no exercise of {level}"
        assert ITEMS[level].part.name == part


def test_the_questions_are_asked_once_each_with_numbers_of_their_own() -> None:
    text = placement_markdown("ada")
    for item in ITEMS.values():
        assert text.count(f"`{item.part.variable}`") == 1
        assert f"`{item.exercise.part_by_name[item.part.name].variable}`" not in text, "the exercise's own is not spent"
    assert placement_stub().splitlines() == [f"placement_{level.name} = ..." for level in LEVELS]
    assert text != placement_markdown("default")
    exercise = ITEMS["L2"].exercise
    assert str(exercise.numbers("ada#0")["L"]) in text
    assert "#0" not in repr(another("L2.1")), "and never comes as practice"


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("", "", "Begin at L1, Two phases\n"),
        ("", "L1", "Begin at L1, Two phases\n"),
        ("L1", "", "Begin at L2, The size of the KV cache; read L1 · Three levers first\n"),
        ("L1", "L2 L3", "Begin at L2, The size of the KV cache; read L1 · Three levers first\n"),
        ("L1 L2", "", "Begin at L3, Paging; read L2 · The size of the weights first\n"),
        ("L1 L2", "L3", "Begin at L3, Paging; read L2 · The size of the weights first\n"),
    ],
)
def test_the_first_level_that_is_not_right_is_where_to_begin(
    answers: dict[str, Any], right: str, wrong: str, said: str
) -> None:
    give(answers, right, wrong)
    told = repr(placement())
    assert told.startswith(said)
    assert "already" not in told
    for name in right.split():
        assert f"✓ {name} right." in told
    for name in wrong.split():
        assert f"✗ {name} " in told
    for name in set(ITEMS) - {*right.split(), *wrong.split()}:
        assert f"– {name} placement_{name} still holds ..." in told


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ("", "", "Because placement_L1 is still open: it is the question of the first level."),
        ("", "L1", "Because placement_L1 is not right: it is the question of the first level."),
        (
            "L1",
            "L2 L3",
            "Because placement_L2 is not right, and every level before it is right. "
            "The notebook to read first ends L1, and L2 builds on it.",
        ),
        (
            "L1 L2 L4",
            "",
            "Because placement_L3 is still open, and every level before it is right. "
            "The notebook to read first ends L2, and L3 builds on it.",
        ),
    ],
)
def test_the_answer_that_decided_it_is_named(answers: dict[str, Any], right: str, wrong: str, why: str) -> None:
    give(answers, right, wrong)
    assert repr(placement()).splitlines()[1].strip() == why


def test_who_knows_a_higher_level_is_told_so_kindly(answers: dict[str, Any]) -> None:
    give(answers, right="L2 L3", wrong="L1")
    told = repr(placement())
    assert told.startswith("Begin at L1, Two phases\n")
    assert "You already know something of L2, L3. All of it builds on L1: begin there, and go fast." in told


def test_who_has_all_right_begins_at_the_last_level(answers: dict[str, Any]) -> None:
    give(answers, right=" ".join(ITEMS))
    last = LEVELS[-1]
    told = repr(placement())
    assert told.startswith(f"✓ All right: begin at {last.name}, {last.notebooks[0].title}; status() lists the rest\n")


def test_a_mistake_is_named_with_the_notebook_to_read(answers: dict[str, Any]) -> None:
    give(answers, right="L1")
    answers["placement_L2"] = right_answer(ITEMS["L2"]) / 2
    told = repr(placement())
    assert "Either it counts keys or values alone" in told
    assert "Reread 'The six factors' in L2/kv_size." in told


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "placement_L2 is None."),
        ("", "placement_L2 is empty text"),
        ("many", "placement_L2 is the text 'many'"),
        ([1, 2], "placement_L2 is a list of 2"),
        (len, "placement_L2 holds the function len"),
        (float("nan"), "placement_L2 is NaN"),
        (-1, "placement_L2 is -1, below zero"),
        ("1 Gb", "placement_L2 carries the unit Gb, which reads as bits"),
    ],
)
def test_an_answer_of_another_kind_gets_its_sentence_and_is_where_to_begin(
    answers: dict[str, Any], answer: Any, said: str
) -> None:
    give(answers, right="L1 L3")
    answers["placement_L2"] = answer
    told = repr(placement())
    assert told.startswith("Begin at L2,")
    assert said in told


def test_a_name_that_is_not_set_or_misspelt_is_told(answers: dict[str, Any]) -> None:
    answers["placement_l1"] = "A"
    told = repr(placement())
    assert "placement_L1 is not set, but placement_l1 is." in told
    assert "placement_L2 is not set. Run the answer cell, then this one." in told


def test_nothing_of_it_is_kept(answers: dict[str, Any], own_folder: Path) -> None:
    give(answers, right="L1", wrong="L2")
    before = repr(status())
    placement()
    assert list(own_folder.iterdir()) == []
    assert repr(status()) == before


def test_without_the_key_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "answer_key", lambda: None)
    assert "placement needs the answer key, which is not installed here" in repr(placement())


def test_a_key_that_cannot_be_loaded_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise ImportError("no such key")

    monkeypatch.setattr(session, "answer_key", broken)
    assert "cannot be loaded (ImportError: no such key)" in repr(placement())


def test_a_personal_copy_asks_and_answers_with_the_same_numbers(answers: dict[str, Any]) -> None:
    roles = ("placement", "placement_answers", "placement_check")
    cells = [v4.new_markdown_cell(metadata={"llmserving": {"role": role}}) for role in roles]
    questions, stub, call = (cell.source for cell in render_notebook(v4.new_notebook(cells=cells), "ada").cells)
    assert questions == placement_markdown("ada")
    assert stub == f"{ANSWER_HEAD}\n{placement_stub()}"
    assert call == 'from llmserving import placement\n\nplacement(learner="ada")'
    answers |= {item.part.variable: right_answer(item, "ada") for item in ITEMS.values()}
    assert repr(placement(learner="ada")).startswith("✓ All right")
    assert not repr(placement()).startswith("✓ All right"), "the folder's own learner has other numbers"
