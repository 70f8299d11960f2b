"""Claims about reading a log back: it gives the state that was, and a log that contradicts itself is refused by number."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llmserving.events import Event
from llmserving.paging import NoFreeBlocksError, PagedAllocator
from llmserving.replay import (
    LogError,
    Series,
    Span,
    replay_pool,
    replay_schedule,
    request_spans,
    sentence,
    serving_series,
)
from llmserving.scheduling.play import play_schedule
from llmserving.scheduling.policies import ChunkedPrefill, ContinuousBatching
from llmserving.scheduling.request import Request
from llmserving.scheduling.simulate import simulate

from tests.lib.serving_logs import SCHEDULE, Script, fork_and_copy, scheduled


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4]), st.booleans())
def test_a_replayed_log_is_where_the_allocator_was_after_every_operation(seed: int, size: int, caching: bool) -> None:
    draw = random.Random(seed)
    script = Script(10, size, prefix_caching=caching)
    allocator = script.allocator
    for step in range(40):
        requests = allocator.requests
        operation = draw.choice(["allocate", "append", "append", "append", "fork", "free"])
        try:
            if operation == "allocate" or not requests:
                prompt = [draw.choice([1, 2])] * draw.randint(1, 3 * size)
                script.run("allocate", step, prompt)
            elif operation == "append":
                script.run("append", draw.choice(requests), draw.choice([1, 2]))
            elif operation == "fork":
                script.run("fork", draw.choice(requests), step)
            else:
                script.run("free", draw.choice(requests))
        except NoFreeBlocksError:
            continue
        state = replay_pool(script.log, 10, size)
        assert {request: allocator.table(request) for request in allocator.requests} == dict(state.tables)
        assert {request: allocator.num_tokens(request) for request in allocator.requests} == dict(state.tokens)
        assert [allocator.owners(block) for block in range(10)] == [len(owners) for owners in state.owners]
        assert state.free_order == tuple(allocator.free_blocks)
        assert state.free == set(allocator.free_blocks)
        assert state.cached == {block for block in range(10) if block in allocator._cache}


def test_without_a_free_list_the_order_is_not_known_and_tokens_are_as_of_the_last_event() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(8, 4, log=log)
    allocator.allocate("a", [1, 2, 3, 4, 5])
    allocator.append("a", 6)
    state = replay_pool(log, 8, 4)
    assert state.free_order is None
    assert state.free == {2, 3, 4, 5, 6, 7}
    assert state.tokens["a"] == 5
    assert state.filled_slots == (4, 1, 0, 0, 0, 0, 0, 0)


def test_an_evicted_block_is_neither_free_nor_held_until_its_operation_is_done() -> None:
    script = Script(3, 2, prefix_caching=True)
    script.run("allocate", "a", [1, 2, 3, 4, 5])
    script.run("free", "a")
    script.run("allocate", "b", [9, 9, 9, 9, 9])
    number = next(number for number, event in enumerate(script.log, 1) if event.kind == "evict")
    state = replay_pool(script.log, 3, 2, number)
    [block] = script.log[number - 1].blocks
    assert block not in state.free
    assert state.owners[block] == ()
    assert block not in state.cached
    assert "is about to be written again" in sentence(state)


@pytest.mark.parametrize(
    ("upto", "words"),
    [
        (0, "Nothing has happened yet: all 8 blocks are free."),
        (1, "a gets blocks 0, 1 and 2 for its 9 tokens."),
        (2, "Block 0 is full, and can be found by its prefix from now on."),
        (4, "b shares blocks 0, 1 and 2 of a; nothing is copied."),
        (5, "b copies block 2 into block 3 before it writes: two requests held block 2."),
        (6, "b writes its token number 10 into block 3, slot 2 of 4."),
        (7, "a gives blocks 0, 1 and 2 back; blocks 0 and 1 are still in another table."),
        (8, "c gets blocks 0, 1 and 2 for its 9 tokens; blocks 0 and 1 are from the prefix cache."),
    ],
)
def test_a_sentence_says_what_the_event_did(upto: int, words: str) -> None:
    assert sentence(replay_pool(fork_and_copy(), 8, 4, upto)) == words


def test_every_kind_of_event_has_a_sentence() -> None:
    for upto, event in enumerate(SCHEDULE, 1):
        said = sentence(replay_pool(SCHEDULE, 8, 4, upto))
        assert said.startswith(f"Request {event.request} "), said
        assert said.endswith("."), said


A = Event("allocate", "a", tokens=6, free_blocks=6, blocks=(0, 1))
FORK = Event("fork", "b", tokens=6, free_blocks=6, blocks=(0, 1), source="a")
CACHE = Event("cache", "a", tokens=6, free_blocks=6, blocks=(0,))
FREE = Event("free", "a", free_blocks=8, blocks=(0, 1))


@pytest.mark.parametrize(
    ("log", "number", "words"),
    [
        ([Event("append", "a", tokens=5, free_blocks=7, blocks=(0,))], 1, "a has no block table"),
        ([A, A], 2, "a has a block table already"),
        ([A, A._replace(request="b")], 2, "block 0 is given out as free while a holds it"),
        ([A._replace(blocks=(0, 8))], 1, "there is no block 8 in a pool of 8"),
        ([A._replace(blocks=(1, 1))], 1, "name one block twice"),
        ([A._replace(tokens=9)], 1, "9 tokens need 3 blocks of 4, but a has 2"),
        ([A._replace(free_blocks=5)], 1, "it says that 5 blocks are free, but 6 are in no table"),
        ([A._replace(free_list=(2, 3, 4, 5, 6))], 1, "block 7 is free, but not in its free list"),
        ([A._replace(free_list=(1, 2, 3, 4, 5, 6, 7))], 1, "block 1 is in its free list, but not free"),
        ([A._replace(free_list=(2, 2, 3, 4, 5, 6, 7))], 1, "names one block twice"),
        ([A._replace(cached_blocks=1)], 1, "block 0 is said to be found in the prefix cache, which does not have it"),
        ([A, FORK._replace(blocks=(0,))], 2, "blocks (0,) are not the table of a"),
        ([A, FORK._replace(tokens=5)], 2, "a had 6 tokens and now has 5"),
        ([A, CACHE._replace(blocks=(1,))], 2, "block 1 is no full block of a"),
        ([A, CACHE, Event("evict", None, free_blocks=6, blocks=(0,))], 3, "block 0 is still in a table"),
        ([A, FREE, Event("evict", None, free_blocks=7, blocks=(0,))], 3, "block 0 is not cached"),
        ([A, FREE._replace(blocks=(0,))], 2, "it gives up blocks (0,), but its table is [0, 1]"),
        ([A, FREE, FREE], 3, "a has no block table"),
        (
            [A, Event("copy", "a", tokens=7, free_blocks=6, blocks=(2,), source=1)],
            2,
            "though no other request holds it",
        ),
        (
            [A, FORK, Event("copy", "a", tokens=7, free_blocks=5, blocks=(2,), source=0)],
            3,
            "block 0 is copied, but the table ends with block 1",
        ),
        ([A, Event("write", "a", tokens=7, free_blocks=6, blocks=(0,))], 2, "block 0 is written, but the table ends"),
        ([A, FORK, Event("write", "a", tokens=7, free_blocks=6, blocks=(1,))], 3, "written while it is in 2 tables"),
        ([A, Event("append", "a", tokens=9, free_blocks=4, blocks=(2, 3))], 2, "it concerns one block, but names 2"),
        ([Event("melt", "a")], 1, "there is no such kind of event"),  # type: ignore[arg-type]
    ],
)
def test_a_paging_log_that_contradicts_itself_is_refused_by_number(log: list[Event], number: int, words: str) -> None:
    with pytest.raises(LogError, match=re.escape(words)) as refused:
        replay_pool(log, 8, 4)
    assert refused.value.number == number
    assert str(refused.value).startswith(f"event {number} of the log, {log[number - 1].kind!r}")


def test_the_events_before_the_contradiction_can_be_shown() -> None:
    assert dict(replay_pool([A, A], 8, 4, upto=1).tables) == {"a": (0, 1)}


@pytest.mark.parametrize(
    ("change", "number", "words"),
    [
        ({0: {"kind": "prefill"}}, 1, "request 0 has not arrived"),
        ({1: {"kind": "first token"}}, 2, "request 1 has not arrived"),
        ({1: {"request": 0}}, 2, "request 0 still waits"),
        ({2: {"kind": "finish"}}, 3, "request 0 still waits"),
        ({3: {"kind": "finish"}}, 4, "request 0 is in its prefill"),
        ({3: {"time_s": 0.5}}, 4, "at 0.5 s it comes before what it follows, at 1 s"),
        ({3: {"time_s": float("nan")}}, 4, "its time is nan s"),
        ({3: {"kind": "recomputed"}}, 4, "request 0 never had its first token"),
        ({8: {"kind": "recomputed", "request": 0}}, 9, "request 0 is decoding"),
        ({10: {"kind": "finish"}}, 11, "request 1 is in its prefill"),
        ({8: {"kind": "first token", "request": 1}}, 9, "request 1 had its first token before"),
        ({8: {"kind": "resume", "request": 0}}, 9, "request 0 is decoding"),
    ],
)
def test_a_schedule_that_contradicts_itself_is_refused_by_number(
    change: dict[int, dict[str, Any]], number: int, words: str
) -> None:
    log = [event._replace(**change.get(index, {})) for index, event in enumerate(SCHEDULE)]
    for read in (replay_schedule, request_spans, serving_series):
        with pytest.raises(LogError, match=re.escape(words)) as refused:
            read(log)
        assert refused.value.number == number


def test_the_schedule_after_each_event() -> None:
    states = [replay_schedule(SCHEDULE, upto) for upto in range(len(SCHEDULE) + 1)]
    assert [(s.waiting, s.running, s.preempted, s.finished, s.rejected) for s in states[:3]] == [
        ((), (), (), (), ()),
        ((0,), (), (), (), ()),
        ((0, 1), (), (), (), ()),
    ]
    preempted = next(state for state in states if state.last and state.last.kind == "preempt")
    assert (preempted.running, preempted.preempted) == ((0,), (1,))
    assert dict(preempted.tokens) == {0: 100}
    assert (states[-1].finished, states[-1].rejected, states[-1].running) == ((0, 1), (2,), ())
    assert states[-1].time_s == 9


def test_spans_follow_the_log_and_a_recomputation_is_a_prefill() -> None:
    first, second, third = request_spans(SCHEDULE)
    assert first.spans == (Span("waiting", 0, 1), Span("prefill", 1, 2), Span("decode", 2, 8))
    # Recomputed in two chunks, at 5 s and at 6 s, the last of which ends at 7 s.
    assert second.spans == (
        Span("waiting", 0.5, 2),
        Span("prefill", 2, 3),
        Span("decode", 3, 4),
        Span("preempted", 4, 5),
        Span("prefill", 5, 7),
        Span("decode", 7, 9),
    )
    assert (third.outcome, third.spans, third.arrival_s) == ("rejected", (), 5.5)
    assert second.seconds("prefill") == 3


def test_an_unfinished_request_lasts_to_the_end_of_the_log() -> None:
    cut = request_spans(SCHEDULE[:-2])
    assert [one.outcome for one in cut] == ["unfinished", "unfinished", "rejected"]
    assert [one.end_s for one in cut[:2]] == [7, 7]


@pytest.mark.parametrize("policy", ["static", "continuous", "chunked", "swap"])
def test_what_a_simulation_logs_can_be_read(policy: str) -> None:
    events = scheduled(policy)
    spans = request_spans(events)
    arrived = {event.request: event.time_s for event in events if event.kind == "arrive"}
    finished = {event.request: event.time_s for event in events if event.kind == "finish"}
    for one in spans:
        assert one.arrival_s == arrived[one.request]
        assert one.end_s == finished[one.request]
        assert sum(span.seconds for span in one.spans) == pytest.approx(one.end_s - one.arrival_s)
        assert all(a.end_s == b.start_s for a, b in zip(one.spans, one.spans[1:], strict=False))
    if policy in ("continuous", "swap"):
        assert any(one.seconds("preempted") > 0 for one in spans)
    last = replay_schedule(events)
    assert set(last.finished) == set(finished)
    series = serving_series(events)
    assert series.running.values[-1] == series.waiting.values[-1] == 0
    assert series.running.values.min() >= 0
    assert series.waiting.values.min() >= 0


@pytest.mark.parametrize("policy", [ContinuousBatching(), ChunkedPrefill(8, token_budget=24), "static"])
def test_prefill_and_decode_are_drawn_for_the_steps_in_which_they_ran(policy: Any) -> None:
    """Two ways to the same seconds: the log's spans, and who had what computed in each step that was played."""
    requests = [Request(id, 0.04 * id, 20 + 9 * id, 30 - 3 * id) for id in range(8)]
    playback = play_schedule(requests, policy, num_blocks=14, block_size=8)
    assert playback.broken is None
    if policy != "static":
        assert any(event.kind == "recomputed" for event in playback.events)
    for one in request_spans(playback.events):
        ran = {"prefill": 0.0, "decode": 0.0}
        for step in playback.steps:
            phase = "prefill" if one.request in dict(step.prefills) else "decode"
            ran[phase] += step.seconds * (one.request in [*dict(step.prefills), *step.decodes])
        assert (one.seconds("prefill"), one.seconds("decode")) == pytest.approx((ran["prefill"], ran["decode"]))


def test_the_curves_count_what_the_states_hold() -> None:
    series = serving_series(SCHEDULE)
    for upto, event in enumerate(SCHEDULE, 1):
        if upto == len(SCHEDULE) or SCHEDULE[upto].time_s > event.time_s:
            state = replay_schedule(SCHEDULE, upto)
            at = int(np.searchsorted(series.running.times_s, event.time_s, side="right")) - 1
            assert series.running.values[at] == len(state.running)
            assert series.waiting.values[at] == len(state.waiting) + len(state.preempted)


def test_an_arrival_that_is_logged_late_counts_from_its_own_time() -> None:
    late = [SCHEDULE[0], SCHEDULE[2], SCHEDULE[1], *SCHEDULE[3:]]
    assert serving_series(late).waiting.values.tolist() == serving_series(SCHEDULE).waiting.values.tolist()
    assert request_spans(late) == request_spans(SCHEDULE)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1001, 6000))
def test_a_thinned_curve_keeps_its_extremes_and_what_holds_through_a_gap(seed: int, points: int) -> None:
    draw = np.random.default_rng(seed)
    times = np.cumsum(draw.exponential(1, points) * draw.choice([1, 300], points, p=[0.99, 0.01]))
    series = Series(times, draw.integers(0, 100, points).astype(float))
    thin = series.thinned()
    assert len(thin.times_s) <= 1000
    assert thin.peak == series.peak
    assert thin.values.min() == series.values.min()
    # Where nothing happens for longer than a stretch, the thinned curve has the value that holds.
    stretch = (times[-1] - times[0]) / 333
    for index in np.flatnonzero(np.diff(times) > 2 * stretch):
        shown = thin.values[np.searchsorted(thin.times_s, times[index + 1], side="left") - 1]
        assert shown == series.values[index]


def test_a_short_curve_is_left_as_it_is_and_its_mean_is_over_time() -> None:
    series = Series(np.array([0.0, 1.0, 4.0]), np.array([2.0, 6.0, 0.0]))
    assert series.thinned() is series
    assert series.mean == pytest.approx((2 * 1 + 6 * 3) / 4)
    assert series.peak == (6, 1)


@pytest.mark.parametrize("nothing", [None, 7, "log", [None], [1]])
def test_what_is_no_log_is_refused(nothing: Any) -> None:
    for read in (request_spans, serving_series, replay_schedule):
        with pytest.raises(TypeError, match="^events is the list of Events"):
            read(nothing)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 4), "num_blocks is the number of blocks in the pool and must be at least 1"),
        ((8, 2.5), "block_size is the number of tokens in a block, a whole number"),
        ((8, 4, -1), "upto is how many of the log's 1 events have happened and must be at least 0"),
        ((8, 4, 2), "upto is how many of the log's 1 events have happened, but 2 is more"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        replay_pool([A], *arguments)


def test_a_log_without_a_schedule_has_no_curves() -> None:
    with pytest.raises(ValueError, match="no scheduling event that runs a request"):
        serving_series(fork_and_copy())


def test_one_output_token_is_a_prefill_and_no_decoding() -> None:
    events, _ = simulate([Request(0, 0.0, 100, 1)], num_blocks=20)
    [one] = request_spans(events)
    assert [span.phase for span in one.spans] == ["prefill"]
