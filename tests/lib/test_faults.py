"""Five classes that are broken on purpose: each breaks one rule on its day, and its trace shows that without saying so."""

from __future__ import annotations

import html
import re
import signal
from functools import partial
from typing import Any

import pytest
from IPython.core.compilerop import CachingCompiler
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


class FailsOnceInTheMiddle(Ash):
    def append(self, request: Any, token: int) -> None:
        if token == 7:
            token / 0
        super().append(request, token)


class LooksUpWhatIsNotThere(Ash):
    def free(self, request: Any) -> None:
        self.tables.pop("nobody")


class KeepsADict(Ash):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_blocks = dict.fromkeys(range(num_blocks), True)  # type: ignore[assignment]


class Interrupts(Ash):
    def append(self, request: Any, token: int) -> None:
        raise KeyboardInterrupt


class InterruptsWhenRead(Ash):
    @property
    def free_blocks(self) -> Any:
        raise KeyboardInterrupt

    @free_blocks.setter
    def free_blocks(self, free: list[int]) -> None:
        pass


class InterruptsAsAScheduler(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        raise KeyboardInterrupt


class HasNoSeats(Fir):
    @property
    def seats_of(self) -> Any:
        raise OverflowError

    @seats_of.setter
    def seats_of(self, seats: Any) -> None:
        pass


class NotWrittenYet(Birch):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        raise NotImplementedError("LAB5B.2: in place of this method, write the one that you mend")


class TakesTooFew(Ash):
    def append(self, request: Any) -> None:  # type: ignore[override]
        pass


class OnlyCounts(Ash):
    def table(self, request: Any) -> list[int]:
        self.free_blocks = 3  # type: ignore[assignment]
        return super().table(request)


class FailsOnSendingBack(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        raise KeyError(sequence.request.id)


class NotMadeYet(Fir):
    def __init__(self) -> None:
        raise NotImplementedError("LAB5B.5: in place of this method, write the one that you mend")


@pytest.mark.parametrize(
    ("day", "made", "rows", "words"),
    [
        (
            ASH_DAY, FailsOnceInTheMiddle, 5,
            r"Event 6, append to 'a': append stopped with a bug, ZeroDivisionError: division by zero, in append, line \d+: "
            r"token / 0\.",
        ),
        (
            ASH_DAY, LooksUpWhatIsNotThere, 6,
            r"Event 7, free 'b': free stopped with a bug, KeyError: 'nobody', in free, line \d+: "
            r'self\.tables\.pop\("nobody"\)\.',
        ),
        (
            BIRCH_DAY, NotWrittenYet, 0,
            r"Before event 1: NotWrittenYet\(\d+, 4\) is not written yet: LAB5B\.2: in place of this method, write the one that "
            r"you mend\.",
        ),
        (ASH_DAY, TakesTooFew, 2, r"Event 3, append to 'a': append cannot be called as the script calls it: .* 3 were given\."),
        (
            ASH_DAY, OnlyCounts, 0,
            r"Event 1, allocate 'a': free_blocks is only how many there are, and a trace shows which: keep a list\.",
        ),
        (ASH_DAY, Fir, 0, r"Before event 1: Fir\(8, 4\) cannot be called as the script calls it: .* 3 were given\."),
        (
            FIR_DAY, FailsOnSendingBack, 6,
            r"Step 7, after event 15: schedule stopped with a bug, KeyError: 3, "
            r"in send_back, line \d+: raise KeyError\(sequence\.request\.id\)\.",
        ),
        (
            ASH_DAY, KeepsADict, 0,
            r"Event 1, allocate 'a': allocate stopped with a bug, KeyError: 0 \(free_blocks is a dict, which has keys and no "
            r"places: take by popitem\(\)\[0\] .*\), in \S+ of ash\.py, line \d+: .*self\.free_blocks\.pop\(0\).*\.",
        ),
        (
            ASH_DAY, Interrupts, 2,
            r"Event 3, append to 'a': append stopped with a bug, KeyboardInterrupt, in append, line \d+: "
            r"raise KeyboardInterrupt\.",
        ),
        (
            ASH_DAY, InterruptsWhenRead, 0,
            r"Event 1, allocate 'a': allocate stopped with a bug, KeyboardInterrupt, in free_blocks, line \d+: "
            r"raise KeyboardInterrupt\.",
        ),
        (
            FIR_DAY, InterruptsAsAScheduler, 6,
            r"Step 7, after event 15: schedule stopped with a bug, KeyboardInterrupt, in send_back, line \d+: "
            r"raise KeyboardInterrupt\.",
        ),
        (
            FIR_DAY, HasNoSeats, 0,
            r"Step 1, after event 4: schedule stopped with a bug, OverflowError, in seats_of, line \d+: raise OverflowError\.",
        ),
        (FIR_DAY, NotMadeYet, 0, r"Before step 1: NotMadeYet\(\) is not written yet: LAB5B\.5: .+\."),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_a_bug_ends_the_trace_and_is_told_in_a_sentence(day: Any, made: Any, rows: int, words: str) -> None:
    traced = trace(day, made)
    assert re.fullmatch(words, traced.stopped)
    assert len(traced.rows) == rows
    assert repr(traced).splitlines()[-1] == f"{traced.stopped} The trace ends here."
    assert f"</table><p>{html.escape(traced.stopped)} The trace ends here.</p><details>" in traced._repr_html_()


class IsStopped(Ash):
    def append(self, request: Any, token: int) -> None:
        signal.raise_signal(signal.SIGINT)


class IsStoppedAsAScheduler(Fir):
    def send_back(self, engine: Any, sequence: Any) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("show", "day", "made"),
    [
        (trace, ASH_DAY, IsStopped),
        (play, ASH_DAY, IsStopped),
        (trace, FIR_DAY, IsStoppedAsAScheduler),
        (play_schedule, FIR_DAY, IsStoppedAsAScheduler),
    ],
)
def test_whoever_presses_stop_stops_the_whole(show: Any, day: Any, made: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        show(day, made)


@pytest.mark.parametrize(
    ("show", "day", "made"), [(play, ASH_DAY, Interrupts), (play_schedule, FIR_DAY, InterruptsAsAScheduler)]
)
def test_a_keyboard_interrupt_that_a_class_raises_is_its_bug(show: Any, day: Any, made: Any) -> None:
    broken = show(day, made).broken
    assert broken.name == "bug"
    assert "stopped with a bug, KeyboardInterrupt, in " in str(broken)


def test_of_what_runs_to_its_end_nothing_is_said_to_have_stopped() -> None:
    for day, made in ((ASH_DAY, Ash), (BIRCH_DAY, Birch), (CEDAR_DAY, Cedar), (ELM_DAY, Elm), (FIR_DAY, Fir)):
        assert trace(day, made).stopped == ""
        assert "ends here" not in repr(trace(day, made)) + trace(day, made)._repr_html_()


@pytest.mark.parametrize(
    ("day", "made", "words"),
    [
        (ash_day, Ash, "a trace begins with a day, as in trace(ash_day(), Ash), but got <function ash_day"),
        (Ash, ash_day(), "a trace begins with a day, as in trace(ash_day(), Ash), but got <class 'llmserving.faults.ash"),
        (ASH_DAY, 7, "allocator is a class, a function of (num_blocks, block_size), or an object with the methods of "),
        (FIR_DAY, 7, "policy is 'static', 'dynamic', 'continuous' or 'chunked', or an object with a method schedule(engine)"),
        (FIR_DAY, "continuous", "a trace shows who has which seat, but 'continuous' has no seats_of, num_seats, free_seats"),
    ],
)  # fmt: skip
def test_what_cannot_be_traced_is_told(day: Any, made: Any, words: str) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        trace(day, made)


def test_on_a_page_the_source_is_folded_away_below_the_rows() -> None:
    shown = trace(FIR_DAY, Fir)._repr_html_()
    assert '<th scope="col" style="text-align:left">seat 9</th>' in shown
    assert shown.index("</table>") < shown.index("<details><summary>") < shown.index("class Fir:")
    assert "def send_back" not in repr(trace(FIR_DAY, Fir))


def test_a_class_whose_source_is_not_kept_can_be_traced() -> None:
    made = type("Typed", (Birch,), {})
    assert trace(BIRCH_DAY, made).source == "The source of Typed is not kept."


TYPED = """
class Typed(Birch):
    # Mine.
    def __init__(self, num_blocks, block_size):
        super().__init__(num_blocks, block_size)
"""


def test_the_source_of_a_class_typed_in_a_notebook_is_that_of_its_cell() -> None:
    cell = f"Typed = None\n{TYPED}\nother = 1\n"
    names: dict[str, Any] = {"__name__": "__main__", "Birch": Birch}
    exec(compile(cell, CachingCompiler().cache(cell), "exec"), names)  # as IPython runs a cell
    assert trace(BIRCH_DAY, names["Typed"]).source == TYPED.lstrip("\n")
