"""Run a workload through a policy, on a model and a GPU: what happened, and what it comes to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from llmserving.events import Event
from llmserving.hardware import Gpu
from llmserving.models import ModelSpec
from llmserving.paging.learners_code import LearnersBug
from llmserving.planner import plan
from llmserving.scheduling.engine import Engine
from llmserving.scheduling.fast import FastEngine
from llmserving.scheduling.fast_static import FastStaticEngine
from llmserving.scheduling.memory import KvMemory, MemoryKind
from llmserving.scheduling.policies import POLICIES, ChunkedPrefill, ContinuousBatching
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.policy_checks import checked_policy
from llmserving.scheduling.progress import requests_bar
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.rules import BrokenRuleError
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching
from llmserving.scheduling.step_clock import StepClock
from llmserving.scheduling.summary import Summary, summarize


class Simulation(NamedTuple):
    """`events, summary = simulate(...)`."""

    events: list[Event]
    summary: Summary


def simulate(
    workload: Workload | Iterable[Request],
    policy: Policy | Callable[[], Policy] | str = "continuous",
    model: ModelSpec | str = "llama-2-13b",
    gpu: Gpu | str = "a100-80gb",
    *,
    block_size: Any = 16,
    num_blocks: Any = None,
    memory: MemoryKind | None = None,
    max_len: Any = None,
    gpu_memory_utilization: Any = 0.9,
    allocator: Any = None,
    step_by_step: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Simulation:
    """Serve every request of a workload.

    policy: "static", "dynamic", "continuous" or "chunked", one of those classes with settings of its own, or a scheduler (see
    `Policy`): an object with `schedule(engine)`, or a class or a function of no arguments that makes one. num_blocks: of
    the KV cache; by default what `plan` leaves on the GPU for it. memory: "paged", or "contiguous" with `max_len` tokens
    reserved for each request, by default the most that one of them has; a static batch always reserves. allocator: one of
    one's own, a class, a function of (num_blocks, block_size) or an object. settings: those of `StepClock`, such as
    weight_dtype, kv_dtype, tensor_parallel.

    A request that can never fit is rejected. step_by_step runs the plain `Engine`, which takes time for every token; so
    does a policy or an allocator of one's own, whose broken rules raise BrokenRuleError. A model with windows is given
    blocks as if all its layers looked at everything.
    """
    workload = workload if isinstance(workload, Workload) else Workload(workload, "workload")
    check_ids(workload)
    policy = _made(policy)
    static = isinstance(policy, StaticBatching)
    if static and memory == "paged":
        raise ValueError("memory is 'contiguous' for static batching, which knows nothing of blocks, but got 'paged'")
    kind: MemoryKind = memory if memory is not None else "contiguous" if static else "paged"
    if max_len is not None and kind == "paged":
        raise ValueError("max_len has no meaning where memory is 'paged', which reserves nothing; leave it out")
    clock = StepClock(model, gpu, **known_settings(settings))
    if num_blocks is None:
        num_blocks = _planned_blocks(clock, gpu, block_size, gpu_memory_utilization, policy)
    longest = max((request.tokens for request in workload), default=1)
    kv_memory = KvMemory(num_blocks, block_size, kind, longest if max_len is None else max_len)
    engine = _engine(workload, policy, kv_memory, clock, allocator, step_by_step=step_by_step)
    with requests_bar(len(workload), shown=progress) as ended:
        engine.run(ended)
    events = list(engine.events)
    return Simulation(events, summarize(workload, events, engine.tally, kv_memory, clock))


def _made(policy: Any) -> Policy:
    try:
        return checked_policy(policy)
    except LearnersBug as told:
        raise BrokenRuleError("bug", str(told), 0, 0) from None


def _engine(
    workload: Workload, policy: Policy, memory: KvMemory, clock: StepClock, allocator: Any, *, step_by_step: bool
) -> Engine | FastEngine | FastStaticEngine:
    if allocator is None and not step_by_step:  # a subclass may schedule in another way
        if isinstance(policy, StaticBatching) and type(policy) in (StaticBatching, DynamicBatching):
            return FastStaticEngine(workload, policy, memory, clock)
        if isinstance(policy, ContinuousBatching) and type(policy) in (ContinuousBatching, ChunkedPrefill):
            return FastEngine(workload, policy, memory, clock)
    return Engine(workload, policy, memory, clock, allocator)


def check_ids(workload: Workload) -> None:
    """ValueError where two requests have the same id."""
    seen: set[Hashable] = set()
    for request in workload:
        if request.id in seen:
            raise ValueError(f"two requests of the workload have the id {request.id}; each needs one of its own")
        seen.add(request.id)


def known_settings(settings: dict[str, Any], caller: str = "simulate") -> dict[str, Any]:
    """The settings of a StepClock; TypeError where one is none."""
    known = list(inspect.signature(StepClock).parameters)[2:]
    for name in settings:
        owner = next((policy for policy in POLICIES.values() if name in inspect.signature(policy).parameters), None)
        if owner is not None:
            raise TypeError(f"{name} is a setting of the policy: {caller}(workload, {owner.__name__}({name}=...))")
        if name not in known:
            raise TypeError(f"{caller} has no setting {name!r}; those of a step are {', '.join(known)}")
    return settings


def _planned_blocks(clock: StepClock, gpu: Any, block_size: Any, utilization: Any, policy: Any) -> int:
    """What the planner leaves for the KV cache, counted in blocks of tokens."""
    made = plan(
        clock.model,
        gpu,
        clock.weight_dtype,
        clock.kv_dtype,
        context=1,
        requests=1,
        tensor_parallel=clock.ranks,
        gpu_memory_utilization=utilization,
        block_size=block_size,
        max_num_seqs=getattr(policy, "max_num_seqs", 256),
    )
    blocks = (made.kv_tokens or 0) // made.pool.layout.block_size if made.pool else 0
    if blocks < 1:
        raise ValueError(f"{made.title}: no room is left for a KV cache\n{made.explain()}")
    return blocks
