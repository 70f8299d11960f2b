"""The lab of level 5: five classes that are broken on purpose, each found from its trace, named, and mended."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part, Player, Probe
from llmserving.faults.days import ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY, LONGEST_BEFORE
from llmserving.paging.operation import allocate, append, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import (
    BLOCK_BY_BLOCK,
    FORK_AND_COPY,
    FORK_AT_A_BOUNDARY,
    FULL_POOL,
    HIT_ON_FREE_BLOCKS,
    SHARED_PREFIX,
    Script,
)
from llmserving.scheduling.plain_scenario import plain_scenario
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import TWO_AND_A_FULL_POOL, Scenario

ITS_DAY, OTHERS = "its day", "other days"

FAULTS = (
    Option("boundary", "off by one: at the end of a block, the next one comes a token early or late"),
    Option("double_free", "double free: what two requests hold is given back by each of them, and so twice"),
    Option("full_hit", "nothing left: all of a prompt is found in a cache, and no token is computed"),
    Option("half_refusal", "half a refusal: a call that is refused keeps what it had already taken"),
    Option("leak", "leak on preemption: what a request held when it was sent back is nobody's from then on"),
    Option("missing_copy", "missing copy: a block that is in two tables is written in place"),
    Option("stale_table", "stale table: a table still names a block that its request no longer writes"),
)

_FAULT_HINT = (
    "For each event work out from the call alone what should have happened. The first row that differs is the one.",
    "Every column has to be somebody's or free, never both and never neither. And every table has as many blocks as its "
    "tokens need.",
)
_EVENT_HINT = (
    "The damage often shows late. Go back from there to the first row that breaks a rule.",
    "A row that looks odd may be right: a copy takes a block, and what is shared is held by several. Name the rule that "
    "the row breaks before you settle on it.",
)
_OWN_PAGING = ("PagedAllocator", "BlockPool", "BlockTable", "FreeQueue")
_OWN_SCHEDULING = ("ContinuousBatching", "ChunkedPrefill", "StaticBatching")

# Prompts that end one token before, at and after the end of a block that is cached, while another holds it and after.
_AROUND_A_BLOCK = Script(
    "Prompts around the end of a block",
    (
        allocate("a", range(12)), allocate("b", range(9)), allocate("c", range(7)), allocate("d", range(12)), free("a"),
        append("d", 12), free("b"), allocate("e", range(4)), free("d"), allocate("f", range(8)), append("f", 8),
        free("c"), free("e"), free("f"),
    ),
    num_blocks=12,
    block_size=4,
)  # fmt: skip


_CROWD = "A crowd in a small pool"
_CAME = ((0, 6, 6), (0, 8, 5), (0, 4, 5), (0.02, 3, 9), (0.02, 7, 8), (0.02, 6, 8), (0.04, 4, 3))
_A_CROWD = Scenario(
    _CROWD, Workload((Request(number, *came) for number, came in enumerate(_CAME)), _CROWD), num_blocks=5, block_size=4
)

_SHORT = "Short requests and a large pool"
_SHORT_ONES = Scenario(
    _SHORT, Workload((Request(number, 0, 3, 4) for number in range(7)), _SHORT), num_blocks=30, block_size=4
)


def _exercise(
    number: int,
    name: str,
    asked: Mapping[str, Any],
    others: tuple[Mapping[str, Any], ...],
    player: Player,
    arguments: str,
    hints: tuple[str, ...],
    *,
    difficulty: int,
) -> Exercise:
    """`name` of the class that is broken, what its day asks of it, and what else a mended one is tried on."""
    exercise_id = f"LAB5B.{number}"
    return Exercise(
        id=exercise_id,
        title=f"What is wrong with {name}?",
        notebook="L5/lab_faults",
        statement=(
            f"One method of `{name}` is broken. Name the fault, and the event that shows it first: the first row of the trace "
            f"that breaks a rule. Then mend it: `Mended{name}` inherits from `{name}` and rewrites one method."
        ),
        parts=(
            Part(
                "fault",
                f"LAB5B_{number}_fault",
                "choice",
                "which fault it is, one letter",
                _FAULT_HINT,
                options=FAULTS,
            ),
            Part(
                "event",
                f"LAB5B_{number}_event",
                "value",
                "the number of the first event that shows it",
                _EVENT_HINT,
                quantity="integer",
            ),
            Part(
                "mended",
                f"Mended{name}",
                "object",
                f"a class with `{name}` as its base; it is played through {name}'s day, and through others",
                hints,
                points=2,
                stub=(
                    f"from llmserving.faults import {name}\n\n\n"
                    f"class Mended{name}({name}):\n"
                    f"    def __init__(self{arguments}):\n"
                    f'        raise NotImplementedError("{exercise_id}: in place of this method, write the one that you mend")'
                ),
                # The others first: what is broken there is named, and does not tell which event of its day was asked for.
                probes=(*(Probe(OTHERS, other) for other in others), Probe(ITS_DAY, asked)),
                own_work=_OWN_PAGING if player == "allocator" else _OWN_SCHEDULING,
                player=player,
            ),
        ),
        draw=Draw(exercise_id, {"before": 0}, _draw),
        difficulty=difficulty,
        minutes=10,
        importance=4,
        version=2,
    )


def _draw(rng: random.Random) -> Numbers:
    """How many events come before those of the day; the cells that show it are rendered with the same number."""
    return {"before": rng.randrange(2, LONGEST_BEFORE + 1)}


def _allocator(
    number: int, name: str, day: Script, others: tuple[Script, ...], hints: tuple[str, ...], *, difficulty: int
) -> Exercise:
    scripts = tuple(map(plain_script, others))
    blocks = ", num_blocks, block_size"
    return _exercise(number, name, plain_script(day), scripts, "allocator", blocks, hints, difficulty=difficulty)


LAB5B_1 = _allocator(
    1,
    "Ash",
    ASH_DAY,
    (FORK_AND_COPY, FORK_AT_A_BOUNDARY, FULL_POOL),
    (
        "Read the source below the trace beside the row that you named: which method was called there?",
        "Two requests hold a block, and one of them ends. Ask what has to be known before the block may go back.",
        "`play(ash_day(), MendedAsh).broken`, from `llmserving.paging`, names what is broken still.",
    ),
    difficulty=3,
)
LAB5B_2 = _allocator(
    2,
    "Birch",
    BIRCH_DAY,
    (BLOCK_BY_BLOCK, FULL_POOL),
    (
        "Read the source below the trace beside the row that you named: which method was called there?",
        "A length can be counted before the new token or after it. Which of the two does this line assume, and which is it "
        "given?",
        "A refused call changes nothing: whatever can fail comes before whatever is written down.",
    ),
    difficulty=3,
)
LAB5B_3 = _allocator(
    3,
    "Cedar",
    CEDAR_DAY,
    (FORK_AND_COPY, FORK_AT_A_BOUNDARY),
    (
        "Cedar keeps each list twice, once to work in and once to be read. Which of the two does `table` give?",
        "Go through the ways that a call can take through the method, and ask of each whether both lists agree at its end.",
        "`play(cedar_day(), MendedCedar).broken`, from `llmserving.paging`, names what is broken still.",
    ),
    difficulty=4,
)
LAB5B_4 = _allocator(
    4,
    "Elm",
    ELM_DAY,
    (SHARED_PREFIX, HIT_ON_FREE_BLOCKS, _AROUND_A_BLOCK),
    (
        "A prompt is computed for the sake of its last token, out of which the first new one comes.",
        "What is found is shared, and what is shared is not written. So ask which blocks may be found, not only what number is "
        "returned.",
        "A similar case: of a prompt of 16 tokens in blocks of 8, at most the first block may be found; of 17, both full ones.",
    ),
    difficulty=4,
)
LAB5B_5 = _exercise(
    5,
    "Fir",
    plain_scenario(FIR_DAY),
    (plain_scenario(_A_CROWD), plain_scenario(_SHORT_ONES), plain_scenario(TWO_AND_A_FULL_POOL)),
    "scheduler",
    "",
    (
        "A request can stop running in two ways. Follow its seats in the source for each of them.",
        "A seat that is given up has to be in the free list again, and in it once.",
        "`play_schedule(fir_day(), MendedFir).broken`, from `llmserving.scheduling`, names what is broken still.",
    ),
    difficulty=4,
)

EXERCISES_HERE = (LAB5B_1, LAB5B_2, LAB5B_3, LAB5B_4, LAB5B_5)
