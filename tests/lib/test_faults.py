"""Five classes that are broken on purpose: each breaks one rule on its day, and its trace shows that without saying so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from llmserving.faults import (
    ASH_DAY,
    BIRCH_DAY,
    CEDAR_DAY,
    ELM_DAY,
    FIR_DAY,
    Ash,
    Birch,
    Cedar,
    Elm,
    Fir,
    ash_day,
    birch_day,
    cedar_day,
    elm_day,
    fir_day,
    trace,
)
from llmserving.faults.days import LONGEST_BEFORE
from llmserving.paging import PagedAllocator, Script, allocate, free, play
from llmserving.scheduling import SHORT_BEHIND_LONG, play_schedule

ALLOCATORS = [
    (ASH_DAY, Ash, "free while held"),
    (BIRCH_DAY, Birch, "boundary"),
    (CEDAR_DAY, Cedar, "copy-on-write"),
    (ELM_DAY, Elm, "full hit"),
]
each_allocator = pytest.mark.parametrize(
    ("day", "made", "rule"), ALLOCATORS, ids=lambda value: getattr(value, "__name__", "")
)


@each_allocator
def test_each_breaks_its_rule_in_the_middle_of_its_day(day: Script, made: Any, rule: str) -> None:
    broken = play(day, made).broken
    assert broken is not None
    assert broken.name == rule
    assert 1 < broken.operation < len(day.operations)


@each_allocator
def test_a_sound_allocator_has_nothing_to_fear_from_that_day(day: Script, made: Any, rule: str) -> None:
    for prefix_caching in (False, True):
        playback = play(day, partial(PagedAllocator, prefix_caching=prefix_caching))
        assert playback.broken is None
        assert not [outcome for outcome in playback.outcomes if outcome.refusal]


@each_allocator
def test_a_trace_goes_on_to_the_end_of_the_day(day: Script, made: Any, rule: str) -> None:
    rows = trace(day, made).rows
    assert [row.number for row in rows] == list(range(1, len(day.operations) + 1))
    assert rule not in repr(trace(day, made))


@pytest.mark.parametrize("before", range(2, LONGEST_BEFORE + 1))
def test_a_day_that_begins_earlier_breaks_the_same_rule_so_many_events_later(before: int) -> None:
    for begins, made, rule in (
        (ash_day, Ash, "free while held"),
        (birch_day, Birch, "boundary"),
        (cedar_day, Cedar, "copy-on-write"),
        (elm_day, Elm, "full hit"),
    ):
        first, later = play(begins(), made).broken, play(begins(before), made).broken
        assert first is not None
        assert later is not None
        assert (later.name, later.operation) == (rule, first.operation + before)
        assert play(begins(before)).broken is None
    assert unsound(Fir, fir_day(before))[0] == unsound(Fir, FIR_DAY)[0] + before
    assert play_schedule(fir_day(before)).broken is None


@pytest.mark.parametrize(
    ("before", "words"), [(1, "none or at least 2"), (9, "9"), (-1, "-1"), ("two", "whole number")]
)
def test_a_day_cannot_begin_by_any_number_of_events_earlier(before: Any, words: str) -> None:
    for begins in (ash_day, fir_day):
        with pytest.raises((TypeError, ValueError), match=words):
            begins(before)


def test_a_scheduler_that_loses_seats_stands_still_in_the_end() -> None:
    broken = play_schedule(FIR_DAY, Fir).broken
    assert broken is not None
    assert (broken.name, broken.step) == ("idle", len(trace(FIR_DAY, Fir).rows))
    assert play_schedule(FIR_DAY).broken is None
    assert play_schedule(SHORT_BEHIND_LONG, Fir).broken is None, "where nobody is sent back nothing is lost"


def unsound(made: Any, day: Any) -> list[int]:
    """The events after which a place is nobody's and not free, or somebody's and free, or free twice."""
    return [
        row.number
        for row in trace(day, made).rows
        if any(bool(row.holders[place]) + row.free.count(place) != 1 for place in range(len(row.holders)))
    ]


@pytest.mark.parametrize(("day", "made"), [(ASH_DAY, Ash), (CEDAR_DAY, Cedar)])
def test_the_first_row_that_cannot_be_is_that_of_the_broken_invariant(day: Script, made: Any) -> None:
    broken = play(day, made).broken
    assert broken is not None
    assert unsound(made, day)[0] == broken.operation


def test_of_a_sound_allocator_every_place_is_held_or_free() -> None:
    for day, _, _ in ALLOCATORS:
        assert unsound(PagedAllocator, day) == []


def test_a_row_tells_what_was_asked_who_has_what_and_what_is_free() -> None:
    lines = repr(trace(ASH_DAY, Ash)).splitlines()
    assert lines[1].split("   ")[0] == "event"
    assert " ".join(lines[6].split()) == "5 append to c: token 8 a c a b c ○ ○ ○ ○ 4 5 6 7"


def test_a_refusal_is_told_and_the_day_goes_on() -> None:
    full = Script("Too much", (allocate("a", range(5)), allocate("b", range(9)), free("a")), 3, 4)
    rows = trace(full, Birch).rows
    assert rows[1].did == "allocate b: refused, 3 blocks are needed, and 1 are free"
    assert rows[2].free == (2, 0, 1)


def test_on_a_page_the_source_is_folded_away_below_the_rows() -> None:
    shown = trace(FIR_DAY, Fir)._repr_html_()
    assert '<th scope="col" style="text-align:left">seat 9</th>' in shown
    assert shown.index("</table>") < shown.index("<details><summary>") < shown.index("class Fir:")
    assert "def send_back" not in repr(trace(FIR_DAY, Fir))


def test_a_class_whose_source_is_not_kept_can_be_traced() -> None:
    made = type("Typed", (Birch,), {})
    assert trace(BIRCH_DAY, made).source == "The source of Typed is not kept."
