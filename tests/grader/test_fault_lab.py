"""The fault lab: the event is where the rules break, and a mend is told what it has not mended."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from grader.answer_key import KEY, reference_answers
from grader.answer_key.lab_faults_allocators import AshFreed
from grader.answer_key.lab_faults_schedulers import FirGivesBack
from grader.answer_key.lab_paging_written import Counted, PagedKV
from grader.course import read_notebook
from grader.selftest.as_run import run_cell
from grader.student_version import student_version
from llmserving import PagedAllocator
from llmserving.exercises import EXERCISES
from llmserving.exercises.verdict import PartVerdict
from llmserving.faults import ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY, Ash, Birch, Cedar, Elm, Fir, days, trace
from llmserving.faults.days import LONGEST_BEFORE
from llmserving.paging import play
from llmserving.scheduling import Request, Scenario, Workload, play_schedule

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
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
def test_every_other_event_of_the_trace_is_told_what_it_is(number: int, day: Any, made: Any) -> None:
    key = KEY[f"LAB5B.{number}"]
    right = reference_answers(EXERCISES[f"LAB5B.{number}"], "default")["event"]
    for row in trace(day, made).rows:
        part = key.grade({"event": row.number}).parts["event"]
        if row.number == right:
            assert part.state == "right"
            continue
        assert len(part.diagnoses) == 1
        assert "not close to any mistake" not in part.message
        assert f"event {right}" not in part.message.lower()


@each
def test_a_learner_s_day_begins_earlier_by_events_of_its_own(number: int, day: Any, made: Any) -> None:
    exercise = EXERCISES[f"LAB5B.{number}"]
    assert exercise.numbers("default") == {"before": 0}
    drawn = {exercise.numbers(f"learner{n}")["before"] for n in range(60)}
    assert drawn == set(range(2, LONGEST_BEFORE + 1))
    begins = getattr(days, f"{made.__name__.lower()}_day")
    for learner in ("ada", "grace", "kay"):
        before = exercise.numbers(learner)["before"]
        right = reference_answers(exercise, learner)["event"]
        assert right == reference_answers(exercise, "default")["event"] + before
        rows = trace(begins(before), made).rows
        assert [row.did for row in rows[before + 1 :]] == [row.did for row in trace(day, made).rows[1:]]
        for row in rows:
            part = KEY[exercise.id].grade({"event": row.number}, learner).parts["event"]
            assert (part.state == "right") == (row.number == right)
            assert ("There a request is by itself" in part.message) == (row.number <= before)
            assert "not close to any mistake" not in part.message


@pytest.mark.parametrize("learner", ["default", "ada"])
@pytest.mark.parametrize("number", [15, 99, 10**30, 1e30])
def test_an_event_past_the_end_of_the_trace_is_told_so(number: int, learner: str) -> None:
    past = number + EXERCISES["LAB5B.1"].numbers(learner)["before"]
    part = KEY["LAB5B.1"].grade({"event": past}, learner).parts["event"]
    assert part.diagnoses == ("no_such_event",)
    assert "numbered 1, 2, 3 and so on in the first column, and the answer is one of those" in part.message


@each
@pytest.mark.parametrize("number_told", [0, -3, -(10**30)])
def test_what_can_be_no_event_is_told_what_can(number: int, day: Any, made: Any, number_told: int) -> None:
    for learner in ("default", "ada"):
        part = KEY[f"LAB5B.{number}"].grade({"event": number_told}, learner).parts["event"]
        assert part.diagnoses == ("no_such_event",)
    assert KEY[f"LAB5B.{number}"].grade({"event": 2.5}).parts["event"].diagnoses == ("not_whole",)


def test_a_learner_s_copy_shows_the_day_that_the_check_asks_of() -> None:
    notebook = student_version(read_notebook(NOTEBOOKS / "L5" / "lab_faults.ipynb"), "ada")
    cells = {cell.id: cell.source for cell in notebook.cells}
    ash, fir = (EXERCISES[f"LAB5B.{number}"].numbers("ada")["before"] for number in (1, 5))
    assert f"paging_explorer(ash_day({ash}))" in cells["a-sound-allocator"]
    assert f"trace(ash_day({ash}), Ash)" in cells["trace-ash"]
    for name in ("trace-fir", "fir-gantt", "mended-fir"):
        assert f"fir_day({fir})" in cells[name]
    assert 'learner="ada"' in cells["lab5b-1-check"]


def test_an_event_that_is_in_order_and_one_that_comes_of_the_fault_are_told_apart() -> None:
    before, after = (KEY["LAB5B.1"].grade({"event": number}).parts["event"].message for number in (6, 10))
    assert "'append to a', and after it every place and every table is as it has to be" in before
    assert "'append to a', and a rule was broken before that already" in after


@each
def test_a_class_that_mends_nothing_is_told_so_and_is_still_open(number: int, day: Any, made: Any) -> None:
    part = mended(number, run_cell(f"from llmserving.faults import *\nclass M({made.__name__}):\n    pass")["M"])
    assert (part.score, part.state) == (0, "open")
    assert f"has nothing of its own yet, so it does what {made.__name__} does" in part.message


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


def test_seats_that_wait_for_take_back_are_free_in_time() -> None:
    class Later(Fir):
        def send_back(self, engine: Any, sequence: Any) -> None:
            engine.preempt(sequence)

    assert mended(5, Later).state == "right"
    rng, sent_back = random.Random(5), 0
    for _ in range(100):
        came = sorted((0.02 * rng.randrange(4), rng.randrange(1, 12), rng.randrange(1, 14)) for _ in range(8))
        crowd = Workload((Request(number, *one) for number, one in enumerate(came)), "a crowd")
        scenario = Scenario("a crowd", crowd, rng.randrange(4, 9), rng.choice([3, 4, 5]))
        at_once, later = (play_schedule(scenario, made) for made in (FirGivesBack, Later))
        assert (later.events, str(later.broken)) == (at_once.events, str(at_once.broken)), "no step parts from it"
        sent_back += any(event.kind == "preempt" for event in at_once.events)
    assert sent_back > 20


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
