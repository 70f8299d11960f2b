"""The lab of level 3, paging: names by which a full block is found again, chained from the beginning of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe


def asked(block_size: int, *prompts: tuple[list[int], str | None]) -> Mapping[str, Any]:
    """The arguments of one call."""
    return {"prompts": [[tokens, key] for tokens, key in prompts], "block_size": block_size}


LAB3A_4 = Exercise(
    id="LAB3A.4",
    title="The chained prefix hash",
    notebook="L3/lab_paging",
    statement=(
        "Write `block_names`. For each prompt, in order, it gives the list of the names of its full blocks. Two blocks have "
        "one name exactly where their keys and values are the same: equal tokens, after an equal beginning, under an equal "
        "key (an adapter's name, a salt, or None). An engine takes a hash for a name; here it is a number, so that it can be "
        "read: what has no name yet gets the next one, 0, 1, 2 and so on, over all prompts."
    ),
    parts=(
        Part(
            "names",
            "block_names",
            "function",
            "a function of the prompts, a list of pairs [tokens, key], and of the block size; it gives a list of lists",
            (
                "Keep one dict from what a block is to its name, for all prompts: `names.setdefault(what, len(names))` gives "
                "the name there is, or the next one.",
                "What decides the keys and values of a block's tokens? All tokens up to its end do. The name of the block "
                "before stands for all of those but the block's own.",
                "A similar case: `[[1, 2, 3, 4], None]` and `[[5, 6, 3, 4], None]` in blocks of 2 give `[[0, 1], [2, 3]]`: the "
                "second block of each has the same tokens, after another beginning.",
            ),
            points=3,
            stub=(
                "def block_names(prompts, block_size):\n"
                '    """For each pair [tokens, key] of prompts the names of its full blocks, numbers from 0 on."""\n'
                '    raise NotImplementedError("LAB3A.4: the names of full blocks")'
            ),
            probes=(
                Probe("full blocks", asked(4, ([1, 2, 3, 4, 5, 6], None), ([1, 2, 3, 4, 5, 7, 8], None))),
                Probe("full blocks", asked(2, ([1, 2, 3, 4], None), ([1, 2, 3], None), ([7], None))),
                Probe("prefix", asked(2, ([1, 2, 3, 4, 5, 6], None), ([9, 9, 3, 4, 5, 6], None))),
                Probe("prefix", asked(2, ([3, 4, 3, 4, 3, 4], None), ([3, 4, 3, 4], None))),
                Probe("key", asked(2, ([1, 2, 3, 4], None), ([1, 2, 3, 4], "adapter"), ([1, 2, 3, 4], None))),
            ),
            own_work=("PrefixCache", "block_hash", "PagedAllocator"),
        ),
    ),
    draw=Draw("LAB3A.4"),
    difficulty=3,
    minutes=15,
    importance=4,
)

EXERCISES_HERE = (LAB3A_4,)
