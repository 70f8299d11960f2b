"""Key of the fault lab, mending: what a mended class is tried on, and the sentences for mends that mend something else."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from llmserving.exercises.exercise import Probe
from llmserving.exercises.lab_faults import ITS_DAY, OTHERS
from llmserving.paging.operation import Operation, allocate, append, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import Script
from llmserving.scheduling.plain_scenario import plain_scenario
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import Scenario

from grader.answer_key import lab_faults_allocators as paged
from grader.answer_key import lab_faults_schedulers as scheduled
from grader.answer_key import lab_paging
from grader.answer_key.lab_keys import Hidden, ObjectKey, Wrong

_MEND = "To mend"


def _mended(mended: tuple[type, type], hidden: Hidden, wrong: tuple[Wrong, ...]) -> ObjectKey:
    return ObjectKey(*mended, {ITS_DAY: 1, OTHERS: 1}, hidden, wrong, _MEND)


def _wrong(*rows: tuple[str, type, str]) -> tuple[Wrong, ...]:
    return tuple(Wrong(name, made, sentence, _MEND) for name, made, sentence in rows)


def _drawn(*groups: str) -> Callable[[random.Random], Iterator[Probe]]:
    """The drawn scripts of the paging lab, of these groups of it."""
    paging = lab_paging.KEYS_HERE[0].parts["allocator"]
    assert isinstance(paging, ObjectKey)
    scripts = paging.hidden

    def hidden(rng: random.Random) -> Iterator[Probe]:
        return (Probe(OTHERS, probe.given) for probe in scripts(rng) if probe.group in groups)

    return hidden


def _drawn_prompts(rng: random.Random) -> Iterator[Probe]:
    """Prompts that begin alike, of lengths around the end of a block, in a pool with room for all."""
    size = rng.randrange(3, 6)
    operations: list[Operation] = []
    for number in range(10):
        length = size * rng.randrange(1, 4) + rng.choice([-1, 0, 0, 1])
        operations += [allocate(f"r{number}", range(length)), append(f"r{number}", 100 + number)]
        if number % 3 == 2:
            operations.append(free(f"r{number - rng.randrange(3)}"))
    yield Probe(OTHERS, plain_script(Script("Drawn prompts that begin alike", tuple(operations), 60, size)))


def _drawn_crowd(rng: random.Random) -> Iterator[Probe]:
    rows = [(0.02 * (number // 3), rng.randrange(2, 9), rng.randrange(3, 10)) for number in range(8)]
    title = "A drawn crowd"
    crowd = Workload((Request(number, *row) for number, row in enumerate(rows)), title)
    yield Probe(OTHERS, plain_scenario(Scenario(title, crowd, rng.randrange(5, 8), 4)))


ASH = _mended(
    (paged.AshFreed, paged.AshFreedOtherwise),
    _drawn("growing", "sharing", "refusing"),
    _wrong(
        (
            "only_not_twice",
            paged.AshNotTwice,
            "What somebody else holds still goes back. That it does not go back twice is not enough: it is handed out and "
            "written while it is read.",
        ),
        (
            "counts_itself",
            paged.AshCountsItself,
            "The request that ends is counted among the holders, so its own blocks look held and never come back. Take its "
            "table out first, or allow for it.",
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
BIRCH = _mended(
    (paged.BirchInTime, paged.BirchInTimeOtherwise),
    _drawn("growing", "refusing"),
    _wrong(
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
CEDAR = _mended(
    (paged.CedarShown, paged.CedarReadAtTheSource),
    _drawn("growing", "sharing"),
    _wrong(
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
ELM = _mended(
    (paged.ElmLeavesOne, paged.ElmLeavesOneOtherwise),
    _drawn_prompts,
    _wrong(
        (
            "still_whole",
            paged.ElmWhole,
            "A prompt can still be found to its last token. Then no token goes through the model, and there is no output to "
            "take the next one from.",
        ),
        (
            "number_only",
            paged.ElmNumberOnly,
            "The number is smaller now, and the table is as it was: the last block is still a found one. The token that is "
            "computed is written into it, whoever else reads it.",
        ),
        (
            "always_a_block_less",
            paged.ElmOneBlockLess,
            "Every hit is a block shorter now, also where the rest of the prompt is left to compute anyway.",
        ),
        (
            "all_thrown_away",
            paged.ElmNothingFound,
            "Where all was found, now nothing is, and the whole prompt is computed. One block of it is enough.",
        ),
        (
            "two_tokens_left",
            paged.ElmTwoTokensLeft,
            "Two tokens are always left now, and where a prompt goes one token past a full block, that block is not found. "
            "One token is enough.",
        ),
        (
            "whole_hit_refused",
            paged.ElmRefuses,
            "A prompt that is known as a whole is refused, though there is room. It will be asked for again, and refused "
            "again.",
        ),
    ),
)
FIR = _mended(
    (scheduled.FirGivesBack, scheduled.FirGivesBackOtherwise),
    _drawn_crowd,
    _wrong(
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
            "Nobody is promised a seat any more, so none can be lost, and nothing keeps more from being let in than was "
            "meant to be.",
        ),
    ),
)
