"""The lab of level 3, paging, its first step: blocks as tokens come, given back at the end."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe
from llmserving.paging.operation import allocate, append, append_each, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import BLOCK_BY_BLOCK, FULL_POOL, Script

_GIVEN_BACK = Script(
    "Blocks that come back",
    (
        allocate("a", range(9)), free("a"), allocate("b", range(16)), append("b", 16), free("b"),
        allocate("c", range(3)), free("c"), append("c", 3), free("c"), allocate("c", range(20)), free("c"),
    ),
    num_blocks=5,
    block_size=4,
)  # fmt: skip
_NAMES_AND_ROOM = Script(
    "A name that is taken, and a prompt that is too long",
    (
        allocate("a", range(6)), allocate("a", range(3)), append("x", 1), allocate("b", range(13)),
        *append_each("a", range(6, 9)), allocate("b", range(5)), allocate("b", range(4)), *append_each("a", range(9, 12)),
        append("a", 12), free("b"), *append_each("a", range(12, 16)),  # refused once, then to the last slot
    ),
    num_blocks=4,
    block_size=4,
)  # fmt: skip

_STUB = '''class GrowingKV:
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
        """A new request: just enough free blocks for the list of its tokens."""
        raise NotImplementedError("LAB3A.1: allocate")

    def append(self, request, token):
        """One more token: a fresh block where all of the request's blocks are full, and else none."""
        raise NotImplementedError("LAB3A.1: append")

    def free(self, request):
        """The end of a request: its table is gone, and its blocks are free again."""
        raise NotImplementedError("LAB3A.1: free")'''

LAB3A_1 = Exercise(
    id="LAB3A.1",
    title="Blocks as tokens come",
    notebook="L3/lab_paging",
    statement=(
        "Write `GrowingKV`, an allocator that keeps a block table for each request. A fresh block is taken when a token needs "
        "it, never before, and all blocks of a request are free again when it ends. Where blocks are too few, or a name is "
        "taken, unknown or freed, a method raises an error of any kind and has changed nothing."
    ),
    parts=(
        Part(
            "growing",
            "GrowingKV",
            "object",
            "a class with the methods of the answer cell; it may keep what it needs in whichever way it likes",
            (
                "Work on paper first, with blocks of 4: after how many tokens does a request take its second block, and its "
                "third?",
                "`self.lengths[request]` before the call says whether the last block has room: what is left over when it is "
                "divided by the block size?",
                "A similar case: 9 tokens in blocks of 4 take `-(-9 // 4)` = 3 blocks. Compare that with what is free before you "
                "take any.",
                "Play a script, and read the first sentence: `from llmserving.paging import BLOCK_BY_BLOCK, play`, then "
                "`play(BLOCK_BY_BLOCK, GrowingKV).broken`.",
            ),
            points=3,
            stub=_STUB,
            probes=(
                Probe("growing", plain_script(BLOCK_BY_BLOCK)),
                Probe("giving back", plain_script(_GIVEN_BACK)),
                Probe("refusing", plain_script(FULL_POOL)),
                Probe("refusing", plain_script(_NAMES_AND_ROOM)),
            ),
            own_work=("PagedAllocator", "BlockPool", "BlockTable", "FreeQueue"),
            player="allocator",
        ),
    ),
    draw=Draw("LAB3A.1"),
    difficulty=3,
    minutes=20,
    importance=5,
)

EXERCISES_HERE = (LAB3A_1,)
