"""What the tests of the scheduler share: short workloads, a policy that is watched, and what every log must keep to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from llmserving.events import Event
from llmserving.scheduling import Engine, Request, Workload

LETTERS = {
    "arrive": "a", "reject": "x", "prefill": "p", "first token": "t", "preempt": "b",
    "recomputed": "c", "resume": "r", "finish": "f",
}  # fmt: skip
# One request's life: its prompt may be begun again; after its first token its cache is computed again or swapped back in.
LIFE = re.compile("x|a(p+b)*p+t(b(r|(p+b)*p+c))*f")


def workload(*rows: tuple[float, int, int]) -> Workload:
    """Requests 0, 1, ... from (arrival_s, prompt_tokens, output_tokens)."""
    return Workload((Request(id, *row) for id, row in enumerate(rows)), "by hand")


class Moved(NamedTuple):
    """One step of a watched policy, by the ids of its requests."""

    decodes: list[int]
    prefills: dict[int, int]
    preempted: list[int]
    waiting: list[int]
    free_blocks: int

    @property
    def tokens(self) -> int:
        return len(self.decodes) + sum(self.prefills.values())


class Watched:
    """A policy that does what another does, and notes it; the plain engine runs it."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.steps = policy, list[Moved]()
        for name in ("max_num_seqs", "token_budget", "preemption"):
            if hasattr(policy, name):
                setattr(self, name, getattr(policy, name))

    def schedule(self, engine: Engine) -> None:
        self.policy.schedule(engine)
        made = engine.moves
        self.steps.append(
            Moved(
                [one.request.id for one in made.decodes],
                {one.request.id: tokens for one, tokens in made.prefills.items()},
                [one.request.id for one in made.preempted],
                [one.request.id for one in engine.waiting],
                engine.free_blocks,
            )
        )


def told(events: Iterable[Event], request: int | None = None) -> list[str]:
    """The events in short, such as "prefill 0", of all requests or of one."""
    return [f"{event.kind} {event.request}" for event in events if request in (None, event.request)]


def check_log(events: list[Event], requests: Workload, num_blocks: int) -> None:
    """AssertionError where a log is not that of a first come, first served schedule of these requests that ended."""
    order = [request.id for request in requests]
    place = {id: number for number, id in enumerate(order)}
    times = [event.time_s for event in events]
    assert times == sorted(times), "time falls"
    steps = [event.step for event in events]
    assert steps == sorted(steps), "steps fall"
    for id in order:
        life = "".join(LETTERS[event.kind] for event in events if event.request == id)
        assert LIFE.fullmatch(life), f"request {id} lives {life}"
    assert all(0 <= event.free_blocks <= num_blocks for event in events), "free blocks beyond the pool"
    assert not events or events[-1].free_blocks == num_blocks, "blocks are lost"
    begun = list(dict.fromkeys(place[event.request] for event in events if event.kind == "prefill"))  # type: ignore[index]
    assert begun == sorted(begun), "overtaken"
    running: set[int] = set()
    for event in events:
        number = place[event.request]  # type: ignore[index]
        if event.kind in ("prefill", "resume"):
            running.add(number)
        elif event.kind == "preempt":
            assert min(running) < number == max(running), "the latest is sent back, and never the only one"
        if event.kind in ("preempt", "finish"):
            running.discard(number)
