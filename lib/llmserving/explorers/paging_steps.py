"""Step through a script of paging, forward and back, with the course's own allocator or the learner's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving import arguments
from llmserving.explorers.live import View
from llmserving.explorers.steps import StepExplorer
from llmserving.figures import LessonFigure, block_map
from llmserving.paging.block_pool import blocks
from llmserving.paging.operation import Operation
from llmserving.paging.play import play
from llmserving.paging.playback import Moment, Playback
from llmserving.paging.script import FORK_AND_COPY, Script
from llmserving.replay import LogError, replay_pool, sentence

MOST_BLOCKS = 10_000  # each step replays the log, with all blocks that are free after each event
MOST_LINES = 12  # of the script around the present operation


class PagingExplorer(StepExplorer[Moment]):
    """The block map at one moment of a playback; `.playback` is the whole, `.controls["moment"].value` the moment."""

    def __init__(self, playback: Playback) -> None:
        self.playback = playback
        super().__init__(playback.moments, "Step")

    def look_at(self, moment: Moment) -> View:
        return View(_figure(self.playback, moment), self.tell(moment), _listing(self.playback, moment))

    def tell(self, moment: Moment) -> str:
        return told(self.playback, moment)


def paging_explorer(
    script: Script | Iterable[Any] = FORK_AND_COPY,
    allocator: Any = None,
    num_blocks: Any = None,
    block_size: Any = None,
) -> PagingExplorer:
    """An explorer of a script's events; where an invariant breaks it ends, and its last sentence says which.

    allocator: the learner's own class, or a function, each called with (num_blocks, block_size), or an object that was
    never used before; by default the course's PagedAllocator. `help(llmserving.paging.Allocator)` says what its methods are
    to do. num_blocks, block_size: of the pool, by default those of the script.
    """
    pool = script.num_blocks if isinstance(script, Script) and num_blocks is None else num_blocks
    if pool is not None and arguments.count("num_blocks", "the number of blocks in the pool", pool) > MOST_BLOCKS:
        raise ValueError(
            f"num_blocks is {arguments.shown(pool)}, more than the {MOST_BLOCKS:,} blocks that can be stepped through; "
            "play(script, allocator, num_blocks) plays the script on a larger pool and says what breaks"
        )
    return PagingExplorer(play(script, allocator, num_blocks, block_size))


def told(playback: Playback, moment: Moment) -> str:
    """A moment in words: the operation, what it did, what is free; at the end the broken invariant, where one is."""
    if playback.broken is not None and _ends_broken(playback, moment):
        return playback.broken.sentence
    state = replay_pool(playback.events, playback.num_blocks, playback.block_size, moment.events)
    if not moment.operation:
        return sentence(state)
    operation = (
        f"Operation {moment.operation} of {len(playback.operations)}, {playback.operations[moment.operation - 1]}"
    )
    if moment.refusal is not None:
        return f"{operation}: refused, and nothing changed: {moment.refusal}. {blocks(len(state.free))} free."
    # A block is evicted in the middle of an operation, when nobody can say yet what is free.
    free = "" if moment.event is None or moment.event.kind == "evict" else f" {blocks(len(state.free))} free."
    return f"{operation}: {sentence(state)}{free}"


def _figure(playback: Playback, moment: Moment) -> LessonFigure:
    """The map without a caption: the sentence below it says the same."""
    pool = playback.num_blocks, playback.block_size
    title = f"The pool before operation {moment.operation}"
    if _ends_broken(playback, moment) and moment.operation and moment.event is None:
        return block_map(playback.events, *pool, moment.events, title=title, caption=False)
    try:
        return block_map(playback.events, *pool, moment.events, caption=False)
    except LogError as impossible:  # an event that breaks an invariant may leave nothing that could be drawn
        return block_map(playback.events, *pool, impossible.number - 1, title=title, caption=False)


def _listing(playback: Playback, moment: Moment) -> tuple[str, ...]:
    """The script, an operation a line, with a mark at the present one."""
    operations = playback.operations
    first = max(min(moment.operation - MOST_LINES // 2, len(operations) - MOST_LINES), 0)
    shown = list(enumerate(operations, 1))[first : first + MOST_LINES]
    end = " (the playback ends here)" if _ends_broken(playback, moment) else ""
    return ("The script:", *(_row(number, operation, moment.operation, end) for number, operation in shown))


def _row(number: int, operation: Operation, present: int, end: str) -> str:
    return f"→ {number} {operation}{end}" if number == present else f"· {number} {operation}"


def _ends_broken(playback: Playback, moment: Moment) -> bool:
    return playback.broken is not None and moment == playback.moments[-1]
