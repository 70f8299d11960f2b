"""The fault lab: the event is where the rules break, and a mend is told what it has not mended."""

from __future__ import annotations

from typing import Any

import pytest
from grader.answer_key import KEY, reference_answers
from grader.answer_key.lab_faults_allocators import AshFreed
from grader.answer_key.lab_paging_written import Counted, PagedKV
from grader.selftest.as_run import run_cell
from llmserving import PagedAllocator
from llmserving.exercises import EXERCISES
from llmserving.exercises.verdict import PartVerdict
from llmserving.faults import ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY, Ash, Birch, Cedar, Elm, Fir, trace
from llmserving.paging import play

DAYS: list[tuple[int, Any, Any]] = [
    (1, ASH_DAY, Ash), (2, BIRCH_DAY, Birch), (3, CEDAR_DAY, Cedar), (4, ELM_DAY, Elm), (5, FIR_DAY, Fir),
]  # fmt: skip
each = pytest.mark.parametrize(("number", "day", "made"), DAYS, ids=[made.__name__ for _, _, made in DAYS])


def mended(number: int, made: Any) -> PartVerdict:
    return KEY[f"LAB5B.{number}"].grade({"mended": made}).parts["mended"]


@pytest.mark.parametrize(("number", "day", "made"), DAYS[:4])
def test_the_event_is_that_of_the_first_broken_invariant(number: int, day: Any, made: Any) -> None:
    broken = play(day, made).broken
    assert broken is not None
    assert reference_answers(EXERCISES[f"LAB5B.{number}"], "default")["event"] == broken.operation


def test_of_the_scheduler_it_is_the_first_step_after_which_a_seat_is_nobody_s() -> None:
    row = next(row for row in trace(FIR_DAY, Fir).rows if "" in map(row.cell, range(10)))
    assert reference_answers(EXERCISES["LAB5B.5"], "default")["event"] == row.number


@each
def test_the_broken_class_itself_is_no_mend_and_its_verdict_does_not_tell_the_event(
    number: int, day: Any, made: Any
) -> None:
    part = mended(number, made)
    assert (part.score, part.state) == (0, "wrong")
    assert part.diagnoses
    assert "In the script '" in part.message
    assert day.title not in part.message


@each
def test_the_stub_is_open_wherever_it_was_left(number: int, day: Any, made: Any) -> None:
    part = EXERCISES[f"LAB5B.{number}"].part_by_name["mended"]
    assert part.stub is not None
    assert mended(number, run_cell(part.stub)[part.variable]).state == "open"


@pytest.mark.parametrize("number", [1, 3])
def test_a_class_that_owes_nothing_to_the_broken_one_is_a_mend_too(number: int) -> None:
    assert [mended(number, made).state for made in (PagedKV, Counted)] == ["right", "right"]


def test_the_course_s_own_allocator_is_no_mend() -> None:
    assert mended(1, type("MendedAsh", (PagedAllocator,), {})).diagnoses == ("library_call",)


def test_a_mend_of_another_class_is_wrong_here() -> None:
    assert mended(4, AshFreed).score == 0


def test_a_scheduler_that_never_lets_anybody_in_is_told_so() -> None:
    class Waits(Fir):
        def let_in(self, engine: Any) -> None:
            raise RuntimeError("not today")

    part = mended(5, Waits)
    assert part.score == 0
    assert "schedule stopped with a bug, RuntimeError: not today" in part.message
