"""A trace, row by row, as whoever looks for a fault reads it: in a terminal and on a page."""

from __future__ import annotations

import html
from collections.abc import Hashable
from dataclasses import dataclass

FREE = "○"


@dataclass(frozen=True)
class Row:
    """One event. number: from 1. did: what was asked, and what came of it. holders: by place, a block of the pool or a
    scheduler's seat, who has it, in the order of the alphabet. free: the free places in their order.
    """

    number: int
    did: str
    holders: tuple[tuple[Hashable, ...], ...]
    free: tuple[int, ...]

    def cell(self, place: int) -> str:
        """Who has it, and a circle for each time that it stands in the free list."""
        return " ".join([*map(str, self.holders[place]), *[FREE] * self.free.count(place)])


@dataclass(frozen=True)
class Trace:
    """The rows, and the source of what was played. place: what a column is, "block" or "seat".

    stopped: the bug of Python's kind at which the rows end, in a sentence; '' where there is none.
    """

    title: str
    place: str
    rows: tuple[Row, ...]
    source: str
    stopped: str = ""

    @property
    def key(self) -> str:
        return (
            f"{self.title}. A column is a {self.place}: who has it, and {FREE} for each time that it is in the free list, "
            "after the event."
        )

    @property
    def _table(self) -> list[list[str]]:
        places = range(len(self.rows[0].holders)) if self.rows else range(0)
        body = [
            [str(row.number), row.did, *map(row.cell, places), " ".join(map(str, row.free)) or "none"]
            for row in self.rows
        ]
        return [["event", "what happened", *(f"{self.place} {place}" for place in places), "free list"], *body]

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._table, strict=True)]
        lines = ("   ".join(map(str.ljust, row, widths)).rstrip() for row in self._table)
        return "\n".join([self.key, *lines, *self._end])

    @property
    def _end(self) -> list[str]:
        return [f"{self.stopped} The trace ends here."] if self.stopped else []

    def _repr_html_(self) -> str:
        head, *body = self._table
        cells = "".join(f'<th scope="col" style="text-align:left">{html.escape(cell)}</th>' for cell in head)
        lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in body)
        return (
            f"<p>{html.escape(self.key)}</p><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
            f"{''.join(f'<p>{html.escape(line)}</p>' for line in self._end)}"
            f"<details><summary>The source, once you know what to look for</summary><pre>{html.escape(self.source)}</pre>"
            "</details>"
        )


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'
