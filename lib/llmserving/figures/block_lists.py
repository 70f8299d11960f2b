"""Beside the grid, each request's block table from logical to physical block; below it, the free list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.names import short_names
from llmserving.figures.shapes import draw_outline, text_width, write
from llmserving.replay import PoolState, request_name

SIZE, BOX_HEIGHT, ROW, HEADING, SPACE = 11.0, 18.0, 26.0, 22.0, 3.0
NAME, TOKENS = 52.0, 46.0  # the widths of the columns before the boxes
MORE_ROOM = 76.0  # for "and 12 more"
MOST_LINES = 2
HEADING_WORDS = "Block tables: logical above, physical below"


def box_width(state: PoolState) -> float:
    """Room for the largest number of a block."""
    return max(20.0, text_width(str(state.num_blocks - 1), size=SIZE) + 7)


class TableList:
    """A row a request: its name, its tokens, and a box a logical block with the physical block's number in it."""

    def __init__(
        self, state: PoolState, left: float, right: float, most: int, requests: Iterable[Hashable] = ()
    ) -> None:
        """requests: all that there are in the log, so that a name is cut in the same way at each of its events."""
        self.state, self.left, self.most = state, left, most
        self.box = box_width(state)
        self.boxes_left = left + NAME + TOKENS
        self.fit = int((right - self.boxes_left + SPACE) // (self.box + SPACE))
        self.fit_beside_more = int((right - self.boxes_left - MORE_ROOM) // (self.box + SPACE))
        self.drawn = list(state.tables)[:most]
        self.names = short_names([*state.tables, *requests], NAME - 4, size=SIZE, bold=True)
        self.more = len(state.tables) - len(self.drawn)

    def height_for(self, tables: int) -> float:
        """Units for that many tables."""
        return HEADING + LINE_HEIGHT + min(tables, self.most) * ROW + (LINE_HEIGHT if tables > self.most else 0)

    def shown(self, request: Hashable) -> tuple[Sequence[int], int]:
        """The physical blocks that are drawn, and how many more there are."""
        table = self.state.tables[request]
        drawn = table if len(table) <= self.fit else table[: self.fit_beside_more]
        return drawn, len(table) - len(drawn)

    def draw(self, figure: LessonFigure, top: float) -> None:
        write(figure, self.left, top + LINE_HEIGHT / 2, HEADING_WORDS, bold=True)
        if not self.drawn:
            write(figure, self.left, top + HEADING + LINE_HEIGHT / 2, "none", size=SIZE)
            return
        header = top + HEADING + LINE_HEIGHT / 2
        write(figure, self.left, header, "request", size=SIZE)
        self._right(figure, "tokens", header)
        columns = max(len(self.shown(request)[0]) for request in self.drawn)
        for logical in range(columns):
            write(figure, self._x(logical) + self.box / 2, header, str(logical), centred=True, size=SIZE)
        for row, request in enumerate(self.drawn):
            self._draw_row(figure, request, top + HEADING + LINE_HEIGHT + (row + 0.5) * ROW)
        if self.more:
            y = top + self.height_for(len(self.state.tables)) - LINE_HEIGHT / 2
            write(figure, self.left, y, f"and {self.more:,} more requests", size=SIZE)

    def words(self) -> str:
        if not self.drawn:
            return "No request has a block table."
        rows = []
        for request in self.drawn:
            blocks, more = self.shown(request)
            pairs = ", ".join(f"{logical} to {block}" for logical, block in enumerate(blocks))
            rest = f" and {more:,} more" if more else ""
            rows.append(f"{request_name(request)} with {self.state.tokens[request]:,} tokens, {pairs}{rest}")
        rest = f"; and {self.more:,} more requests" if self.more else ""
        return f"Block tables, logical to physical: {'; '.join(rows)}{rest}."

    def _draw_row(self, figure: LessonFigure, request: Hashable, y: float) -> None:
        write(figure, self.left, y, self.names[request], bold=True, size=SIZE)
        self._right(figure, f"{self.state.tokens[request]:,}", y)
        blocks, more = self.shown(request)
        last = self.state.last
        for logical, block in enumerate(blocks):
            x = self._x(logical)
            touched = block in self.state.touched and last is not None and request in (last.request, last.source)
            line_width = 2.2 if touched else 0.8
            draw_outline(figure, x, y - BOX_HEIGHT / 2, self.box, BOX_HEIGHT, line_width=line_width)
            write(figure, x + self.box / 2, y, str(block), centred=True, size=SIZE)
        if more:
            write(figure, self._x(len(blocks)) + 2, y, f"and {more:,} more", size=SIZE)

    def _x(self, logical: int) -> float:
        return self.boxes_left + logical * (self.box + SPACE)

    def _right(self, figure: LessonFigure, text: str, y: float) -> None:
        write(figure, self.boxes_left - 8 - text_width(text, size=SIZE), y, text, size=SIZE)


class FreeList:
    """The free blocks in the order in which they will be given out, or by their number where the log has no order."""

    def __init__(self, state: PoolState, left: float, right: float) -> None:
        self.state, self.left = state, left
        self.box = box_width(state)
        self.in_line = int((right - left + SPACE) // (self.box + SPACE))
        self.lines = min(MOST_LINES, -(-state.num_blocks // self.in_line))
        self.height = HEADING + self.lines * (BOX_HEIGHT + SPACE)
        blocks = sorted(state.free) if state.free_order is None else list(state.free_order)
        room = self.in_line * self.lines
        kept = room if len(blocks) <= room else room - int(MORE_ROOM // (self.box + SPACE)) - 1
        self.drawn, self.more = blocks[:kept], len(blocks) - len(blocks[:kept])

    @property
    def heading(self) -> str:
        if not self.state.free:
            return "Free list: no block is free"
        order = "the log does not say in which order" if self.state.free_order is None else "next to be given out first"
        return f"Free list, {order}"

    def draw(self, figure: LessonFigure, top: float) -> None:
        write(figure, self.left, top + LINE_HEIGHT / 2, self.heading, bold=True)
        for index, block in enumerate(self.drawn):
            x, y = self._place(index, top)
            draw_outline(figure, x, y - BOX_HEIGHT / 2, self.box, BOX_HEIGHT, line_width=0.8)
            write(figure, x + self.box / 2, y, str(block), centred=True, size=SIZE)
        if self.more:
            x, y = self._place(len(self.drawn), top)
            write(figure, x + 2, y, f"and {self.more:,} more", size=SIZE)

    def words(self) -> str:
        listed = ": " + ", ".join(map(str, self.drawn)) if self.drawn else ""
        rest = f" and {self.more:,} more" if self.more else ""
        return f"{self.heading}{listed}{rest}."

    def _place(self, index: int, top: float) -> tuple[float, float]:
        line, column = divmod(index, self.in_line)
        x = self.left + column * (self.box + SPACE)
        return x, top + HEADING + line * (BOX_HEIGHT + SPACE) + BOX_HEIGHT / 2
