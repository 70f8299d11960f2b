"""Play a script on an allocator, whoever wrote it, and see what happens: events, refusals, the first broken invariant.

The allocator is watched from outside only; `Allocator` says what it needs. A play takes time for each operation in
proportion to the free blocks and the tables there are, since an operation may spoil any of them: 4,000 operations over 4,000
blocks take seconds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from llmserving.events import Event
from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.audit import Audit, BrokenInvariant, fault_at_the_start
from llmserving.paging.call_checks import asking_changed, returned_refusal
from llmserving.paging.changes import events_of
from llmserving.paging.found_blocks import FoundBlocks
from llmserving.paging.holders import Holders
from llmserving.paging.learners_code import LearnersBug
from llmserving.paging.observation import Observation, State
from llmserving.paging.operation import Operation, operations_of
from llmserving.paging.playback import Outcome, Playback
from llmserving.paging.script import Script
from llmserving.paging.watched import Watched, tokens_found


def play(
    script: Script | Iterable[Any], allocator: Any = None, num_blocks: Any = None, block_size: Any = None
) -> Playback:
    """Play a script, or a list of operations, on an allocator with a pool of `num_blocks` blocks of `block_size` tokens.

    allocator: a class or a function, called with (num_blocks, block_size), or an object that was never used before; by
    default the course's own. `help(Allocator)` says what its methods are to do. num_blocks and block_size are by default
    those of the script.
    """
    if not isinstance(script, Script):
        if num_blocks is None or block_size is None:
            raise TypeError("num_blocks and block_size are needed to play a list of operations; a Script has its own")
        script = Script("a script", operations_of(script), num_blocks, block_size)
    script = replace(
        script,
        num_blocks=script.num_blocks if num_blocks is None else num_blocks,
        block_size=script.block_size if block_size is None else block_size,
    )
    if allocator is None:
        allocator = _own(script.prefix_caching)
    return _Player(script).play(allocator)


def _own(prefix_caching: bool) -> Any:
    return lambda num_blocks, block_size: PagedAllocator(num_blocks, block_size, prefix_caching)


class _Player:
    """Carries out one operation after the other, and notes what is seen. `_events` are by the operation's number."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._audit = Audit(script.block_size)
        self._holders = Holders()
        self._found = FoundBlocks(script.block_size)
        self._events: list[list[Event]] = [[]]
        self._refusals: list[str | None] = [None]
        self._broken: BrokenInvariant | None = None

    def play(self, allocator: Any) -> Playback:
        operations, num_blocks = self._script.operations, self._script.num_blocks
        try:
            self._watched = Watched(allocator, num_blocks, self._script.block_size)
            self._state, self._lengths = self._watched.look(()), self._audit.expected.lengths
            self._break(0, fault_at_the_start(self._state, num_blocks))
        except LearnersBug as bug:
            self._break(0, ("bug", str(bug)))
        for number, operation in enumerate(operations, 1):
            if self._broken:
                break
            self._events.append([])
            self._refusals.append(None)
            try:
                self._step(number, operation)
            except LearnersBug as bug:
                self._break(number, ("bug", str(bug)))
        outcomes = [
            Outcome(tuple(events), refusal) for events, refusal in zip(self._events, self._refusals, strict=True)
        ]
        return Playback(operations, num_blocks, self._script.block_size, tuple(outcomes[1:]), self._broken)

    def _step(self, number: int, operation: Operation) -> None:
        expected, before, lengths = self._audit.expected, self._state, self._lengths
        misuse = expected.misuse(operation)
        due = 0 if misuse else expected.blocks_due(operation, before.tables.get(operation.request, ()), self._holders)
        could = None if misuse else self._watched.can(operation)
        if could is not None:
            changed = asking_changed(before, self._look_again(operation.request), f"can_{operation.kind}")
            if changed:
                self._break(number, ("can", changed))
                return
        refusal_due = misuse is not None or due > before.free_count
        refusal, answer = self._watched.call(operation, refusal_due=refusal_due)
        if refusal is None and misuse is None:
            fault = returned_refusal(operation, answer, before.free_count, due)
            if fault and self._look([operation.request] * (operation.kind == "allocate")).tables == before.tables:
                self._break(number, fault)
                return
            expected.take_in(operation)
            self._lengths = expected.lengths
        # A name that has no table is asked for only once: a defaultdict would make one for it.
        gone = [operation.request] if operation.kind != "append" and operation.request not in expected.contents else []
        self._state = self._look(gone)
        for name in self._state.changed(before):
            self._holders.move(name, before.tables.get(name, ()), self._state.tables.get(name, ()))
        seen = Observation(
            number, operation, before, self._state, refusal, could, tokens_found(operation, answer), misuse, lengths,
            self._lengths, due, self._holders, self._script.num_blocks, self._script.block_size,
        )  # fmt: skip
        self._refusals[number] = refusal
        self._events[number] += events_of(seen, self._watched.logged())
        fault = self._audit.fault(seen)
        if fault is None and refusal is None:
            for filled, event in self._found.missing(seen, self._events[number]):
                last = self._events[filled][-1]
                self._events[filled].append(event._replace(free_blocks=last.free_blocks, free_list=last.free_list))
        self._break(number, fault)

    def _look(self, gone: Iterable[Hashable] = ()) -> State:
        return self._watched.look(self._audit.expected.contents, gone, self._state)

    def _look_again(self, request: Hashable) -> State:
        """The last look, with what is free now and with what one request holds now."""
        last, live = self._state, [request] if request in self._audit.expected.contents else []
        now = self._watched.look(live, (), last)
        tables = {**last.tables, **dict.fromkeys(live, ()), **now.tables}
        return replace(now, tables=tables, num_tokens={**last.num_tokens, **now.num_tokens})

    def _break(self, number: int, fault: tuple[str, str] | None) -> None:
        """The playback ends here where there is a fault."""
        if fault is None:
            return
        name, words = fault
        event = self._events[number][-1] if self._events[number] else None
        where = f"Operation {number}, {self._script.operations[number - 1]}" if number else "Before operation 1"
        self._broken = BrokenInvariant(name, number, event, f"{where}: {words}.")
