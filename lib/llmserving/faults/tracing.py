"""What an allocator or a scheduler did, event by event, for whoever looks for a fault: as it told it, and without a verdict."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.faults.listing import source_of
from llmserving.faults.trace import Row, Trace
from llmserving.paging.learners_code import LearnersBug, has
from llmserving.paging.operation import Operation
from llmserving.paging.script import Script
from llmserving.paging.watched import Watched
from llmserving.scheduling.engine import Engine
from llmserving.scheduling.play import play_schedule
from llmserving.scheduling.policy_checks import checked_policy
from llmserving.scheduling.scenarios import Scenario

_SEATS = ("seats_of", "num_seats", "free_seats")


def trace(asked: Script | Scenario, made: Callable[..., Any]) -> Trace:
    """Play a script on an allocator, or requests on a scheduler, and note what each tells of itself; nothing is checked.

    A bug ends the trace, and its last line says in which method and line it is.
    """
    if isinstance(asked, Scenario):
        return Trace(asked.title, "seat", *_of_schedule(asked, made))
    if isinstance(asked, Script):
        return Trace(asked.title, "block", *_of_script(asked, made))
    raise TypeError(f"a trace begins with a day, as in trace(ash_day(), Ash), but got {arguments.shown(asked)}")


def _of_script(script: Script, made: Any) -> tuple[tuple[Row, ...], str, str]:
    """The rows, the source, and the bug at which they end."""
    tokens: dict[Hashable, int] = {}
    rows: list[Row] = []
    stopped, where = "", "Before event 1"
    try:
        allocator = Watched(made, script.num_blocks, script.block_size)
        for number, operation in enumerate(script.operations, 1):
            where = f"Event {number}, {operation}"
            did = _carried_out(allocator, operation, tokens)
            state = allocator.look(tokens)
            if state.free is None:
                raise LearnersBug("free_blocks is only how many there are, and a trace shows which: keep a list")
            holders = tuple(
                tuple(name for name in sorted(tokens, key=str) if block in state.tables.get(name, ()))
                for block in range(script.num_blocks)
            )
            rows.append(Row(number, did, holders, state.free))
    except LearnersBug as bug:
        stopped = f"{where}: {bug}."
    return tuple(rows), source_of(made), stopped


def _carried_out(allocator: Watched, operation: Operation, tokens: dict[Hashable, int]) -> str:
    """The operation in words; `tokens` is how many each live request has, and is kept up to date."""
    name, count = operation.request, len(operation.tokens)
    refusal, found = allocator.call(operation, refusal_due=False)
    if refusal is not None:
        return f"{operation.kind} {name}: refused, {refusal}"
    if operation.kind == "allocate":
        tokens[name] = count
        return f"allocate {name}: {count} tokens" + (f", {found} of them found" if found is not None else "")
    if operation.kind == "append":
        tokens[name] += 1
        return f"append to {name}: token {tokens[name]}"
    if operation.kind == "fork":
        tokens[name] = tokens[operation.parent]
        return f"fork {operation.parent} as {name}"
    del tokens[name]
    return f"free {name}"


def _of_schedule(scenario: Scenario, made: Any) -> tuple[tuple[Row, ...], str, str]:
    """As of a script: a row a step, as the scheduler has it when it has made its moves."""
    try:
        scheduler: Any = checked_policy(made)
    except LearnersBug as bug:
        return (), source_of(made), f"Before step 1: {bug}."
    missing = [name for name in _SEATS if not has(scheduler, name)]
    if missing:
        raise TypeError(f"a trace shows who has which seat, but {arguments.shown(made)} has no {', '.join(missing)}")
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

    broken = play_schedule(scenario, Noting()).broken
    return tuple(rows), source_of(made), str(broken) if broken is not None and broken.name == "bug" else ""


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
