"""Key of the paging lab: which scripts an allocator is played through, and the sentences for what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_paging
from llmserving.exercises.exercise import Probe
from llmserving.paging.operation import Operation, allocate, append, fork, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import Script

from grader.answer_key import lab_paging_written as made
from grader.answer_key import lab_paging_wrong as wrong
from grader.answer_key.key import Key
from grader.answer_key.lab_keys import ObjectKey, Wrong

_GROW, _SHARE, _REFUSE = "Blocks as tokens come", "Fork and copy-on-write", "Look first, then take"
_OPERATIONS = 30

_WRONG = (
    Wrong(
        "block_taken_early",
        wrong.TakesEarly,
        "A block is taken as soon as the one before is full, before a token needs it. A request may end right there, and the "
        "block was held for nothing.",
        _GROW,
    ),
    Wrong(
        "boundary_off_by_one",
        wrong.TakesLate,
        "The fresh block comes one token late: the first token past a full block has no slot. Ask how many tokens are there "
        "before the new one.",
        _GROW,
    ),
    Wrong(
        "rounded_down",
        wrong.RoundsDown,
        "The prompt gets only the blocks that it fills. The tokens that are left over need a block too.",
        _GROW,
    ),
    Wrong(
        "leak_at_free",
        wrong.LeaksTheTail,
        "A block is lost when a request ends: it is in no table any more, and not free either. Give back the partial last block "
        "too.",
        _GROW,
    ),
    Wrong(
        "written_in_place",
        wrong.WritesInPlace,
        "A block that another request holds too is written in place, and the other then reads what it never wrote. Copy it "
        "first.",
        _SHARE,
    ),
    Wrong(
        "copied_at_fork",
        wrong.CopiesAtFork,
        "The fork takes blocks of its own at once. It shares every block, and a copy is made only when one of the two writes.",
        _SHARE,
    ),
    Wrong(
        "one_list_for_both",
        wrong.SharesTheList,
        "Parent and child have one and the same list, so what one appends the other has too. They share blocks; each has a "
        "table of its own.",
        _SHARE,
    ),
    Wrong(
        "copied_though_alone",
        wrong.CopiesAlways,
        "A block is copied though no other table holds it. Its only owner writes in place.",
        _SHARE,
    ),
    Wrong(
        "whole_table_copied",
        wrong.CopiesTheTable,
        "Copy-on-write copies the whole table. Only the block that is about to be written is copied; the full ones before it "
        "stay shared.",
        _SHARE,
    ),
    Wrong(
        "shared_block_freed",
        wrong.FreesShared,
        "A block is given back while another table still holds it, so it would be handed out and written under its reader.",
        _SHARE,
    ),
    Wrong(
        "taken_before_looking",
        wrong.TakesBeforeLooking,
        "It takes blocks one by one until none is left, and stops in the middle: those that it took are lost. A refusal changes "
        "nothing.",
        _REFUSE,
    ),
    Wrong(
        "name_taken_twice",
        wrong.TakesAnyName,
        "A name that is in use is given a second table, and the blocks of the first are lost. Refuse a name that is taken.",
        _REFUSE,
    ),
)


def _hidden(rng: random.Random) -> Iterator[Probe]:
    """A drawn script a group: room for all without forks, room for all with them, and a pool that runs full."""
    size = rng.randrange(3, 7)
    yield Probe("growing", _drawn(rng, "A drawn script without forks", 40, size, forks=False))
    yield Probe("sharing", _drawn(rng, "A drawn script with forks", 40, size, forks=True))
    yield Probe("refusing", _drawn(rng, "A drawn script in a small pool", 7, size, forks=False))


def _drawn(rng: random.Random, title: str, num_blocks: int, block_size: int, *, forks: bool) -> dict[str, object]:
    """Operations on names that are there as far as the pool allows; what a full pool refuses is part of the script."""
    alive, operations = 0, list[Operation]()
    names: list[str] = []
    for number in range(_OPERATIONS):
        kind = rng.choice(["allocate", "append", "append", "append", "append", *(["fork"] if forks else []), "free"])
        if not names or (kind == "allocate" and len(names) < 4):
            alive += 1
            names.append(f"r{alive}")
            operations.append(allocate(names[-1], range(1, rng.randrange(2, 3 * block_size))))
        elif kind == "fork" and len(names) < 4:
            alive += 1
            operations.append(fork(rng.choice(names), f"r{alive}"))
            names.append(f"r{alive}")
        elif kind == "free" and len(names) > 1:
            operations.append(free(names.pop(rng.randrange(len(names)))))
        else:
            operations.append(append(rng.choice(names), 1000 + number))
    return plain_script(Script(title, tuple(operations), num_blocks, block_size))


KEYS_HERE = (
    Key(
        lab_paging.LAB3A_2,
        {
            "allocator": ObjectKey(
                reference=made.PagedKV,
                otherwise=made.Counted,
                groups={"growing": 1, "sharing": 2, "refusing": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_SHARE,
            )
        },
    ),
)
