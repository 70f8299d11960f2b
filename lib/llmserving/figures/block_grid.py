"""The pool as a grid of cells: a block's number, its owners, and how many of its slots hold a token."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.names import short_names
from llmserving.figures.palette import KV_CACHE, SHARED
from llmserving.figures.shapes import draw_box, draw_line, draw_outline, text_width, write
from llmserving.replay import PoolState
from llmserving.replay.sentence import blocks_named, names_listed

WIDTH, CELL_HEIGHT, SPACE, PADDING = 352.0, 46.0, 4.0, 4.0
GAUGE, HEADING = 10.0, 22.0
MOST_CELLS, MOST_SLOT_LINES = 64, 16
NUMBER_SIZE, OWNER_SIZE = 11.0, 10.5
CACHED = "◆"


class BlockGrid:
    """The first 64 blocks, in rows of 4 to 8: fewer blocks are wider, with more room for the names of their owners."""

    def __init__(self, state: PoolState, requests: Iterable[Hashable] = ()) -> None:
        """requests: all that there are in the log, so that a name is cut in the same way at each of its events."""
        self.state = state
        self.cells = min(state.num_blocks, MOST_CELLS)
        self.columns = 4 if self.cells <= 16 else 6 if self.cells <= 36 else 8
        self.cell_width = (WIDTH - SPACE * (self.columns - 1)) / self.columns
        self.width = WIDTH
        names = [*state.tables, *requests]
        self.names = short_names(names, self.cell_width - 2 * PADDING, size=OWNER_SIZE)
        self.more = state.num_blocks - self.cells
        rows = math.ceil(self.cells / self.columns)
        self.height = HEADING + rows * (CELL_HEIGHT + SPACE) + (LINE_HEIGHT if self.more else 0)

    def draw(self, figure: LessonFigure, left: float, top: float) -> None:
        write(figure, left, top + LINE_HEIGHT / 2, self.heading, bold=True)
        for block in range(self.cells):
            row, column = divmod(block, self.columns)
            x = left + column * (self.cell_width + SPACE)
            self._draw_cell(figure, block, x, top + HEADING + row * (CELL_HEIGHT + SPACE))
        if self.more:
            write(figure, left, top + self.height - LINE_HEIGHT / 2, f"and {self.more:,} more blocks")

    @property
    def heading(self) -> str:
        size = self.state.block_size
        return f"Pool: {self.state.num_blocks:,} blocks of {size:,} token{'s' * (size != 1)}"

    def words(self) -> str:
        """What the grid shows, in sentences."""
        state = self.state
        held = [block for block, owners in enumerate(state.owners) if owners]
        found = sorted(state.cached)
        said = [f"{self.heading}, {len(held):,} of them in a table and {len(state.free):,} free."]
        sharing: dict[tuple[Hashable, ...], list[int]] = {}
        for block in self._shown(state.shared):
            sharing.setdefault(state.owners[block], []).append(block)
        for owners, blocks in sharing.items():
            are = "are" if len(blocks) > 1 else "is"
            said.append(f"{blocks_named(blocks).capitalize()} {are} shared by {names_listed(owners)}.")
        said += [f"{blocks_named(found).capitalize()} can be found by prefix."] if found else []
        return " ".join(said)

    def _shown(self, blocks: Sequence[int]) -> list[int]:
        return [block for block in blocks if block < self.cells]

    def _draw_cell(self, figure: LessonFigure, block: int, x: float, y: float) -> None:
        owners, filled = self.state.owners[block], self.state.filled_slots[block]
        free = block in self.state.free
        inside = self.cell_width - 2 * PADDING
        draw_outline(figure, x, y, self.cell_width, CELL_HEIGHT, line_width=0.5 if free else 1.1, dashed=free)
        write(figure, x + PADDING, y + 10, str(block), bold=True, size=NUMBER_SIZE)
        if block in self.state.cached:
            write(
                figure,
                x + self.cell_width - PADDING - text_width(CACHED, size=OWNER_SIZE),
                y + 10,
                CACHED,
                size=OWNER_SIZE,
            )
        write(figure, x + PADDING, y + 24, self._whose(owners, free, inside), size=OWNER_SIZE)
        self._draw_gauge(figure, x + PADDING, y + CELL_HEIGHT - GAUGE - PADDING, inside, filled, shared=len(owners) > 1)
        if block in self.state.touched:
            draw_outline(figure, x, y, self.cell_width, CELL_HEIGHT, line_width=2.8)

    def _draw_gauge(self, figure: LessonFigure, x: float, y: float, width: float, filled: int, *, shared: bool) -> None:
        """The block's slots from left to right, the filled ones teal."""
        size = self.state.block_size
        if filled:
            draw_box(figure, x, y, width * filled / size, GAUGE, SHARED if shared else KV_CACHE)
        draw_outline(figure, x, y, width, GAUGE, line_width=0.5)
        if size <= MOST_SLOT_LINES and width / size >= 4:
            for slot in range(1, size):
                draw_line(figure, [x + width * slot / size] * 2, [y, y + GAUGE], width=0.5)

    def _whose(self, owners: Sequence[Hashable], free: bool, room: float) -> str:
        """The owners, as many as there is room for; if there are several, their number first."""
        if not owners:
            return "free" if free else "taken"
        if len(owners) == 1:
            return self.names[owners[0]]
        names = [str(owner) for owner in owners]
        count = f"×{len(names)}"
        best = count
        for kept in range(
            1, len(names) + 1
        ):  # a name more, until there is no room: of two hundred owners few are tried
            some = [count, *names[:kept]]
            whole = kept == len(names)
            if text_width(" ".join(some), size=OWNER_SIZE) > room:
                break
            words = " ".join(some if whole else [*some, "…"])
            best = words if whole or text_width(words, size=OWNER_SIZE) <= room else best
        return best
