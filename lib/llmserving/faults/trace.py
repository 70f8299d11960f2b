"""What an allocator or a scheduler did, row by row, for whoever looks for a fault: as it told it, and without a verdict."""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from llmserving.events import Event
from llmserving.faults.listing import source_of
from llmserving.paging.operation import Operation
from llmserving.paging.script import Script
from llmserving.scheduling.engine import Engine
from llmserving.scheduling.play import play_schedule
from llmserving.scheduling.scenarios import Scenario

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
    """The rows, and the source of what was played. place: what a column is, "block" or "seat"."""

    title: str
    place: str
    rows: tuple[Row, ...]
    source: str

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
        return "\n".join([self.key, *lines])

    def _repr_html_(self) -> str:
        head, *body = self._table
        cells = "".join(f'<th scope="col" style="text-align:left">{html.escape(cell)}</th>' for cell in head)
        lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in body)
        return (
            f"<p>{html.escape(self.key)}</p><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
            f"<details><summary>The source, once you know what to look for</summary><pre>{html.escape(self.source)}</pre>"
            "</details>"
        )


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'


def trace(asked: Script | Scenario, made: Callable[..., Any]) -> Trace:
    """Play a script on an allocator, or requests on a scheduler, and note what each tells of itself; nothing is checked."""
    if isinstance(asked, Scenario):
        return Trace(asked.title, "seat", _of_schedule(asked, made()), source_of(made))
    return Trace(asked.title, "block", _of_script(asked, made), source_of(made))


def _of_script(script: Script, made: Callable[..., Any]) -> tuple[Row, ...]:
    allocator = made(script.num_blocks, script.block_size)
    tokens: dict[Hashable, int] = {}
    rows = []
    for number, operation in enumerate(script.operations, 1):
        did = _carried_out(allocator, operation, tokens)
        holders = tuple(
            tuple(name for name in sorted(tokens, key=str) if block in allocator.table(name))
            for block in range(script.num_blocks)
        )
        rows.append(Row(number, did, holders, tuple(allocator.free_blocks)))
    return tuple(rows)


def _carried_out(allocator: Any, operation: Operation, tokens: dict[Hashable, int]) -> str:
    """The operation in words; `tokens` is how many each live request has, and is kept up to date."""
    name, count = operation.request, len(operation.tokens)
    try:
        if operation.kind == "allocate":
            found = allocator.allocate(name, list(operation.tokens))
            tokens[name] = count
            return f"allocate {name}: {count} tokens" + (f", {found} of them found" if found is not None else "")
        if operation.kind == "append":
            allocator.append(name, *operation.tokens)
            tokens[name] += 1
            return f"append to {name}: token {tokens[name]}"
        if operation.kind == "fork":
            allocator.fork(operation.parent, name)
            tokens[name] = tokens[operation.parent]
            return f"fork {operation.parent} as {name}"
        allocator.free(name)
        del tokens[name]
        return f"free {name}"
    except RuntimeError as refusal:
        return f"{operation.kind} {name}: refused, {refusal}"


def _of_schedule(scenario: Scenario, scheduler: Any) -> tuple[Row, ...]:
    """A row a step, as the scheduler has it when it has made its moves."""
    rows: list[Row] = []
    seen = 0

    class Noting:
        def schedule(self, engine: Engine) -> None:
            nonlocal seen
            scheduler.schedule(engine)
            holders = tuple(
                tuple(name for name, held in scheduler.seats_of.items() if seat in held)
                for seat in range(scheduler.num_seats)
            )
            new, seen = engine.events[seen:], len(engine.events)
            rows.append(Row(len(rows) + 1, _moved(engine, new), holders, tuple(scheduler.free_seats)))

    play_schedule(scenario, Noting())
    return tuple(rows)


def _moved(engine: Engine, new: Sequence[Event]) -> str:
    """A step in words, with who had finished before it."""

    def who(kind: str) -> list[Hashable]:
        return [event.request for event in new if event.kind == kind]

    decode = [sequence.request.id for sequence in engine.moves.decodes]
    waits = [sequence.request.id for sequence in engine.waiting]
    told = (
        ("finished", who("finish")), ("decode", decode), ("sent back", who("preempt")), ("let in", who("prefill")),
        ("wait", waits),
    )  # fmt: skip
    return "; ".join(f"{what}: {', '.join(map(str, names))}" for what, names in told if names)
