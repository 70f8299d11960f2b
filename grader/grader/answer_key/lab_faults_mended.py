"""Key of the fault lab, mending: the class mended in two ways, and the sentences for mends that mend something else."""

from __future__ import annotations

from grader.answer_key import lab_faults_allocators as paged
from grader.answer_key import lab_faults_prefixes as prefixes
from grader.answer_key import lab_faults_schedulers as scheduled
from grader.answer_key.lab_faults_tried import drawn, drawn_crowd, drawn_prompts, mended, wrong

ASH = mended(
    (paged.AshFreed, paged.AshFreedOtherwise),
    drawn("growing", "sharing", "refusing"),
    wrong(
        (
            "only_not_twice",
            paged.AshNotTwice,
            "What somebody else holds still goes back, so it is handed out and written while it is read. To keep it from "
            "going back a second time does not mend that.",
        ),
        (
            "counts_itself",
            paged.AshCountsItself,
            "Blocks that nobody else holds never come back. Either the request that ends is itself counted among the "
            "holders, or the test keeps the wrong ones.",
        ),
        (
            "table_left",
            paged.AshTableLeft,
            "The blocks go back, but the request keeps its table and its name. An end takes those as well.",
        ),
        (
            "all_or_nothing",
            paged.AshAllOrNothing,
            "Where one block is shared none goes back, and those that only this request had are lost. Decide block by "
            "block.",
        ),
        (
            "no_sharing",
            paged.AshNoSharing,
            "Now a fork takes blocks of its own, so that nothing is shared. It hides the fault for the price of the fork; "
            "mend the method that went wrong.",
        ),
    ),
)
BIRCH = mended(
    (paged.BirchInTime, paged.BirchInTimeOtherwise),
    drawn("growing", "refusing"),
    wrong(
        (
            "still_late",
            paged.BirchLate,
            "The block still comes with the second token past a full one, so the first has no slot. The length in the test "
            "does not have the new token yet.",
        ),
        (
            "now_early",
            paged.BirchEarly,
            "Now the block comes with the token that fills the one before. A request may end right there, and the block "
            "was held for nothing.",
        ),
        (
            "added_not_replaced",
            paged.BirchBoth,
            "The right case was added and the wrong one is still there, so that two blocks come for one.",
        ),
        (
            "block_a_token",
            paged.BirchEveryToken,
            "Now every token takes a block. Most have a slot in the last one.",
        ),
        (
            "counted_before_refused",
            paged.BirchCountsFirst,
            "Where no block is free the append is refused, and has counted its token already. Take first, then count.",
        ),
    ),
)
CEDAR = mended(
    (paged.CedarShown, paged.CedarReadAtTheSource),
    drawn("growing", "sharing"),
    wrong(
        (
            "still_stale",
            paged.CedarStale,
            "After a copy the table that is read still names the shared block. Whichever way the list changes, what is read "
            "has to change with it.",
        ),
        (
            "copy_left_out",
            paged.CedarInPlace,
            "Without the copy the two lists agree, and the block is written while another request reads it. The copy was "
            "right; it was not told on.",
        ),
        (
            "source_given_back",
            paged.CedarSourceBack,
            "The block that was copied goes back to the free list, and whoever else holds it reads on in it. One holder "
            "fewer, and no more than that.",
        ),
        (
            "shown_before",
            paged.CedarShownBefore,
            "The list is told on before it changes, so that what is read is always one change behind.",
        ),
        (
            "copied_though_alone",
            paged.CedarCopiesAlone,
            "Now a block is copied that nobody else holds. Its only owner writes in place.",
        ),
    ),
)
ELM = mended(
    (prefixes.ElmLeavesOne, prefixes.ElmLeavesOneOtherwise),
    drawn_prompts,
    wrong(
        (
            "still_whole",
            prefixes.ElmWhole,
            "A prompt can still be found to its last token. Then no token goes through the model, and there is no output to "
            "take the next one from.",
        ),
        (
            "number_only",
            prefixes.ElmNumberOnly,
            "The number is smaller now, and the table is as it was: the last block is still a found one. The token that is "
            "computed is written into it, whoever else reads it.",
        ),
        (
            "always_a_block_less",
            prefixes.ElmOneBlockLess,
            "Every hit is a block shorter now, also where the rest of the prompt is left to compute anyway.",
        ),
        (
            "all_thrown_away",
            prefixes.ElmNothingFound,
            "Where all was found, now nothing is, and the whole prompt is computed. One block of it is enough.",
        ),
        (
            "two_tokens_left",
            prefixes.ElmTwoTokensLeft,
            "Two tokens are always left now, and where a prompt goes one token past a full block, that block is not found. "
            "One token is enough.",
        ),
        (
            "whole_hit_refused",
            prefixes.ElmRefuses,
            "A prompt that is known as a whole is refused, though there is room. It will be asked for again, and refused "
            "again.",
        ),
    ),
)
# A `send_back` that leaves the seats in the entry, for `take_back` to free with the next step, is right too: nobody can be let
# in before. Who was sent back waits in front, and needs more blocks than it gave up, or than were left of them.
FIR = mended(
    (scheduled.FirGivesBack, scheduled.FirGivesBackOtherwise),
    drawn_crowd,
    wrong(
        (
            "still_leaks",
            scheduled.FirLeaks,
            "Seats are still lost with each that is sent back. In the end too few are left, nobody is let in, "
            "and the server stands still.",
        ),
        (
            "given_back_twice",
            scheduled.FirTwiceBack,
            "The seats are given back and the request keeps its entry, so that they are given back once more as if it had "
            "finished, and promised to two.",
        ),
        (
            "all_seats_free",
            scheduled.FirAllFree,
            "Now all seats are free whenever one request is sent back, also those of everybody who still runs.",
        ),
        (
            "first_sent_back",
            scheduled.FirFirstSentBack,
            "Another request is sent back in its place, the one that came first. Who is sent back came last; what it held "
            "is what was to be mended.",
        ),
        (
            "seats_ignored",
            scheduled.FirSeatsIgnored,
            "Seats keep nobody out any more, so none is missed when it is lost, and nothing keeps more from being let in than "
            "was meant to be.",
        ),
        (
            "fewer_seats_promised",
            scheduled.FirTwoSeats,
            "Fewer seats are promised than the tokens take. That puts the end off; what is lost with each that is sent back "
            "is still lost.",
        ),
    ),
)
