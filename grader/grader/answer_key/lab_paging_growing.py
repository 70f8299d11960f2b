"""Key of the paging lab's first step: which scripts try it, and the sentences for what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_paging_growing
from llmserving.exercises.exercise import Probe
from llmserving.paging.operation import Operation, allocate, append, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import Script

from grader.answer_key import lab_paging_growing_written as made
from grader.answer_key.key import Key
from grader.answer_key.lab_keys import ObjectKey, Wrong

_GROW, _END, _REFUSE = "Blocks as tokens come", "Give back what was held", "Look first, then take"

_WRONG = (
    Wrong(
        "block_taken_early",
        made.TakesEarly,
        "A block is taken as soon as the one before is full, before a token needs it. A request may end right there, and the "
        "block was held for nothing.",
        _GROW,
    ),
    Wrong(
        "boundary_off_by_one",
        made.TakesLate,
        "The fresh block comes one token late: the first token past a full block has no slot. Ask how many tokens are there "
        "before the new one.",
        _GROW,
    ),
    Wrong(
        "counted_before_asked",
        made.CountsFirst,
        "The new token is counted before you look for room. So a block that has just become full gets a successor that no token "
        "needs yet, and one that was full before gets none. Look first.",
        _GROW,
    ),
    Wrong(
        "rounded_down",
        made.RoundsDown,
        "The prompt gets only the blocks that it fills. The tokens that are left over need a block too.",
        _GROW,
    ),
    Wrong(
        "block_for_every_token",
        made.TakesForEveryToken,
        "Every appended token gets a block of its own. Most of the time the last block still has room, and then none is taken.",
        _GROW,
    ),
    Wrong(
        "never_given_back",
        made.NeverGivesBack,
        "The table of a request that ends is thrown away with the numbers of its blocks in it. They have to go back to the free "
        "ones first.",
        _END,
    ),
    Wrong(
        "only_the_last_given_back",
        made.GivesBackOne,
        "Of a request that ends only the last block comes back. All the others of its table are lost.",
        _END,
    ),
    Wrong(
        "freed_but_kept",
        made.KeepsTheTable,
        "The blocks are free again, and the request still has them in its table. It could be freed a second time, or go on "
        "writing into what is another's by then.",
        _END,
    ),
    Wrong(
        "length_kept",
        made.KeepsTheLength,
        "The table of a request that ends is gone, but its length is still there, so a token can be appended to it without a "
        "look at the table. Forget all that is known of it.",
        _END,
    ),
    Wrong(
        "unknown_name_freed",
        made.FreesAnyName,
        "A name that is unknown, or freed already, is freed without complaint. The caller made a mistake, and should be told.",
        _REFUSE,
    ),
    Wrong(
        "taken_before_looking",
        made.TakesBeforeLooking,
        "It takes blocks one by one until none is left, and stops in the middle: those that it took are lost. A refusal changes "
        "nothing.",
        _REFUSE,
    ),
    Wrong(
        "counted_before_looking",
        made.CountsBeforeLooking,
        "The token is counted before it is known whether it has room. Where the pool is full it stays counted, though it was "
        "refused.",
        _REFUSE,
    ),
    Wrong(
        "name_taken_twice",
        made.TakesAnyName,
        "A name that is in use is given a second table, and the blocks of the first are lost. Refuse a name that is taken.",
        _REFUSE,
    ),
)


def _hidden(rng: random.Random) -> Iterator[Probe]:
    """A drawn script a group: requests that grow, requests that come and go, and a pool that runs full."""
    size = rng.randrange(3, 7)
    yield Probe("growing", _drawn(rng, "Drawn requests that grow", 60, size, ending=False))
    yield Probe("giving back", _drawn(rng, "Drawn requests that come and go", 60, size, ending=True))
    yield Probe("refusing", _drawn(rng, "Drawn requests in a small pool", 5, size, ending=True))


def _drawn(rng: random.Random, title: str, num_blocks: int, block_size: int, *, ending: bool) -> dict[str, object]:
    """Operations on names that are there as far as the pool allows; what a full pool refuses is part of the script."""
    made_so_far, names = 0, list[str]()
    operations = list[Operation]()
    for number in range(30):
        kind = rng.choice(["allocate", "append", "append", "append", "append", "free"])
        if not names or (kind == "allocate" and len(names) < 4):
            made_so_far += 1
            names.append(f"r{made_so_far}")
            operations.append(allocate(names[-1], range(1, rng.randrange(2, 3 * block_size))))
        elif kind == "free" and ending and len(names) > 1:
            operations.append(free(names.pop(rng.randrange(len(names)))))
        else:
            operations.append(append(rng.choice(names), 1000 + number))
    return plain_script(Script(title, tuple(operations), num_blocks, block_size))


KEYS_HERE = (
    Key(
        lab_paging_growing.LAB3A_1,
        {
            "growing": ObjectKey(
                reference=made.GrowingKV,
                otherwise=made.BySlots,
                groups={"growing": 1, "giving back": 1, "refusing": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_GROW,
            )
        },
    ),
)
