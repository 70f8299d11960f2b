"""The fast engines tell the same story as the step-by-step one, and every story keeps to the rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llmserving import MODELS
from llmserving.events import Event
from llmserving.scheduling import (
    ChunkedPrefill,
    ContinuousBatching,
    DynamicBatching,
    Request,
    Simulation,
    StaticBatching,
    Workload,
    simulate,
    synthetic_workload,
)

from tests.lib.schedules import LETTERS, check_log, workload

FULL = MODELS["llama-2-13b"]
MODELS_TRIED = (
    FULL,
    replace(FULL, name="sliding", window=6, window_layers=20, window_kind="sliding"),
    replace(FULL, name="chunked", window=5, window_layers=30, window_kind="chunked"),
    MODELS["deepseek-v2-lite"],
)
# Gaps shorter and longer than a step of some 13 ms, and none at all.
gaps = st.sampled_from([0.0, 0.0, 0.001, 0.013, 0.1, 3.0])
row = st.tuples(gaps, st.integers(1, 30), st.integers(1, 25))
rows = st.lists(row, max_size=3) | st.lists(row, min_size=4, max_size=12)
preemptions = st.sampled_from(["recompute", "swap"])
watermarks = st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.9])


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Ids in any order, for a place in the queue has nothing to do with a name."""
    drawn = draw(rows)
    ids = draw(st.permutations(range(len(drawn))))
    arrival_s, made = 0.0, []
    for id, (gap_s, prompt, output) in zip(ids, drawn, strict=True):
        arrival_s += gap_s
        made.append(Request(id, arrival_s, prompt, output))
    return Workload(made, "drawn")


@st.composite
def policies(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["static", "continuous", "continuous", "chunked", "chunked"]))
    if kind == "static":
        rows, window_s = draw(st.integers(1, 5)), draw(st.sampled_from([None, 0.005, 0.05, 1.0, math.inf]))
        return StaticBatching(rows) if window_s is None else DynamicBatching(rows, window_s)
    given: tuple[int, Any, float] = (draw(st.integers(1, 6)), draw(preemptions), draw(watermarks))
    if kind == "continuous":
        return ContinuousBatching(*given)
    return ChunkedPrefill(*given, token_budget=given[0] + draw(st.integers(0, 20)))


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Pools that hold from less than one request to all of them, and many that just hold the longest."""
    policy, block_size, requests = draw(policies()), draw(st.integers(1, 8)), draw(workloads())
    longest = max((request.cached_tokens for request in requests), default=8)
    case = {
        "workload": requests,
        "policy": policy,
        "model": draw(st.sampled_from(MODELS_TRIED)),
        "block_size": block_size,
        "num_blocks": -(-draw(st.integers(8, 200) | st.integers(longest, longest + 40)) // block_size),
        "memory": "contiguous"
        if isinstance(policy, StaticBatching)
        else draw(st.sampled_from(["paged", "contiguous"])),
    }
    if case["memory"] == "contiguous":
        case["max_len"] = draw(st.one_of(st.none(), st.integers(20, 60)))
    return case


def crowd(seed: int) -> dict[str, Any]:
    """Many at once in a pool that just holds the longest: what Hypothesis, which likes small cases, seldom draws."""
    lot = Random(seed)
    arrivals = sorted(lot.choice((0, 0, 0.05, 0.2)) for _ in range(lot.randint(4, 12)))
    requests = [Request(id, arrival, lot.randint(1, 30), lot.randint(1, 25)) for id, arrival in enumerate(arrivals)]
    block_size = lot.randint(1, 8)
    given: tuple[int, Any, float] = (lot.randint(2, 6), lot.choice(("recompute", "swap")), lot.choice((0, 0, 0.1, 0.3)))
    chunked = ChunkedPrefill(*given, token_budget=given[0] + lot.randint(0, 20))
    pool = max(request.cached_tokens for request in requests) + lot.randint(-3, 30)
    policy: Any = lot.choice((StaticBatching(given[0]), *[ContinuousBatching(*given)] * 4, *[chunked] * 4))
    return {
        "workload": Workload(requests, "crowd"),
        "policy": policy,
        "model": lot.choice(MODELS_TRIED),
        "block_size": block_size,
        "num_blocks": -(-pool * (3 if isinstance(policy, StaticBatching) else 1) // block_size),
        "memory": "contiguous" if isinstance(policy, StaticBatching) else lot.choice((None, None, None, "contiguous")),
    }


def run(case: dict[str, Any], **changed: Any) -> Simulation:
    return simulate(**{"gpu": "a100-80gb", **case, **changed})


@settings(max_examples=300)
@given(cases() | st.integers(0, 10**6).map(crowd))
def test_both_engines_give_the_same_events_and_the_same_summary(case: dict[str, Any]) -> None:
    fast, slow = run(case), run(case, step_by_step=True)
    for kind in {event.kind for event in fast.events}:
        hypothesis.event(kind)
    assert fast.events == slow.events
    assert fast.summary == slow.summary
    check_log(fast.events, case["workload"], case["num_blocks"])


def test_the_crowds_preempt_swap_reject_and_chunk() -> None:
    """Without this, two engines that never preempt would be found equal."""
    seen: Counter[str] = Counter()
    for case in map(crowd, range(200)):
        events, summary = run(case)
        kinds = Counter(event.kind for event in events)
        prefills = Counter(event.request for event in events if event.kind == "prefill")
        happened = {
            "preempt": kinds["preempt"],
            "preempted twice": any(one.preemptions > 1 for one in summary.served),
            "recompute": summary.tally.recomputed_tokens,
            "swap": summary.tally.swapped_tokens,
            "recomputed": kinds["recomputed"],
            "resume": kinds["resume"],
            "reject": kinds["reject"],
            "chunks": isinstance(case["policy"], ChunkedPrefill) and max(prefills.values(), default=0) > 1,
            "padding": summary.tally.padding_tokens,
            "window": case["model"].window is not None and kinds["preempt"],
            "contiguous": case["memory"] == "contiguous" and not isinstance(case["policy"], StaticBatching),
        }
        seen.update(name for name, so in happened.items() if so)
        check_log(events, case["workload"], case["num_blocks"])
    assert len(seen) == 11
    assert min(seen.values()) >= 5, seen


# How long a log is


@pytest.mark.parametrize("policy", ["static", "continuous", "chunked"])
def test_ten_times_as_many_tokens_make_no_more_events(policy: str) -> None:
    short, long = (simulate(workload(*((0.01 * i, 30, 5 * times + i) for i in range(20))), policy) for times in (1, 10))
    assert len(short.events) == len(long.events) == 4 * 20  # arrive, prefill, first token, finish
    assert long.summary.steps > 2 * short.summary.steps


@pytest.mark.parametrize("policy", ["continuous", "chunked"])
def test_events_and_steps_grow_with_the_requests(policy: str) -> None:
    """Four times the requests: about four times the events and the steps, not sixteen times."""
    small, large = (simulate(synthetic_workload(n, arrivals="at once"), policy) for n in (1000, 4000))
    assert len(large.summary.served) == 4 * len(small.summary.served) == 4000
    assert len(large.events) / len(small.events) == pytest.approx(4, rel=0.05)
    assert 3.5 < large.summary.steps / small.summary.steps < 4.1


# The check of the logs can fail


def a_log() -> tuple[list[Event], Workload]:
    """With everything in it: a chunked prompt, a preemption and a rejection."""
    requests = workload((0, 4, 4), (0, 4, 4), (0, 9, 1), (0.2, 2, 2))
    policy = ChunkedPrefill(max_num_seqs=2, token_budget=6)
    return simulate(requests, policy, block_size=4, num_blocks=2).events, requests


def test_the_log_that_is_spoilt_below_is_right() -> None:
    events, requests = a_log()
    check_log(events, requests, 2)
    assert {event.kind for event in events} >= {"preempt", "reject", "first token"}


def renamed(events: list[Event], *kinds: str) -> list[Event]:
    """Requests 0 and 1 change their names in events of these kinds."""
    other: dict[Any, int] = {0: 1, 1: 0}
    return [
        event._replace(request=other.get(event.request, event.request)) if event.kind in kinds else event
        for event in events
    ]


def written(lives: str) -> Iterator[Event]:
    """A log from its short form, with all blocks free."""
    kinds = {letter: kind for kind, letter in LETTERS.items()}
    for step, event in enumerate(lives.split()):
        yield Event(kinds[event[0]], int(event[1]), float(step), step, free_blocks=2)  # type: ignore[arg-type]


SPOILT: dict[str, Any] = {
    "time falls": lambda log: [*log[:-1], log[-1]._replace(time_s=0.21)],
    "steps fall": lambda log: [*log[:-1], log[-1]._replace(step=0)],
    "request 0 lives aptt": lambda log: [e._replace(kind="first token") if e[:2] == ("finish", 0) else e for e in log],
    "request 1 lives apbpf": lambda log: [e for e in log if e[:2] != ("first token", 1)],
    "request 1 lives aptbpf": lambda _: [*written("a0 a1 x2 p0 p1 t0 t1 b1 f0 p1 f1 a3 p3 t3 f3")],
    "request 2 lives $": lambda log: [e for e in log if e.kind != "reject"],
    "request 3 lives ptf": lambda log: [e for e in log if e[:2] != ("arrive", 3)],
    "free blocks beyond the pool": lambda log: [*log[:3], log[3]._replace(free_blocks=3), *log[4:]],
    "blocks are lost": lambda log: [*log[:-1], log[-1]._replace(free_blocks=1)],
    "overtaken": lambda log: renamed(log, "prefill", "first token", "preempt", "finish"),
    "the latest is sent back": lambda _: [*written("a0 a1 x2 p0 p1 t0 t1 b0 f1 p0 c0 f0 a3 p3 t3 f3")],
    "never the only one": lambda _: [*written("a0 a1 x2 p0 t0 b0 p0 c0 f0 p1 t1 f1 a3 p3 t3 f3")],
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_spoilt_log_is_found(fault: str) -> None:
    events, requests = a_log()
    with pytest.raises(AssertionError, match=fault):
        check_log(SPOILT[fault](events), requests, 2)
