"""Claims about playing a scheduler: right ones pass however they are written, and what is wrong is told where it happens."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from llmserving.faults import FIR_DAY, Fir
from llmserving.scheduling import (
    LONG_PROMPT_ARRIVES,
    SCENARIOS,
    SHORT_AND_LONG_ANSWERS,
    SHORT_BEHIND_LONG,
    TWO_AND_A_FULL_POOL,
    ChunkedPrefill,
    ContinuousBatching,
    Request,
    Scenario,
    SchedulePlayback,
    Workload,
    play_schedule,
    simulate,
)
from llmserving.scheduling.rules import BrokenRuleError

from tests.lib import schedulers
from tests.lib.allocators import Caching, Naive
from tests.lib.schedules import LETTERS, LIFE, workload

POLICIES = ("static", "dynamic", "continuous", "chunked")
RIGHT = (schedulers.Plain, schedulers.OneAtATime, schedulers.Subclassed)
THREE = workload((0, 4, 3), (0, 4, 3), (0, 4, 3))


def of_three(policy: Any, num_blocks: int = 8, **settings: Any) -> SchedulePlayback:
    return play_schedule(THREE, policy, num_blocks=num_blocks, block_size=4, **settings)


def ended(playback: SchedulePlayback) -> tuple[Any, ...]:
    """Rule, step, event and sentence of what broke."""
    assert playback.broken is not None
    return playback.broken.name, playback.broken.step, playback.broken.event, str(playback.broken).split(": ", 1)[1]


def lives(playback: SchedulePlayback) -> list[str]:
    return [
        "".join(LETTERS[event.kind] for event in playback.events if event.request == request.id)
        for request in playback.workload
    ]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
@pytest.mark.parametrize("policy", [*POLICIES, *RIGHT])
def test_right_schedulers_pass_however_they_are_written(scenario: Scenario, policy: Any) -> None:
    playback = play_schedule(scenario, policy)
    assert playback.broken is None
    assert all(LIFE.fullmatch(life) for life in lives(playback))
    assert playback.events[-1].free_blocks == scenario.num_blocks


@pytest.mark.parametrize("allocator", [Naive, Caching, lambda num_blocks, block_size: Naive(num_blocks, block_size)])
@pytest.mark.parametrize("policy", ["continuous", schedulers.Plain])
def test_a_right_allocator_of_one_s_own_changes_nothing(allocator: Any, policy: Any) -> None:
    for scenario in SCENARIOS:
        assert play_schedule(scenario, policy, allocator=allocator).noted == play_schedule(scenario, policy).noted


def test_what_is_played_is_what_is_simulated() -> None:
    scenario = SHORT_AND_LONG_ANSWERS
    policies = (ContinuousBatching(3), ChunkedPrefill(3, token_budget=16), ContinuousBatching(3, preemption="swap"))
    for policy in policies:
        for num_blocks in (4, 24):
            played = play_schedule(scenario, policy, num_blocks=num_blocks)
            run = simulate(scenario.workload, policy, num_blocks=num_blocks, block_size=16)
            assert list(played.events) == run.events
            assert len(played.steps) == run.summary.steps


BY_HAND = (
    "; a scheduler changes who waits, who runs and how far they are by engine.admit, prefill, decode and preempt alone."
)
WRONG = [
    (
        schedulers.NobodyRuns, 8, "idle", 1, 3,
        "nobody was given a token, so the engine would stand still; running: nobody; waiting: request 0, request 1, "
        "request 2. engine.admit() and engine.prefill(sequence, tokens) are due: there is room for the first that waits.",
    ),
    (schedulers.ServesTheFirst, 8, "starvation", 2, 9, "request 1 runs and decodes, and was given no token."),
    (schedulers.ForgetsItsLimit, 8, "max_num_seqs", 1, 6, "3 requests run, and max_num_seqs is 1."),
    (schedulers.ForgetsItsBudget, 8, "token_budget", 1, 6, "the step computes 12 tokens, and token_budget is 3."),
    (
        schedulers.LastComeFirst, 8, "first come, first served", 1, 4,
        "request 2 was admitted before request 0, which came earlier and still waits.",
    ),
    (
        schedulers.SendsTheFirstBack, 2, "victim", 2, 8,
        "request 0 was sent back, and request 1, which came later, runs on.",
    ),
    (schedulers.SendsBackWhoWaits, 8, "unknown", 1, 3, "request 0 was to be sent back, and does not run."),
    (
        schedulers.DecodesTwice, 8, "twice", 2, 9,
        "request 0 was to decode in a step in which it was scheduled already.",
    ),
    (schedulers.TooLongAChunk, 8, "chunk", 1, 3, "5 tokens of request 0's prompt were scheduled, and 4 are left."),
    (schedulers.DecodesTooEarly, 8, "chunk", 1, 3, "request 0 decodes, and has 0 of its prompt's 4 tokens yet."),
    (schedulers.NeverAsks, 2, "no room", 1, 5, "request 2 was admitted, and there is no room for its 4 tokens."),
    (schedulers.NeverAsks, 3, "no room", 2, 9, "request 0 decodes, and there is no block free for its next token."),
    (schedulers.MovesThemByHand, 8, "by hand", 1, 3, f"engine.waiting.popleft was called{BY_HAND}"),
    (schedulers.DropsThemByHand, 8, "by hand", 2, 9, f"engine.running.pop was called{BY_HAND}"),
    (schedulers.ForgetsWhoWaits, 8, "by hand", 1, 3, f"engine.waiting.pop was called{BY_HAND}"),
    (
        schedulers.StartsOver, 8, "endless", 21, 24,
        "21 steps were taken, one for each token of all prompts and answers, and 3 of the requests are not done: the "
        "schedule gets nowhere.",
    ),
    (schedulers.Unwritten, 8, "bug", 1, 3, "schedule is not written yet: exercise L4.9."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scheduler", "num_blocks", "rule", "step", "event", "sentence"),
    WRONG,
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_broken_rule_is_told_at_its_step_and_event(
    scheduler: Any, num_blocks: int, rule: str, step: int, event: int, sentence: str
) -> None:
    playback = of_three(scheduler, num_blocks)
    assert ended(playback) == (rule, step, event, sentence)
    assert len(playback.events) == event
    assert len(playback.steps) == (step if rule == "endless" else step - 1)
    assert playback.moments[-1].noted is None


def first_of(order: Any, *, passes_over: bool = False) -> type:
    """A scheduler that lets the first of this order in, and, where that has no room, perhaps one who has."""

    class Ordered(schedulers.Plain):
        def schedule(self, engine: Any) -> None:
            for sequence in list(engine.running):
                while sequence in engine.running and not engine.can_decode(sequence):
                    engine.preempt(engine.running[-1])
                if sequence in engine.running:
                    engine.decode(sequence)
            for sequence in sorted(engine.waiting, key=order):
                if engine.memory.blocks_for(sequence.left) <= engine.free_blocks:
                    engine.prefill(engine.admit(sequence), sequence.left)
                elif not passes_over:
                    break

    return Ordered


def by_place(sequence: Any) -> int:
    return int(sequence.place)


@pytest.mark.parametrize(
    "policy",
    [
        first_of(lambda one: one.request.prompt_tokens),
        first_of(lambda one: one.request.output_tokens),
        first_of(lambda one: one.request.tokens),
        first_of(lambda one: -one.request.prompt_tokens),
        first_of(lambda one: -one.place),
        first_of(by_place, passes_over=True),
    ],
    ids=["shortest prompt", "shortest answer", "shortest job", "longest prompt", "last come", "first that fits"],
)
def test_a_shipped_scenario_catches_whoever_does_not_let_the_first_in_first(policy: Any) -> None:
    assert ended(play_schedule(SHORT_BEHIND_LONG, policy))[0] == "first come, first served"


def test_in_order_of_arrival_the_same_scheduler_passes_all_scenarios() -> None:
    assert [play_schedule(scenario, first_of(by_place)).broken for scenario in SCENARIOS] == [None] * len(SCENARIOS)


def test_a_bug_is_told_with_the_learner_s_line() -> None:
    rule, step, event, sentence = ended(of_three(schedulers.HasABug))
    assert (rule, step, event) == ("bug", 2, 9)
    assert re.fullmatch(
        r"schedule stopped with a bug, IndexError: list index out of range, in schedule, line \d+: "
        r"engine.running\[7\].decodes \+= 1\.",
        sentence,
    )


class Later(Fir):
    async def send_back(self, engine: Any, sequence: Any) -> None:  # type: ignore[override]
        engine.preempt(sequence)


class LaterItself:
    async def schedule(self, engine: Any) -> None:
        engine.admit()


class Yields(Fir):
    def send_back(self, engine: Any, sequence: Any) -> Any:
        yield super().send_back(engine, sequence)


class YieldsItself:
    def schedule(self, engine: Any) -> Any:
        yield engine.admit()


class SeatsAsASet(Fir):
    def __init__(self) -> None:
        super().__init__()
        self.free_seats = set(self.free_seats)  # type: ignore[assignment]


@pytest.mark.parametrize(("kind", "name"), [(Yields, "send_back"), (YieldsItself, "schedule")])
def test_a_method_with_a_yield_is_told_before_the_first_step(kind: type, name: str) -> None:
    broken = play_schedule(FIR_DAY, kind).broken
    assert broken is not None
    assert (broken.name, broken.step) == ("bug", 0)
    assert f"{name} has a yield: a call of it only makes a generator, and not a line of it runs" in str(broken)


@pytest.mark.parametrize(("kind", "name"), [(Later, "send_back"), (LaterItself, "schedule")])
def test_a_method_that_is_an_async_def_is_told_before_the_first_step(kind: type, name: str) -> None:
    broken = play_schedule(FIR_DAY, kind).broken
    assert broken is not None
    assert (broken.name, broken.step) == ("bug", 0)
    assert f"{name} is an async def: a call of it only makes a coroutine" in str(broken)
    with pytest.raises(BrokenRuleError, match=f"{name} is an async def"):
        simulate(FIR_DAY.workload, kind, "llama-2-13b", "a100-80gb")


def test_a_set_of_seats_where_the_class_above_has_a_list_is_told_as_that() -> None:
    broken = play_schedule(FIR_DAY, SeatsAsASet).broken
    assert broken is not None
    assert "schedule stopped with a bug, TypeError: " in str(broken)
    assert "(free_seats is a set, which has no order: take by pop() and give back by add()" in str(broken)


def test_a_scheduler_that_would_end_the_program_is_told_as_a_bug() -> None:
    class Leaves:
        def schedule(self, engine: Any) -> None:
            raise SystemExit

    rule, step, _, sentence = ended(of_three(Leaves))
    assert (rule, step) == ("bug", 1)
    assert sentence.startswith("schedule stopped with a bug, SystemExit, in schedule, line")


def test_a_loop_that_does_not_end_is_told_with_the_learner_s_line() -> None:
    rule, step, event, sentence = ended(of_three(schedulers.WaitsForRoom, 2))
    assert (rule, step, event) == ("bug", 1, 5)
    assert "in one step it looked 4,000 times at who waits and who runs, and goes on, in schedule, line" in sentence


def test_a_scheduler_that_cannot_be_made_is_told_before_the_first_step() -> None:
    def mine() -> Any:
        return dict[str, Any]()["policy"]

    playback = play_schedule(policy=mine)
    assert not playback.events
    assert not playback.steps
    assert str(playback.broken).startswith(
        "Before step 1: mine() stopped with a bug, KeyError: 'policy', in mine, line"
    )
    assert len(playback.moments) == 2


class Leaks(Naive):
    def free(self, request: Any) -> None:
        del self.tables[request]


class Refuses(Naive):
    def can_append(self, request: Any) -> bool:
        return bool(self.free_blocks)


def test_an_allocator_that_is_wrong_ends_it_too() -> None:
    assert ended(play_schedule(allocator=Leaks)) == (
        "allocator", 2, 6, "after request 1 was freed, 0 blocks are free, and it should be 1."
    )  # fmt: skip
    assert ended(of_three("continuous", 4, allocator=Refuses)) == (
        "allocator", 3, 10, "can_append says False for the next token of request 0; 0 blocks are needed and 0 blocks are free."
    )  # fmt: skip


def test_a_scheduler_is_a_class_a_function_that_makes_one_or_an_object() -> None:
    made = [schedulers.Plain, schedulers.Plain(), lambda: schedulers.Plain()]
    one, *others = [play_schedule(policy=policy).noted for policy in made]
    assert all(other == one for other in others)


def test_the_second_request_is_sent_back_for_a_block_of_the_first() -> None:
    playback = play_schedule(TWO_AND_A_FULL_POOL)
    sent_back = [noted for noted in playback.noted if noted.event.kind == "preempt"]
    assert [(noted.event.request, noted.event.step, noted.reason) for noted in sent_back] == [
        (1, 2, "request 0 needs a block for its next token, and none is free")
    ]
    assert sent_back[0].target == 5  # its prompt, and the token that it was given


def test_reasons_name_who_is_in_need_or_that_nobody_is() -> None:
    class Eager(schedulers.Plain):
        def schedule(self, engine: Any) -> None:
            if engine.step == 2:
                engine.preempt(engine.running[-1])
            super().schedule(engine)

    class SelfSent(schedulers.Plain):
        def schedule(self, engine: Any) -> None:
            for sequence in list(engine.running):
                if engine.can_decode(sequence):
                    engine.decode(sequence)
                else:
                    engine.preempt(sequence)
            if not engine.running:
                super().schedule(engine)

    def reasons(policy: Any, num_blocks: int) -> list[str]:
        return [noted.reason for noted in of_three(policy, num_blocks).noted if noted.reason]

    assert reasons(Eager, 8) == ["though everyone that decodes has room for its next token"]
    assert reasons(SelfSent, 4)[-1] == "it needs a block for its next token, and none is free"


def test_a_whole_prompt_stalls_those_who_decode_and_chunks_stall_them_less() -> None:
    longest = {
        policy: max(step.seconds for step in play_schedule(LONG_PROMPT_ARRIVES, policy).steps if len(step.decodes) == 3)
        for policy in ("continuous", "chunked")
    }
    assert longest["continuous"] > 5 * longest["chunked"]


@pytest.mark.parametrize("policy", [*POLICIES, schedulers.Plain])
def test_a_scenario_may_be_given_in_narrow_numbers_of_numpy(policy: Any) -> None:
    small: Any = np.uint8
    narrow = Scenario("narrow", SHORT_AND_LONG_ANSWERS.workload, small(24), small(16), small(3), small(255))
    plain = Scenario("plain", SHORT_AND_LONG_ANSWERS.workload, 24, 16, 3, 255)
    assert play_schedule(narrow, policy).noted == play_schedule(plain, policy).noted
    assert play_schedule(plain, policy, num_blocks=small(24)).noted == play_schedule(plain, policy).noted


def test_a_static_batch_holds_rows_for_nobody_and_continuous_batching_fills_them() -> None:
    static, continuous = (play_schedule(SHORT_AND_LONG_ANSWERS, policy) for policy in ("static", "continuous"))
    assert sum(len(step.padding) for step in static.steps) > 0
    assert all(not step.padding for step in continuous.steps)
    assert len(static.steps) > len(continuous.steps)
    assert not static.memory.is_paged


def test_a_request_of_many_tokens_that_is_rejected_takes_no_time() -> None:
    playback = play_schedule([Request(0, 0, 4, 10**9), Request(1, 0, 4, 2)], num_blocks=10**6, block_size=4)
    assert lives(playback) == ["x", "aptf"]


def test_steps_follow_one_another_and_count_what_was_scheduled() -> None:
    playback = play_schedule(LONG_PROMPT_ARRIVES, "chunked")
    assert [step.number for step in playback.steps] == list(range(1, len(playback.steps) + 1))
    for request in playback.workload:
        given = sum(request.id in step.decodes for step in playback.steps)
        computed = sum(tokens for step in playback.steps for id, tokens in step.prefills if id == request.id)
        assert (given, computed) == (request.output_tokens - 1, request.prompt_tokens)
    for earlier, later in zip(playback.steps, playback.steps[1:], strict=False):
        assert earlier.end_s <= later.start_s < later.end_s


def test_moments_are_the_start_every_event_and_the_broken_rule() -> None:
    whole, broken = of_three("continuous"), of_three(schedulers.ServesTheFirst)
    assert [moment.events for moment in whole.moments] == list(range(len(whole.events) + 1))
    assert [moment.noted and moment.noted.event for moment in whole.moments[1:]] == list(whole.events)
    last = broken.moments[-1]
    assert (last.step, last.events, last.noted) == (2, 9, None)
    assert len(broken.moments) == len(broken.events) + 2


@pytest.mark.parametrize(
    ("play", "error", "words"),
    [
        (lambda: play_schedule(THREE), TypeError, "num_blocks and block_size are needed to play a workload"),
        (lambda: play_schedule(policy="mine"), TypeError, "policy is 'static', 'dynamic', 'continuous' or 'chunked', or an"),
        (lambda: play_schedule(policy=lambda: 7), TypeError, "or a class or a function that makes one, but got 7 from"),
        (lambda: play_schedule(num_blocks=10**9), ValueError, "a pool that is played has 1,000,000 at most; simulate takes more"),
        (
            lambda: play_schedule([Request(0, 0, 4, 10**9)], num_blocks=10**6, block_size=10**6), ValueError,
            "have 1,000,000,004 tokens together, and a workload that is played step by step has 200,000 at most",
        ),
        (lambda: play_schedule(num_blocks=0), ValueError, "num_blocks is the number of blocks in the pool"),
        (lambda: play_schedule(blocks=7), TypeError, "play_schedule has no setting 'blocks'"),
        (lambda: play_schedule(token_budget=7), TypeError, "token_budget is a setting of the policy: play_schedule(workload, "),
        (lambda: play_schedule(allocator=7), TypeError, "allocator is a class"),
        (lambda: play_schedule([Request(0, 0, 1, 1)] * 2, num_blocks=2, block_size=2), ValueError, "have the id 0"),
        (lambda: play_schedule(Workload([], "none"), num_blocks=2, block_size=2), ValueError, "has no request: there is nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_refused_in_a_sentence(play: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        play()
