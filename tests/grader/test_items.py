"""The course is the items of its specification, and every one of them answers its mistakes by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from grader.answer_key.solutions import WrongInput, reference_inputs, wrong_inputs
from grader.selftest import item_list
from grader.selftest.item_list import Item, item_table, list_items, list_labs
from llmserving.exercises import EXERCISES, Exercise
from llmserving.exercises.course import LEVELS
from llmserving.exercises.draws import DEFAULT_LEARNER

from grader import selftest
from tests.conftest import SAID

SPECIFIED = [f"L{level}.{number}" for level in (1, 2, 3, 4) for number in (1, 2, 3)] + ["L5.1A", "L5.1B"]
COUNTS = {"SC": 6, "TF": 10, "SE": 8, "WH": 6, "EC": 8, "ST": 1}
SPECIFIED += [f"{kind}{number}" for kind, count in COUNTS.items() for number in range(1, count + 1)]
DRAWS = [DEFAULT_LEARNER, *(f"draw-{number}" for number in range(1, 6))]
LEAST_MISTAKES = 3


@pytest.fixture(scope="module")
def found() -> list[Item]:
    return list_items([level.name for level in LEVELS], DRAWS)


def test_the_items_are_those_of_the_specification(found: list[Item], record_property: Callable[..., None]) -> None:
    record_property(SAID, "\n".join(item_table(found)))
    ids = {item.id for item in found}
    assert (set(SPECIFIED) - ids, ids - set(SPECIFIED)) == (set(), set())
    assert len(found) == len(SPECIFIED) == 53


def test_every_item_has_points_a_kind_and_mistakes_with_a_name(found: list[Item]) -> None:
    for item in found:
        assert item.points >= 1, item.id
        assert set(item.kinds) <= {"value", "choice", "chain"}, item.id
        assert item.kinds, item.id
        assert len(item.mistakes) >= LEAST_MISTAKES, item.id


def test_every_wrong_solution_costs_points_and_is_told_by_its_own_sentence(found: list[Item]) -> None:
    assert [failure for item in found for failure in item.failures] == []
    assert all(item.tried >= LEAST_MISTAKES * len(DRAWS) for item in found)


def test_a_wrong_solution_that_earns_all_or_is_told_otherwise_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def some(exercise: Exercise, learner: str) -> list[WrongInput]:
        if exercise.id != "SC6":
            return []
        told = wrong_inputs(exercise, learner)[0]
        right = reference_inputs(exercise, learner)["answer"]
        otherwise, passing = dataclasses.replace(told, name="nobody"), dataclasses.replace(told, written=right)
        return [told, otherwise, passing]

    monkeypatch.setattr(item_list, "wrong_inputs", some)
    assert selftest.main(["L2", "--items", "--learners", "0"]) == 1
    *_, sums, otherwise, passing = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert sums.split()[-2:] == ["3", "1"]
    assert "is nobody, but was told" in otherwise
    assert passing.endswith("but earned every point")
    assert "SC6.answer" in passing


def test_the_command_lists_the_items_of_the_levels_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert selftest.main(["L2", "--items", "--learners", "0"]) == 0
    items, labs = capsys.readouterr().out.split("\n\n")
    head, *rows, _ = items.splitlines()
    assert head.split()[:4] == ["item", "notebook", "points", "kinds"]
    assert [row.split()[0] for row in rows] == [e.id for e in LEVELS[1].exercises]
    assert all(row.split()[1] == EXERCISES[row.split()[0]].notebook for row in rows)
    title, _, *rows, sums = labs.splitlines()
    assert title == "labs, beside the levels"
    assert [row.split()[0] for row in rows] == [e.id for e in LEVELS[1].lab_exercises]
    assert sums.startswith(f"{len(rows)} items")


def test_every_lab_answers_its_mistakes_by_name_and_is_none_of_the_items(found: list[Item]) -> None:
    labs = list_labs([level.name for level in LEVELS], DRAWS[:2])
    assert {lab.id for lab in labs} == {exercise.id for exercise in EXERCISES.values() if exercise.lab}
    assert not {lab.id for lab in labs} & {item.id for item in found}
    assert [failure for lab in labs for failure in lab.failures] == []
    assert all(lab.points >= 1 and len(lab.mistakes) >= LEAST_MISTAKES for lab in labs)
