"""The lab of level 3, paging: an allocator of blocks that grows, forks and copies on write."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe
from llmserving.paging.operation import allocate, append, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import BLOCK_BY_BLOCK, FORK_AND_COPY, FORK_AT_A_BOUNDARY, FULL_POOL, MISUSE, Script

# Half of what the second prompt needs is free: whoever takes before looking is seen.
_TOO_LONG = Script(
    "A prompt that is too long",
    (allocate("a", range(8)), allocate("b", range(13)), append("a", 8), free("a"), allocate("b", range(13)), free("b")),
    num_blocks=4,
    block_size=4,
)

_STUB = '''class PagedKV:
    """A pool of num_blocks blocks, each for block_size tokens, and a block table for each request."""

    def __init__(self, num_blocks, block_size):
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables = {}
        self.lengths = {}

    def table(self, request):
        """The blocks of a request, in the order of its tokens."""
        return self.tables[request]

    def allocate(self, request, tokens):
        """A new request: just enough free blocks for its tokens."""
        raise NotImplementedError("LAB3A.2: allocate")

    def append(self, request, token):
        """One more token: its slot is in the last block, in a fresh one, or in a copy of a shared one."""
        raise NotImplementedError("LAB3A.2: append")

    def fork(self, parent, child):
        """A new request that goes on from where parent is, with the same blocks; none is taken."""
        raise NotImplementedError("LAB3A.2: fork")

    def free(self, request):
        """The end of a request: its blocks that are in no other table are free again."""
        raise NotImplementedError("LAB3A.2: free")'''

LAB3A_2 = Exercise(
    id="LAB3A.2",
    title="Append, fork, copy-on-write",
    notebook="L3/lab_paging",
    statement=(
        "Write `PagedKV`, an allocator of blocks. A fresh block is taken when a token needs it, never before. `fork` shares "
        "every block. Whoever then writes into a block that another table holds too takes a fresh block in its place first, a "
        "copy (copy-on-write); full blocks are never written again and stay shared. Where blocks are too few, or a name is "
        "taken, unknown or freed, a method raises an error and has changed nothing. `help(Allocator)` from `llmserving.paging` "
        "says it method by method."
    ),
    parts=(
        Part(
            "allocator",
            "PagedKV",
            "object",
            "a class with the methods of the answer cell; it may keep what it needs in whichever way it likes",
            (
                "Play a script on it, and look at the first operation that is named: "
                "`from llmserving.paging import FORK_AND_COPY, play`, then `play(FORK_AND_COPY, PagedKV).broken`.",
                "Before the token of an append is there, the table is either full to its end, or its last block has room. A "
                "block can be shared and about to be written in the second case only.",
                "Look first, then take: count the blocks that will be needed before any of them leaves the free list.",
            ),
            points=4,
            stub=_STUB,
            probes=(
                Probe("growing", plain_script(BLOCK_BY_BLOCK)),
                Probe("sharing", plain_script(FORK_AND_COPY)),
                Probe("sharing", plain_script(FORK_AT_A_BOUNDARY)),
                Probe("refusing", plain_script(FULL_POOL)),
                Probe("refusing", plain_script(_TOO_LONG)),
                Probe("refusing", plain_script(MISUSE)),
            ),
            own_work=("PagedAllocator", "BlockPool", "BlockTable", "FreeQueue"),
            player="allocator",
        ),
    ),
    draw=Draw("LAB3A.2"),
    difficulty=4,
    minutes=30,
    importance=5,
)

EXERCISES_HERE = (LAB3A_2,)
