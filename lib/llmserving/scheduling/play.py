"""Play a workload on a scheduler, whoever wrote it, and see what happens: events, steps, the first broken rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving.hardware import Gpu
from llmserving.models import ModelSpec
from llmserving.paging.learners_code import LearnersBug
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.observed import ObservedEngine
from llmserving.scheduling.playback import SchedulePlayback
from llmserving.scheduling.policies import POLICIES, ChunkedPrefill, ContinuousBatching
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.policy_checks import checked_policy
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.rules import BrokenRuleError
from llmserving.scheduling.scenarios import TWO_AND_A_FULL_POOL, Scenario
from llmserving.scheduling.simulate import check_ids, known_settings
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching
from llmserving.scheduling.step_clock import StepClock

MOST_PLAYED_TOKENS, MOST_PLAYED_BLOCKS = 200_000, 10**6  # some seconds


def play_schedule(
    workload: Scenario | Workload | Iterable[Request] = TWO_AND_A_FULL_POOL,
    policy: Any = "continuous",
    model: ModelSpec | str = "llama-2-13b",
    gpu: Gpu | str = "a100-80gb",
    *,
    num_blocks: Any = None,
    block_size: Any = None,
    allocator: Any = None,
    **settings: Any,
) -> SchedulePlayback:
    """Serve a small workload step by step, from a KV cache of `num_blocks` blocks of `block_size` tokens.

    policy: "static", "dynamic", "continuous" or "chunked", with the limits of the scenario, or a scheduler (see `Policy`):
    a class or a function, called without arguments, or an object with `schedule(engine)`. allocator: the learner's own, a
    class or a function of (num_blocks, block_size) or a fresh object, by default the course's. num_blocks and block_size
    are by default those of the scenario. settings: those of `StepClock`. A static batch reserves memory for the longest
    request, as in `simulate`.

    The playback ends at the first broken rule; a bug in the code that is played, and a loop that does not end, are told
    as one. Only a loop that never looks at the engine goes on until it is interrupted.
    """
    scenario = _scenario(workload, num_blocks, block_size)
    clock = StepClock(model, gpu, **known_settings(settings, "play_schedule"))
    requests = scenario.workload
    memory = KvMemory(scenario.num_blocks, scenario.block_size, "paged", max(one.tokens for one in requests))
    engine = made = None
    broken: BrokenRuleError | None = None
    try:
        made = _made(policy, scenario)
        if isinstance(made, StaticBatching):
            memory = KvMemory(memory.num_blocks, memory.block_size, "contiguous", memory.max_len)
        _check_size(requests, memory)
        engine = ObservedEngine(requests, made, memory, clock, allocator)
        engine.run(lambda _: None)
    except LearnersBug as told:
        broken = BrokenRuleError("bug", str(told), 0, 0)
    except BrokenRuleError as error:
        broken = error
    notes, steps = (engine.notes, engine.steps) if engine is not None else ([], [])
    swaps = getattr(made, "preemption", "recompute") == "swap"
    return SchedulePlayback(requests, memory, tuple(notes), tuple(steps), broken, swaps)


def _scenario(workload: Any, num_blocks: Any, block_size: Any) -> Scenario:
    if isinstance(workload, Scenario):
        check_ids(workload.workload)
        return Scenario(
            workload.title,
            workload.workload,
            workload.num_blocks if num_blocks is None else num_blocks,
            workload.block_size if block_size is None else block_size,
            workload.max_num_seqs,
            workload.token_budget,
        )
    if num_blocks is None or block_size is None:
        raise TypeError("num_blocks and block_size are needed to play a workload; a Scenario has its own")
    requests = workload if isinstance(workload, Workload) else Workload(workload, "workload")
    check_ids(requests)
    return Scenario(requests.name, requests, num_blocks, block_size)


def _made(policy: Any, scenario: Scenario) -> Policy:
    """The course's policy with the scenario's limits, or the learner's, made if need be."""
    rows = scenario.max_num_seqs
    if isinstance(policy, str) and policy in POLICIES:
        kind = POLICIES[policy]
        if kind in (StaticBatching, DynamicBatching):
            return kind(rows)
        return (
            ContinuousBatching(rows)
            if kind is ContinuousBatching
            else ChunkedPrefill(rows, token_budget=scenario.token_budget)
        )
    return checked_policy(policy)


def _check_size(requests: Workload, memory: KvMemory) -> None:
    """Every token of a workload that is played takes time, and every block that an allocator of the learner's may list."""
    if memory.num_blocks > MOST_PLAYED_BLOCKS:
        raise ValueError(
            f"num_blocks is {memory.num_blocks:,}, and a pool that is played has {MOST_PLAYED_BLOCKS:,} at most; simulate "
            "takes more"
        )
    tokens = sum(request.tokens for request in requests if memory.can_ever_hold(request))
    if tokens > MOST_PLAYED_TOKENS:
        raise ValueError(
            f"the prompts and answers of {requests.name!r} have {tokens:,} tokens together, and a workload that is played "
            f"step by step has {MOST_PLAYED_TOKENS:,} at most; simulate takes more"
        )
