"""Key of the fault lab, finding: which fault each class has, and the event that shows it first."""

from __future__ import annotations

from collections.abc import Mapping

from llmserving.faults import (
    ASH_DAY,
    BIRCH_DAY,
    CEDAR_DAY,
    ELM_DAY,
    FIR_DAY,
    Ash,
    Birch,
    Cedar,
    Elm,
    Fir,
    Row,
    Trace,
    trace,
)

from grader.answer_key.key import EXACT, ChoiceKey, Misconception, Trap, ValueKey

_FAR = 1_000_000  # past the end of any trace
_RULES, _NAMES = "What has to hold", "Seven faults and their signs"

# Option -> what would be seen if it were that, and what is seen instead, where no class says otherwise below.
_SIGNS: Mapping[str, tuple[str, str]] = {
    "boundary": (
        "boundary_suspected",
        "Off by one at the end of a block, a table has a block more or fewer than its tokens need. Divide: here none has.",
    ),
    "double_free": (
        "double_free_suspected",
        "What is given back by each of two holders is in the free list while somebody has it, and then in it twice. Look for "
        "a cell with a name and a circle: there is none here.",
    ),
    "full_hit": (
        "full_hit_suspected",
        "That takes a prefix cache, which tells how many tokens it found. Here nothing is looked up, and all is computed.",
    ),
    "half_refusal": (
        "refusal_suspected",
        "Half a refusal shows right after a call that was refused: fewer places are free. Here nothing is refused.",
    ),
    "leak": (
        "preemption_suspected",
        "Who is sent back gives up what it holds and waits for another turn. In this trace nobody is sent back.",
    ),
    "missing_copy": (
        "missing_copy_suspected",
        "Without the copy, whoever writes into a block that two hold takes none from the free list. Look at the free list: one "
        "is taken there.",
    ),
    "stale_table": (
        "stale_table_suspected",
        "A table that lags behind leaves the block that is really written in no table, and not free. Here no column is empty "
        "but for its circle.",
    ),
}
_NOT_SHARED = "A copy is due where a block that is about to be written is in two tables. Here no partial block ever is."


def _fault(right: str, instead: Mapping[str, str] | None = None) -> ChoiceKey:
    """instead: option -> the sentence that fits this trace better."""
    told = {option: (name, (instead or {}).get(option, sentence)) for option, (name, sentence) in _SIGNS.items()}
    return ChoiceKey(
        right, {option: Trap(name, sentence, _NAMES) for option, (name, sentence) in told.items() if option != right}
    )


def _event(played: Trace, right: int, wrong: Mapping[int, tuple[str, str]]) -> ValueKey:
    """right, wrong: events of the course's day; a learner's may begin earlier, which moves all of them.

    wrong: another event -> the name of the mistake, and the sentence, where it has one of its own.
    """
    mistakes = (
        Misconception(name, lambda n, a, number=row.number: n["before"] + number, sentence, _RULES)  # type: ignore[misc]
        for row in played.rows
        if row.number != right
        for name, sentence in [wrong.get(row.number) or _beside_it(played, row, right)]
    )
    before = Misconception(
        "before_the_others",
        lambda n, a: 1 if n["before"] else right,
        "There a request is by itself: it comes, and goes before any other is there, and all that it had is free again. Read "
        "on from there.",
        _RULES,
        as_well=lambda n: range(1, n["before"] + 1),
    )
    last = played.rows[-1].number
    no_such_event = Misconception(
        "no_such_event",
        lambda n, a: n["before"] + last + 1,
        "The trace has no such event. Its rows are numbered from 1, in the first column.",
        _RULES,
        as_well=lambda n: range(n["before"] + last + 1, _FAR),
    )
    return ValueKey(lambda n, a: n["before"] + right, EXACT, (*mistakes, before, no_such_event))


def _beside_it(played: Trace, row: Row, right: int) -> tuple[str, str]:
    """What a row before the fault is, and one after it. Of a token's number nothing is said: it might be the right one."""
    did = row.did.partition(":")[0] if played.place == "block" else row.did
    if row.number < right:
        return (
            f"event_{row.number}_in_order",
            f"There the trace says '{did}', and after it every place and every table is as it has to be. The first row "
            "that breaks a rule comes later.",
        )
    return (
        f"event_{row.number}_after_it",
        f"There the trace says '{did}', and a rule was broken before that already. Whatever is off in this row came of "
        "that: go back to where it began.",
    )


ASH = (
    _fault("double_free"),
    _event(
        trace(ASH_DAY, Ash),
        9,
        {
            5: (
                "copy_for_fault",
                "There two hold a block and one writes, so it takes a copy: that is as it should be.",
            ),
            7: ("plain_end", "A request ends there whose block nobody else has. It may go back."),
            8: ("one_too_early", "After that row each block is either in a table or free. Read on from there."),
            11: ("second_time", "There the damage is complete. Half of it was to be seen before: find that row."),
            13: (
                "handed_out",
                "There the free list hands out what it should not have had. Go back to where it came to have it.",
            ),
        },
    ),
)
BIRCH = (
    _fault("boundary", {"missing_copy": _NOT_SHARED}),
    _event(
        trace(BIRCH_DAY, Birch),
        7,
        {
            2: ("room_left", "The last block had room for that token. No block is due."),
            5: (
                "full_for_over",
                "That token fills the last slot. A block is due with the next one, not with this.",
            ),
            8: (
                "the_late_block",
                "There the block that was due comes at last. Find the token that had to do without it.",
            ),
            9: ("second_request", "That is the mistake again, in the other request. It was made once before."),
        },
    ),
)
CEDAR = (
    _fault(
        "stale_table",
        {
            "boundary": "Off by one at the end of a block, a table has a block more or fewer than its tokens need. Divide: "
            "none has, and the row that is off is in the middle of a block.",
            "missing_copy": "Without the copy no block would leave the free list. Compare the free list before and after "
            "the row that is off.",
        },
    ),
    _event(
        trace(CEDAR_DAY, Cedar),
        9,
        {
            3: (
                "shared_and_full",
                "The shared blocks are full there, so a fresh one is due, and it is in the table.",
            ),
            6: ("fork_for_fault", "A fork shares all blocks, the partial one too, and takes none. So it is."),
            10: ("the_next_row", "What is off in that row was off in the row before already."),
            12: (
                "catches_up",
                "There the table catches up, by two blocks at once. It had lagged behind for a while.",
            ),
        },
    ),
)
ELM = (
    _fault(
        "full_hit",
        {
            "missing_copy": "Only full blocks are shared in this trace, and nobody writes into those again: no copy is due.",
            "stale_table": "A table that lags behind leaves a block in no table, and not free. Here no column is empty but "
            "for its circle, and the numbers found are worth a look.",
        },
    ),
    _event(
        trace(ELM_DAY, Elm),
        8,
        {
            3: (
                "hit_for_fault",
                "A prefix is found there and the rest of the prompt is computed. So a cache works.",
            ),
            5: (
                "short_hit",
                "One block of the prompt is known there, and the others are computed. So it should be.",
            ),
            9: (
                "the_next_token",
                "There a token follows that was made out of nothing. Go back to the row that left nothing to make it from.",
            ),
            11: ("later_hit", "There some of the prompt is left to compute. Compare it with the hits before."),
        },
    ),
)
FIR = (
    _fault(
        "leak",
        {
            "boundary": "Off by one, a request would have a seat too many or too few for its tokens. Divide: all have as "
            "many as they need.",
            "double_free": "What goes back twice is in the free list while somebody has it. No cell here has a name and a "
            "circle; some have neither.",
            "missing_copy": "Seats are promises, and each is made to one request. There is nothing to copy.",
            "stale_table": "Seats are not blocks, and nobody reads from them. An empty column was given up by somebody: look "
            "at who had it before.",
        },
    ),
    _event(
        trace(FIR_DAY, Fir),
        7,
        {
            1: ("let_in", "Two are let in there, and each has the seats that it needs. That is as it should be."),
            4: ("plain_end", "There two have finished and their seats are free again. That is as it should be."),
            8: ("the_next_row", "What is off in that row was off in the row before already."),
            9: ("no_seat_left", "There nothing is left to promise, though two run. Find where the others went."),
            11: ("second_time", "There it happens again. The first time was earlier."),
            12: ("standstill", "There the server stands still, which is what it comes to. It began earlier."),
        },
    ),
)
