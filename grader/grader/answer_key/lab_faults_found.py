"""Key of the fault lab, finding: which fault each class has, and the event that shows it first."""

from __future__ import annotations

from llmserving.faults import ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY, Ash, Birch, Cedar, Elm, Fir, trace

from grader.answer_key.lab_faults_signs import event_key, fault_key

_NOT_SHARED = "A copy is due where a block that is about to be written is in two tables. Here no partial block ever is."

ASH = (
    fault_key("double_free"),
    event_key(
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
                "There the free list hands out what it should not have had. Go back to where it got it.",
            ),
        },
    ),
)
BIRCH = (
    fault_key("boundary", {"missing_copy": _NOT_SHARED}),
    event_key(
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
    fault_key(
        "stale_table",
        {
            "boundary": "Off by one at the end of a block, a table has a block more or fewer than its tokens need. Divide: "
            "none has, and the row that is off is in the middle of a block.",
            "missing_copy": "Without the copy no block would leave the free list. Compare the free list before and after "
            "the row that is off.",
        },
    ),
    event_key(
        trace(CEDAR_DAY, Cedar),
        9,
        {
            3: (
                "shared_and_full",
                "The shared blocks are full there, so a fresh one is due, and it is in the table.",
            ),
            6: (
                "fork_for_fault",
                "A fork shares all blocks, the partial one too, and takes none. That is as it should be.",
            ),
            10: ("the_next_row", "What is off in that row was off in the row before already."),
            12: (
                "catches_up",
                "There the table catches up, by two blocks at once. It had lagged behind for a while.",
            ),
        },
    ),
)
ELM = (
    fault_key(
        "full_hit",
        {
            "missing_copy": "Only full blocks are shared in this trace, and nobody writes into those again: no copy is due.",
            "stale_table": "A table that lags behind leaves a block in no table, and not free. Here no column is empty but "
            "for its circle, and the numbers found are worth a look.",
        },
    ),
    event_key(
        trace(ELM_DAY, Elm),
        8,
        {
            3: (
                "hit_for_fault",
                "A prefix is found there and the rest of the prompt is computed. That is how a cache works.",
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
    fault_key(
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
    event_key(
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
