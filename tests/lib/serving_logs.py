"""Logs to read and to draw: an allocator that is stepped through, a schedule written by hand, and simulated ones."""

from __future__ import annotations

from functools import cache
from typing import Any

from llmserving.events import Event
from llmserving.paging import PagedAllocator
from llmserving.scheduling.policies import ContinuousBatching
from llmserving.scheduling.simulate import simulate
from llmserving.scheduling.workload import synthetic_workload


class Script:
    """Operations one by one on an allocator, whose log then has the free list, and a write for each appended token."""

    def __init__(self, num_blocks: int, block_size: int, prefix_caching: bool = False) -> None:
        self.log: list[Event] = []
        self._fresh: list[Event] = []
        self.allocator = PagedAllocator(num_blocks, block_size, prefix_caching, log=self._fresh)

    def run(self, operation: str, *arguments: Any) -> None:
        self._fresh.clear()
        done = getattr(self.allocator, operation)(*arguments)
        free = tuple(self.allocator.free_blocks)
        if operation == "append":
            name = arguments[0]
            tokens = self.allocator.num_tokens(name)
            self._fresh.append(Event("write", name, tokens=tokens, free_blocks=len(free), blocks=(done.block,)))
        self.log += [event._replace(free_list=free) for event in self._fresh]


def fork_and_copy() -> list[Event]:
    """Eight blocks of four tokens: a fork, a copy-on-write at event 5, and a prefix found at event 8."""
    script = Script(8, 4, prefix_caching=True)
    script.run("allocate", "a", list(range(9)))
    script.run("fork", "a", "b")
    script.run("append", "b", 7)
    script.run("free", "a")
    script.run("allocate", "c", list(range(9)))
    return script.log


# Two requests of which the later one is preempted after its first token and computed again, and one that cannot fit.
SCHEDULE = [
    Event("arrive", 0, 0.0, 0, 0, 8),
    Event("arrive", 1, 0.5, 1, 0, 8),
    Event("prefill", 0, 1.0, 1, 100, 6),
    Event("first token", 0, 2.0, 1, 100, 6),
    Event("prefill", 1, 2.0, 2, 50, 4),
    Event("first token", 1, 3.0, 2, 50, 3),
    Event("preempt", 1, 4.0, 3, 0, 6),
    Event("prefill", 1, 5.0, 4, 40, 4),
    Event("reject", 2, 5.5, 4, 0, 4),
    Event("prefill", 1, 6.0, 5, 51, 4),
    Event("recomputed", 1, 7.0, 5, 51, 4),
    Event("finish", 0, 8.0, 7, 110, 7),
    Event("finish", 1, 9.0, 8, 60, 8),
]


@cache
def scheduled(policy: str, requests: int = 40, num_blocks: int = 500) -> list[Event]:
    """A simulated log; `policy` may also be "swap". What a test reads, it must not change."""
    made = ContinuousBatching(preemption="swap") if policy == "swap" else policy
    return simulate(synthetic_workload(requests, 4.0), made, num_blocks=num_blocks).events
