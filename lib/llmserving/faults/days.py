"""What each of the broken five is asked in its trace: four scripts for the allocators, and requests for the scheduler."""

from __future__ import annotations

from llmserving.paging.operation import allocate, append, append_each, fork, free
from llmserving.paging.script import Script
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import Scenario


def _script(title: str, num_blocks: int, *parts: object) -> Script:
    return Script(title, parts, num_blocks, 4)  # type: ignore[arg-type]  # which takes groups of operations too


ASH_DAY = _script(
    "Ash's day", 8,
    allocate("a", range(6)), allocate("b", range(20, 23)), append("a", 6), fork("a", "c"), append("c", 30), append("a", 7),
    free("b"), append("c", 31), free("c"), append("a", 8), free("a"), allocate("d", range(40, 52)),
    allocate("e", range(60, 76)), append("d", 52),
)  # fmt: skip
BIRCH_DAY = _script(
    "Birch's day", 7,
    allocate("a", range(6)), append("a", 6), allocate("b", range(20, 30)), append("b", 30), append("a", 7), append("b", 31),
    append("a", 8), append("a", 9), append("b", 32), free("a"), append("b", 33), free("b"),
)  # fmt: skip
CEDAR_DAY = _script(
    "Cedar's day", 8,
    allocate("a", range(8)), fork("a", "b"), append("b", 20), append("a", 8), append("a", 9), fork("a", "c"), fork("b", "d"),
    free("b"), append("c", 30), append("a", 10), append_each("c", (31, 32)), free("a"), append("d", 50), free("c"), free("d"),
)  # fmt: skip
ELM_DAY = _script(
    "Elm's day", 9,
    allocate("a", range(10)), append("a", 10), allocate("b", [*range(8), 20, 21, 22]), free("a"),
    allocate("c", [*range(4), *range(30, 35)]), append("b", 23), free("b"), allocate("d", range(8)), append("d", 8),
    free("c"), allocate("e", range(11)), free("d"), free("e"),
)  # fmt: skip

_FIR = "Fir's day"
FIR_DAY = Scenario(
    _FIR,
    Workload(
        (
            Request(number, arrival_s, prompt, answer)
            for number, (arrival_s, prompt, answer) in enumerate(
                [(0, 5, 3), (0, 3, 3), (0, 6, 5), (0, 4, 6), (0.02, 6, 7)]
            )
        ),
        _FIR,
    ),
    num_blocks=4,
    block_size=4,
)
