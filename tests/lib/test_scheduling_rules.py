"""A learner's scheduler or allocator: right ones run, whoever wrote them, and wrong ones are told what they did, and when."""

from __future__ import annotations

import inspect
import pydoc
import textwrap
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving.paging import ContiguousAllocator, PagedAllocator
from llmserving.scheduling import (
    SCENARIOS,
    BrokenRuleError,
    ChunkedPrefill,
    ContinuousBatching,
    Engine,
    Policy,
    Simulation,
    play_schedule,
    simulate,
)
from llmserving.scheduling.policies import decode_all

from tests.lib.allocators import Naive
from tests.lib.schedules import check_log, workload
from tests.lib.test_simulate_fast import crowd, run

# Two blocks of 4 and requests of up to 8 tokens: the second gives way to the first, the third waits.
FIGHT = workload((0, 4, 4), (0, 4, 4), (0, 4, 4))
POOL: dict[str, Any] = {"block_size": 4, "num_blocks": 2}


class Scheduler:
    """What is wrong with one is a function of the engine."""

    def __init__(self, schedule: Any, **attributes: Any) -> None:
        self.schedule: Any = schedule
        vars(self).update(attributes)


def broken(schedule: Any, requests: Any = FIGHT, **settings: Any) -> BrokenRuleError:
    policy = schedule if hasattr(schedule, "schedule") else Scheduler(schedule)
    with pytest.raises(BrokenRuleError) as caught:
        simulate(requests, policy, **{**POOL, **settings})
    assert caught.value.__cause__ is None  # the sentence stands alone, without a traceback from inside
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


# Right ones


class OneLoop:
    """Written without the library's decode_all: the blocks that decodes will take are counted first."""

    def __init__(self, max_num_seqs: int) -> None:
        self.max_num_seqs = max_num_seqs

    def schedule(self, engine: Engine) -> None:
        size = engine.memory.block_size
        sent_back = False
        while True:
            needed = sum(sequence.cached % size == 0 for sequence in engine.running)
            if needed <= engine.free_blocks:
                break
            # The youngest may need no block itself: what counts is what it gives back.
            engine.preempt(engine.running[-1])
            sent_back = True
        for sequence in engine.running:
            engine.decode(sequence)
        while not sent_back and len(engine.running) < self.max_num_seqs and engine.can_admit():
            sequence = engine.waiting[0]
            assert engine.admit(sequence) is sequence
            engine.prefill(sequence, sequence.target - sequence.cached)


class Chunks:
    """Chunks without the library's classes: the rest of the budget goes to whoever stands next, running or waiting."""

    def __init__(self, max_num_seqs: int, token_budget: int) -> None:
        self.max_num_seqs, self.token_budget = max_num_seqs, token_budget

    def schedule(self, engine: Engine) -> None:
        alive = [sequence for sequence in engine.running if sequence.left == 0]
        sent_back = False
        while alive:
            sequence = alive.pop(0)
            while not engine.can_decode(sequence):
                youngest = engine.running[-1]
                engine.preempt(youngest)
                sent_back = True
                if youngest in alive:
                    alive.remove(youngest)
                if youngest is sequence:
                    break
            else:
                engine.decode(sequence)
        rest = self.token_budget - len(engine.moves.decodes)
        for sequence in engine.running:
            if sequence.left and rest:
                rest -= engine.prefill(sequence, min(rest, sequence.left))
        while rest and not sent_back and len(engine.running) < self.max_num_seqs and engine.can_admit():
            sequence = engine.admit()
            rest -= engine.prefill(sequence, min(rest, sequence.left))


@given(st.integers(0, 10**6))
def test_schedulers_written_in_another_way_pass_and_serve_everybody(seed: int) -> None:
    case = {**crowd(seed), "memory": "paged"}
    for policy in (OneLoop(4), Chunks(4, 9)):
        events, summary = run({**case, "policy": policy})
        check_log(events, case["workload"], case["num_blocks"])
        assert len(summary.served) + summary.rejected == len(case["workload"])
    assert (
        run({**case, "policy": Chunks(4, 9)}).events
        == run({**case, "policy": ChunkedPrefill(4, token_budget=9)}).events
    )


def test_a_subclass_that_schedules_in_another_way_is_asked() -> None:
    class OneAtATime(ContinuousBatching):
        def schedule(self, engine: Engine) -> None:
            if not decode_all(engine) or not engine.running:
                self.admit_while(engine)

    assert simulate(FIGHT, OneAtATime(), **POOL).summary.tally.most_sequences == 2
    assert simulate(FIGHT, ContinuousBatching(), **POOL).summary.tally.most_sequences == 2


def test_a_scheduler_without_limits_needs_no_attributes() -> None:
    def greedy(engine: Engine) -> None:
        if decode_all(engine):
            while engine.can_admit():
                sequence = engine.admit()
                engine.prefill(sequence, sequence.left)

    assert simulate(FIGHT, Scheduler(greedy), **POOL).events == simulate(FIGHT, "continuous", **POOL).events
    assert simulate(FIGHT, Scheduler(greedy, max_num_seqs=None), **POOL).summary.steps


# Wrong ones


def whole(engine: Any, sequence: Any = None) -> Any:
    """Admit and compute the whole prompt."""
    admitted = engine.admit(sequence)
    engine.prefill(admitted, admitted.left)
    return admitted


def stands_still(engine: Any) -> None:
    """It decodes, and admits nobody."""
    for sequence in engine.running:
        engine.decode(sequence)


def forgets_the_second(engine: Any) -> None:
    for sequence in engine.running[:1]:
        engine.decode(sequence)
    while not engine.running or (engine.step == 1 and len(engine.running) < 2):
        whole(engine)


def forgets_a_begun_prompt(engine: Any) -> None:
    if engine.step == 1:
        engine.prefill(engine.admit(), 2)
    else:
        whole(engine)


def takes_the_last(engine: Any) -> None:
    whole(engine, engine.waiting[-1])


def sends_the_oldest_back(engine: Any) -> None:
    if engine.step == 1:
        whole(engine)
        whole(engine)
    else:
        engine.preempt(engine.running[0])
        decode_all(engine)


def sends_the_only_one_back(engine: Any) -> None:
    """Alone it has room: it would be computed again and again, for ever."""
    for sequence in list(engine.running):
        engine.preempt(sequence)
    engine.prefill(engine.admit(), 1)


def takes_turns(engine: Any) -> None:
    """Who ran is sent back, and the next one runs."""
    for sequence in list(engine.running):
        engine.preempt(sequence)
    whole(engine, engine.waiting[engine.step % 2])


def decodes_twice(engine: Any) -> None:
    if engine.step == 1:
        whole(engine)
    else:
        engine.decode(engine.running[0])
        engine.decode(engine.running[0])


def prefills_and_decodes(engine: Any) -> None:
    engine.decode(whole(engine))


def decodes_too_early(engine: Any) -> None:
    if engine.step == 1:
        engine.prefill(engine.admit(), 2)
    else:
        engine.decode(engine.running[0])


def prefills(tokens: Any) -> Callable[[Any], object]:
    return lambda engine: engine.prefill(engine.admit(), tokens)


def admits_twice(engine: Any) -> None:
    engine.admit(whole(engine))


def serves_who_waits(engine: Any) -> None:
    engine.prefill(engine.waiting[0], 4)


def sends_back_after_decoding(engine: Any) -> None:
    if engine.step == 1:
        whole(engine)
        whole(engine)
    else:
        engine.decode(engine.running[0])
        engine.preempt(engine.running[0])


def sends_back_after_prefilling(engine: Any) -> None:
    engine.preempt(whole(engine))


def sends_back_who_waits(engine: Any) -> None:
    engine.preempt(engine.waiting[1])


def admits_without_asking(engine: Any) -> None:
    for _ in range(3):
        whole(engine)


def decodes_without_asking(engine: Any) -> None:
    stands_still(engine)
    while engine.can_admit():
        whole(engine)


def asks_for_who_is_gone(engine: Any) -> None:
    """The usual slip: the loop sends the sequence itself back, and asks on."""
    if engine.step == 1:
        whole(engine)
        whole(engine)
        return
    for sequence in list(engine.running):
        while not engine.can_decode(sequence):
            engine.preempt(engine.running[-1])
        engine.decode(sequence)


def admits_from_an_empty_queue(engine: Any) -> None:
    for _ in range(4):
        whole(engine)


def always_admits(engine: Any) -> None:
    stands_still(engine)
    while engine.can_admit():
        whole(engine)


def divides_by_zero(engine: Any) -> None:
    engine.prefill(engine.admit(), 4 // (engine.step - 1))


def skips_whoever_has_no_block(engine: Any) -> None:
    """And never sends anybody back."""
    for sequence in engine.running:
        if engine.can_decode(sequence):
            engine.decode(sequence)
    while engine.can_admit():
        whole(engine)


def lets_in_and_computes_nothing(engine: Any) -> None:
    while engine.can_admit():
        engine.admit()


def computes_prompts_and_never_decodes(engine: Any) -> None:
    while engine.can_admit():
        whole(engine)


def sends_all_back(engine: Any) -> None:
    for sequence in list(engine.running):
        engine.preempt(sequence)
    if engine.step == 1:
        whole(engine)


STILL = "nobody was given a token, so the engine would stand still; running: "
WRONG: list[tuple[Any, int, str, int, int, str]] = [
    (
        skips_whoever_has_no_block,
        2,
        "idle",
        2,
        7,
        f"{STILL}request 0, request 1; waiting: request 2. Each that runs needs a block for its next token, none is free, "
        "and nobody was sent back: the latest that came should have been, by engine.preempt(engine.running[-1])",
    ),
    (
        skips_whoever_has_no_block,
        4,
        "starvation",
        2,
        9,
        "request 1 runs and decodes, and was given no token; it needs a block and none is free, so the latest that came "
        "should have been sent back",
    ),
    (
        lets_in_and_computes_nothing,
        2,
        "idle",
        1,
        3,
        f"{STILL}request 0, request 1; waiting: request 2. To be let in computes nothing: engine.prefill(sequence, tokens) "
        "is due for request 0, request 1",
    ),
    (
        computes_prompts_and_never_decodes,
        6,
        "idle",
        2,
        9,
        f"{STILL}request 0, request 1, request 2; waiting: nobody. engine.decode(sequence) is due for each that runs and "
        "decodes",
    ),
    (
        sends_all_back,
        2,
        "idle",
        2,
        6,
        f"{STILL}nobody; waiting: request 0, request 1, request 2. engine.admit() and engine.prefill(sequence, tokens) are "
        "due after all that ran were sent back: there is room for the first that waits",
    ),
    (
        stands_still,
        2,
        "idle",
        1,
        3,
        "nobody was given a token, so the engine would stand still; running: nobody; "
        "waiting: request 0, request 1, request 2. engine.admit() and engine.prefill(sequence, tokens) are due: there is "
        "room for the first that waits",
    ),
    (forgets_the_second, 4, "starvation", 2, 7, "request 1 runs and decodes, and was given no token"),
    (
        forgets_a_begun_prompt,
        2,
        "starvation",
        2,
        5,
        "no token of request 0's prompt was computed, though it has run for longest",
    ),
    (
        takes_the_last,
        2,
        "first come, first served",
        1,
        4,
        "request 2 was admitted before request 0, which came earlier and still waits",
    ),
    (sends_the_oldest_back, 2, "victim", 2, 8, "request 0 was sent back, and request 1, which came later, runs on"),
    (
        sends_the_only_one_back,
        2,
        "victim",
        2,
        6,
        "request 0 was sent back, and it came first of all that ran: the first is never sent back, since it has room "
        "once the others are gone",
    ),
    (
        takes_turns,
        2,
        "first come, first served",
        1,
        4,
        "request 1 was admitted before request 0, which came earlier and still waits",
    ),
    (decodes_twice, 2, "twice", 2, 5, "request 0 was to decode in a step in which it was scheduled already"),
    (prefills_and_decodes, 2, "twice", 1, 4, "request 0 was to decode in a step in which it was scheduled already"),
    (decodes_too_early, 2, "chunk", 2, 4, "request 0 decodes, and has 2 of its prompt's 4 tokens yet"),
    (prefills(5), 2, "chunk", 1, 3, "5 tokens of request 0's prompt were scheduled, and 4 are left"),
    (prefills(0), 2, "chunk", 1, 3, "0 tokens of request 0's prompt were scheduled, and 4 are left"),
    (prefills(2.0), 2, "chunk", 1, 3, "2.0 tokens of request 0's prompt were scheduled, and 4 are left"),
    (prefills("4"), 2, "chunk", 1, 3, "'4' tokens of request 0's prompt were scheduled, and 4 are left"),
    (admits_twice, 2, "unknown", 1, 4, "request 0 was admitted and does not wait"),
    (serves_who_waits, 2, "unknown", 1, 3, "request 0 was to have its prompt computed, and does not run"),
    (lambda engine: engine.decode(7), 2, "unknown", 1, 3, "7 was to decode, and does not run"),
    (lambda engine: engine.admit(7), 2, "unknown", 1, 3, "7 was admitted and does not wait"),
    (
        sends_back_after_decoding,
        4,
        "twice",
        2,
        7,
        "request 0 was to be sent back in a step in which it was scheduled already",
    ),
    (
        sends_back_after_prefilling,
        2,
        "twice",
        1,
        4,
        "request 0 was to be sent back in a step in which it was scheduled already",
    ),
    (sends_back_who_waits, 2, "unknown", 1, 3, "request 1 was to be sent back, and does not run"),
    (admits_without_asking, 2, "no room", 1, 5, "request 2 was admitted, and there is no room for its 4 tokens"),
    (decodes_without_asking, 2, "no room", 2, 7, "request 0 decodes, and there is no block free for its next token"),
    (asks_for_who_is_gone, 2, "unknown", 2, 8, "request 1 was asked whether it can decode, and does not run"),
    (admits_from_an_empty_queue, 4, "unknown", 1, 6, "a request was to be admitted, and nobody waits"),
    (Scheduler(always_admits, max_num_seqs=2), 4, "max_num_seqs", 1, 6, "3 requests run, and max_num_seqs is 2"),
    (
        Scheduler(always_admits, token_budget=11),
        4,
        "token_budget",
        1,
        6,
        "the step computes 12 tokens, and token_budget is 11",
    ),
    (
        divides_by_zero,
        2,
        "bug",
        1,
        3,
        "schedule stopped with a bug, ZeroDivisionError: integer division or modulo by zero, in divides_by_zero, line",
    ),
    (lambda: None, 2, "bug", 1, 3, "schedule cannot be called as the engine calls it: "),
]


@pytest.mark.parametrize(
    ("schedule", "num_blocks", "name", "step", "event", "sentence"),
    WRONG,
    ids=[f"{row[2]}: {row[5][:40]}" for row in WRONG],
)
def test_a_wrong_scheduler_is_told_which_rule_it_broke(
    schedule: Any, num_blocks: int, name: str, step: int, event: int, sentence: str
) -> None:
    error = broken(schedule, num_blocks=num_blocks)
    assert (error.name, error.step, error.event) == (name, step, event), error
    assert str(error).startswith(f"Step {step}, after event {event}: {sentence}")
    assert str(error).endswith(".")
    assert name == "bug" or str(error) == f"Step {step}, after event {event}: {sentence}."


def by_hand(change: Callable[[Any], object]) -> Callable[[Any], object]:
    """The shortest scheduler, which at the second step makes one change past the moves."""

    def schedule(engine: Any) -> None:
        stands_still(engine)
        if engine.can_admit():
            whole(engine)
        if engine.step == 2:
            change(engine)

    return schedule


def sets(name: str, value: Any, of: str = "engine.running[0]") -> Callable[[Any], object]:
    return lambda engine: setattr(eval(of, {"engine": engine}), name, value)


def adds(engine: Any) -> None:
    engine.running += [engine.waiting[0]]


def overwrites(engine: Any) -> None:
    engine.running[0] = engine.waiting[0]


def deletes(engine: Any) -> None:
    del engine.waiting[0]


BY_HAND: list[tuple[Callable[[Any], object], str]] = [
    (lambda engine: engine.waiting.clear(), "engine.waiting.clear was called"),
    (lambda engine: engine.waiting.popleft(), "engine.waiting.popleft was called"),
    (lambda engine: engine.running.append(engine.waiting[0]), "engine.running.append was called"),
    (lambda engine: engine.running.sort(key=id), "engine.running.sort was called"),
    (lambda engine: engine.waiting.rotate(), "engine.waiting.rotate was called"),
    (lambda engine: engine.events.clear(), "engine.events.clear was called"),
    (lambda engine: engine.moves.decodes.append(engine.waiting[0]), "engine.moves.decodes.append was called"),
    (adds, "something was added to engine.running"),
    (overwrites, "an item of engine.running was set"),
    (deletes, "an item of engine.waiting was deleted"),
    (sets("waiting", [], "engine"), "engine.waiting was set"),
    (sets("running", [], "engine"), "engine.running was set"),
    (sets("time_s", 0.0, "engine"), "engine.time_s was set"),
    (sets("step", 0, "engine"), "engine.step was set"),
    (sets("free_blocks", 99, "engine"), "engine.free_blocks was set"),
    (sets("produced", 5), "produced of request 0 was set"),
    (sets("cached", 0), "cached of request 0 was set"),
    (sets("target", 1), "target of request 0 was set"),
    (sets("done", True), "done of request 0 was set"),
    (sets("place", 9), "place of request 0 was set"),
]


@pytest.mark.parametrize(("change", "what"), BY_HAND, ids=[what for _, what in BY_HAND])
def test_what_is_changed_past_the_moves_is_refused_and_told(change: Any, what: str) -> None:
    error = broken(by_hand(change), block_size=4, num_blocks=6)
    assert (error.name, error.step) == ("by hand", 2)
    assert f": {what}; a scheduler changes who waits, who runs and how far they are by engine.admit, " in str(error)
    playback = play_schedule(FIGHT, Scheduler(by_hand(change)), block_size=4, num_blocks=6)
    assert str(playback.broken) == str(error)


def test_a_change_past_the_moves_that_the_scheduler_hides_changes_nothing() -> None:
    def hidden(change: Callable[[Any], object]) -> Callable[[Any], object]:
        def schedule(engine: Any) -> None:
            with suppress(Exception):
                change(engine)

        return schedule

    expected = simulate(FIGHT, Scheduler(by_hand(lambda engine: None)), block_size=4, num_blocks=6)
    for change, _ in BY_HAND:
        assert simulate(FIGHT, Scheduler(by_hand(hidden(change))), block_size=4, num_blocks=6) == expected


def test_queues_are_read_like_lists() -> None:
    def schedule(engine: Any) -> None:
        waiting, running = engine.waiting, engine.running
        assert (
            [one.request.id for one in waiting]
            == [one.request.id for one in waiting[:]]
            == [*range(3 - len(waiting), 3)]
        )
        assert waiting.copy() == list(waiting) == waiting[0:3] == waiting == [*waiting[:1], *waiting[1:]]
        assert sorted(waiting, key=lambda one: -one.place) == list(reversed(waiting))
        assert running + list(waiting) == [*running, *waiting]
        assert not waiting or (waiting[-1].place, waiting.index(waiting[-1])) == (2, len(waiting) - 1)
        assert not hasattr(waiting, "length")
        assert "Sequence(request" in repr(waiting) + repr(running)
        by_hand(lambda _: None)(engine)
        engine.noted = waiting[:1]  # an attribute of one's own changes nothing

    assert simulate(FIGHT, Scheduler(schedule), block_size=4, num_blocks=1000).summary.steps == 6


def test_chunks_may_be_counted_in_narrow_numbers_of_numpy() -> None:
    def schedule(engine: Any) -> None:
        if not engine.running:
            engine.admit()
        (sequence,) = engine.running
        if sequence.left:
            assert type(engine.prefill(sequence, np.uint8(min(200, sequence.left)))) is int
        else:
            engine.decode(sequence)

    events, summary = simulate(workload((0, 700, 3)), Scheduler(schedule), num_blocks=100)
    assert [event.tokens for event in events if event.kind == "prefill"] == [200, 400, 600, 700]
    assert type(events[-1].tokens) is type(summary.tally.computed_tokens) is int


def test_a_scheduler_is_a_class_a_function_that_makes_one_or_an_object() -> None:
    class Mine(Chunks):
        def __init__(self) -> None:
            super().__init__(4, 9)

    expected = simulate(FIGHT, Mine(), **POOL)
    for policy in (Mine, lambda: Mine()):
        assert simulate(FIGHT, policy, **POOL) == expected
    assert simulate(FIGHT, ContinuousBatching, **POOL) == simulate(FIGHT, "continuous", **POOL)


def test_a_scheduler_that_cannot_be_made_is_told_before_the_first_step() -> None:
    with pytest.raises(
        BrokenRuleError, match=r"^Before step 1: Chunks\(\) cannot be called .* missing 2 required"
    ) as told:
        simulate(FIGHT, Chunks, **POOL)  # type: ignore[arg-type]
    assert (told.value.name, told.value.step, told.value.event) == ("bug", 0, 0)


def unwritten(self: Any) -> Any:
    return self.limits[0]  # an AttributeError, which must not pass for a scheduler without limits


@pytest.mark.parametrize("name", ["max_num_seqs", "token_budget", "preemption", "schedule"])
@pytest.mark.parametrize("limits", [{}, {"limits": ()}])
def test_an_attribute_that_goes_wrong_when_it_is_read_is_told_with_its_line(name: str, limits: dict[str, Any]) -> None:
    wrong = type("Wrong", (), {"schedule": always_admits, name: property(unwritten), **limits})
    told = rf"^Before step 1: {name} stopped with a bug, .*Error: .*, in unwritten, line \d+: return self.limits\[0\]"
    with pytest.raises(BrokenRuleError, match=told):
        simulate(FIGHT, wrong, **POOL)
    assert "Before step 1: " + name in str(play_schedule(policy=wrong()).broken)


def test_a_limit_that_changes_to_nonsense_is_told_at_its_step() -> None:
    class Moody(Chunks):
        asked = 0

        @property
        def max_num_seqs(self) -> Any:
            self.asked += 1
            return 4 if self.asked < 8 else "four"

        @max_num_seqs.setter
        def max_num_seqs(self, value: int) -> None:
            pass

    error = broken(Moody(4, 90), block_size=4, num_blocks=8)
    assert error.name == "bug"
    assert "four" in str(error)


# What a learner is told before the first line


def test_the_help_names_every_rule_and_all_that_a_scheduler_reads_asks_and_moves() -> None:
    rules = {row[2] for row in WRONG} | {"by hand", "endless"}
    words = [
        *rules,
        "engine.waiting",
        "engine.running",
        "can_admit",
        "can_decode",
        "admit",
        "prefill",
        "decode",
        "preempt",
    ]
    for whose in (Policy, Engine):
        told = pydoc.plain(pydoc.render_doc(whose))
        assert [word for word in words if word not in told] == []
    attributes = {f"sequence.{name}" for name in ("left", "decodes", "cached", "request")}
    assert all(name in (Policy.__doc__ or "") for name in attributes)


def test_the_scheduler_in_the_help_is_right() -> None:
    code = "    class Mine:" + (inspect.getdoc(Policy) or "").split("    class Mine:")[1]
    made: dict[str, Any] = {}
    exec(textwrap.dedent(code), made)
    for scenario in SCENARIOS:
        playback = play_schedule(scenario, made["Mine"])
        assert playback.broken is None
        assert playback.events == play_schedule(scenario, ContinuousBatching()).events


def test_a_scheduler_that_sends_back_in_any_order_finds_the_queue_in_order_of_arrival() -> None:
    """It sends 1 and then 2 back, for no reason; both wait in the order in which they came, and nobody is overtaken."""
    seen: list[list[int]] = []

    def schedule(engine: Any) -> None:
        if engine.step == 2:
            for sequence in engine.running[1:]:
                engine.preempt(sequence)
            seen.append([sequence.request.id for sequence in engine.waiting])
        always_admits(engine)

    _, summary = simulate(FIGHT, Scheduler(schedule), block_size=4, num_blocks=8)
    assert seen == [[1, 2]]
    assert [(one.request.id, one.preemptions) for one in summary.served] == [(0, 0), (1, 1), (2, 1)]


def test_those_who_are_admitted_in_one_step_run_in_the_order_of_arrival() -> None:
    def schedule(engine: Any) -> None:
        stands_still(engine)
        while engine.waiting:
            whole(engine, engine.waiting[-1])
        assert [sequence.request.id for sequence in engine.running] == sorted(
            sequence.request.id for sequence in engine.running
        )

    assert simulate(FIGHT, Scheduler(schedule), block_size=4, num_blocks=8).summary.steps == 4


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"max_num_seqs": 0}, "max_num_seqs is the requests that may run at once and must be at least 1, but got 0"),
        ({"token_budget": "512"}, "token_budget is the tokens of all requests in a step, a whole number such as 32"),
        ({"preemption": "drop"}, "preemption is 'recompute' or 'swap', but got 'drop'"),
    ],
)
def test_limits_that_mean_nothing_are_refused_before_anything_runs(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        simulate(FIGHT, Scheduler(stands_still, **attributes))


# Allocators


class Counter(Naive):
    """Tells the number of its free blocks, by a method."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.stack, self.free_blocks = self.free_blocks, lambda: len(self.stack)

    def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
        return self.blocks_for(len(tokens)) <= len(self.stack)

    def can_append(self, request: Any) -> bool:
        return bool(self.stack) or not self.needs_block(request)

    def take(self) -> int:
        return int(self.stack.pop())

    def free(self, request: Any) -> None:
        self.stack += self.tables.pop(request)


class Number(Counter):
    """Tells it as a number."""

    def __getattribute__(self, name: str) -> Any:
        return len(self.stack) if name == "free_blocks" and "stack" in vars(self) else super().__getattribute__(name)


RIGHT: list[Any] = [
    Naive,
    Counter,
    Number,
    lambda blocks, size: Naive(blocks, size),
    lambda blocks, size: PagedAllocator(blocks, size, prefix_caching=True),
]


@pytest.mark.parametrize("allocator", RIGHT, ids=["list", "method", "number", "function", "prefix caching"])
@pytest.mark.parametrize("policy", [ContinuousBatching(3), ContinuousBatching(3, "swap"), ChunkedPrefill(3)])
def test_an_allocator_of_one_s_own_serves_as_the_course_s_does(policy: Any, allocator: Any) -> None:
    requests = workload(*((0.01 * i, 3 + 2 * i, 9 - i) for i in range(8)))
    ours = simulate(requests, policy, block_size=4, num_blocks=6)
    assert ours.summary.preemptions
    assert simulate(requests, policy, block_size=4, num_blocks=6, allocator=allocator) == ours
    made = allocator(6, 4)
    assert simulate(requests, policy, block_size=4, num_blocks=6, allocator=made) == ours


def test_contiguous_memory_takes_an_allocator_too() -> None:
    settings: dict[str, Any] = {"memory": "contiguous", "max_len": 8, "block_size": 4, "num_blocks": 6}
    theirs = simulate(FIGHT, allocator=ContiguousAllocator(24, 8), **settings)
    assert theirs == simulate(FIGHT, **settings)


def spoilt(**methods: Any) -> type[Naive]:
    return type("Spoilt", (Naive,), methods)


def raises(*_: Any) -> Any:
    raise RuntimeError("I have had enough")


def takes_two(self: Any, request: Any, token: int) -> None:
    Naive.append(self, request, token)
    self.free_blocks.pop()


def not_written(*_: Any) -> None:
    raise NotImplementedError("L3.5")


FAULTY: list[tuple[Any, int, int, str]] = [
    (
        spoilt(free=lambda self, request: self.tables.pop(request)),
        2,
        7,
        "after request 1 was freed, 0 blocks are free, and it should be 1",
    ),
    (
        spoilt(can_append=lambda self, request: True),
        2,
        7,
        "can_append says True for the next token of request 0; 1 block is needed and 0 blocks are free",
    ),
    (
        spoilt(can_append=lambda self, request: False),
        2,
        8,
        "can_append says False for the next token of request 0; 1 block is needed and 1 block is free",
    ),
    (
        spoilt(can_allocate=lambda self, tokens: True),
        1,
        5,
        "can_allocate says True for the 4 tokens of request 2; 1 block is needed and 0 blocks are free",
    ),
    (
        spoilt(can_allocate=lambda self, tokens: None),
        1,
        3,
        "can_allocate says False for the 4 tokens of request 0; 1 block is needed and 2 blocks are free",
    ),
    (
        spoilt(can_allocate=raises),
        1,
        3,
        "can_allocate stopped with a bug, RuntimeError: I have had enough, in raises, line",
    ),
    (spoilt(allocate=raises), 1, 3, "allocate stopped with a bug, RuntimeError: I have had enough, in raises, line"),
    (spoilt(append=not_written), 2, 8, "append is not written yet: L3.5"),
    (spoilt(append=lambda self: None), 2, 8, "append cannot be called as the engine calls it: "),
    (spoilt(free=raises), 2, 7, "free stopped with a bug, RuntimeError: I have had enough, in raises, line"),
    (
        spoilt(allocate=lambda self, request, tokens: None),
        1,
        3,
        "after request 0 was allocated 4 tokens, 2 blocks are free, and it should be 1",
    ),
    (
        spoilt(free_blocks=property(raises, lambda self, blocks: None)),
        0,
        0,
        "free_blocks stopped with a bug, RuntimeError",
    ),
    (
        spoilt(free_blocks=property(lambda self: None, lambda self, blocks: None)),
        0,
        0,
        "free_blocks is a number of blocks or a collection of them, but it is None",
    ),
    (
        spoilt(free_blocks=property(lambda self: "2", lambda self, blocks: None)),
        0,
        0,
        "free_blocks is a number of blocks or a collection of them, but it is '2'",
    ),
    (lambda blocks, size: Naive(blocks + 1, size), 0, 0, "at the start, 3 blocks are free, and it should be 2"),
    (PagedAllocator(2, 16), 0, 0, "block_size of the allocator is 16, and that of the simulation 4"),
    (lambda blocks, size: raises(), 0, 0, "<lambda>(2, 4) stopped with a bug, RuntimeError: I have had enough"),
    (lambda blocks: None, 0, 0, "<lambda>(2, 4) cannot be called as the engine calls it: "),
]


@pytest.mark.parametrize(("allocator", "step", "event", "sentence"), FAULTY, ids=[row[3][:50] for row in FAULTY])
def test_a_faulty_allocator_is_told_what_it_did(allocator: Any, step: int, event: int, sentence: str) -> None:
    error = broken(ContinuousBatching(), allocator=allocator)
    assert error.name == "allocator"
    where = f"Step {step}, after event {event}" if step else "Before step 1"
    assert str(error).startswith(f"{where}: {sentence}")
    assert (error.step, error.event) == (step, event)


def test_an_allocator_that_takes_too_much_is_told_at_once() -> None:
    error = broken(ContinuousBatching(), allocator=spoilt(append=takes_two), num_blocks=6)
    assert "after token 4 of request 0 was appended, 1 block is free, and it should be 2" in str(error)


@pytest.mark.parametrize("allocator", [7, object(), "PagedAllocator"])
def test_what_is_no_allocator_is_told_what_it_lacks(allocator: Any) -> None:
    words = "allocator is a class, .* has no can_allocate, allocate, can_append, append, free, free_blocks"
    with pytest.raises(TypeError, match=words):
        simulate(FIGHT, allocator=allocator)


def test_an_allocator_that_lacks_a_method_is_told_which() -> None:
    with pytest.raises(TypeError, match="has no can_append$"):
        simulate(FIGHT, allocator=spoilt(can_append=None))


def test_a_pool_that_the_planner_sizes_is_not_that_of_an_allocator_made_before() -> None:
    with pytest.raises(BrokenRuleError, match="at the start, 8 blocks are free, and it should be 3,794"):
        simulate(FIGHT, allocator=PagedAllocator(8, 16))


def test_used_for_two_simulations_an_allocator_that_gave_all_back_serves_both() -> None:
    allocator = PagedAllocator(2, 4)
    runs: list[Simulation] = [simulate(FIGHT, allocator=allocator, **POOL) for _ in range(2)]
    assert runs[0] == runs[1]
