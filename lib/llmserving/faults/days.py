"""What each of the broken five is asked in its trace: four scripts for the allocators, and requests for the scheduler.

A day may begin earlier: `ash_day(3)` has three events before those of `ash_day()`, in which a request comes, and goes again
before any other is there. What is broken does not show in them, and they move the events after them to later numbers.
"""

from __future__ import annotations

from llmserving import arguments
from llmserving.paging.operation import Operation, allocate, append, append_each, fork, free
from llmserving.paging.script import Script
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import Scenario

LONGEST_BEFORE = 8
_OPENS_S = 0.15  # when the others come to a scheduler whose day begins earlier


def _checked(before: int) -> int:
    meaning = "the number of events before the day's own"
    count = arguments.count("before", meaning, before, at_least=0, most=LONGEST_BEFORE)
    if count == 1:
        raise ValueError(f"before is {meaning}, none or at least 2, since who comes also goes, but got 1")
    return count


def _script(title: str, num_blocks: int, before: int, *parts: object) -> Script:
    return Script(title, (*_come_and_gone(_checked(before)), *parts), num_blocks, 4)  # type: ignore[arg-type]  # or groups


def _come_and_gone(before: int) -> list[Operation]:
    """So many operations, of one request or of two one after the other, each within one block of four tokens."""
    late = before // 2 if before > 4 else 0
    return [
        operation
        for name, events in (("y", before - late), ("z", late))
        if events
        for operation in (allocate(name, (90, 91)), *(append(name, 92 + n) for n in range(events - 2)), free(name))
    ]


def ash_day(before: int = 0) -> Script:
    return _script(
        "Ash's day", 8, before,
        allocate("a", range(6)), allocate("b", range(20, 23)), append("a", 6), fork("a", "c"), append("c", 30), append("a", 7),
        free("b"), append("c", 31), free("c"), append("a", 8), free("a"), allocate("d", range(40, 52)),
        allocate("e", range(60, 76)), append("d", 52),
    )  # fmt: skip


def birch_day(before: int = 0) -> Script:
    return _script(
        "Birch's day", 7, before,
        allocate("a", range(6)), append("a", 6), allocate("b", range(20, 30)), append("b", 30), append("a", 7), append("b", 31),
        append("a", 8), append("a", 9), append("b", 32), free("a"), append("b", 33), free("b"),
    )  # fmt: skip


def cedar_day(before: int = 0) -> Script:
    return _script(
        "Cedar's day", 8, before,
        allocate("a", range(8)), fork("a", "b"), append("b", 20), append("a", 8), append("a", 9), fork("a", "c"), fork("b", "d"),
        free("b"), append("c", 30), append("a", 10), append_each("c", (31, 32)), free("a"), append("d", 50), free("c"), free("d"),
    )  # fmt: skip


def elm_day(before: int = 0) -> Script:
    return _script(
        "Elm's day", 9, before,
        allocate("a", range(10)), append("a", 10), allocate("b", [*range(8), 20, 21, 22]), free("a"),
        allocate("c", [*range(4), *range(30, 35)]), append("b", 23), free("b"), allocate("d", range(8)), append("d", 8),
        free("c"), allocate("e", range(11)), free("d"), free("e"),
    )  # fmt: skip


def fir_day(before: int = 0) -> Scenario:
    """before: the steps of a request that has all seats and blocks to itself."""
    title, steps = "Fir's day", _checked(before)
    opens_s = _OPENS_S if steps else 0.0
    came = [(opens_s, 5, 3), (opens_s, 3, 3), (opens_s, 6, 5), (opens_s, 4, 6), (opens_s + 0.02, 6, 7)]
    requests = [Request(number, *each) for number, each in enumerate(came)]
    alone = [Request(len(came), 0, 3, steps)] if steps else []
    return Scenario(title, Workload([*alone, *requests], title), num_blocks=4, block_size=4)


ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY = ash_day(), birch_day(), cedar_day(), elm_day(), fir_day()
