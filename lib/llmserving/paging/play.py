"""Play a script on an allocator, whoever wrote it, and see what happens: events, refusals, the first broken invariant.

The allocator is watched from outside only. It needs the methods of PagedAllocator that the script calls, `table` and
`free_blocks`; what its methods return may be None. `free_blocks` is a number, a list, a set, a deque, or a method that
returns one of those. Where it also has can_allocate, can_append or num_tokens, they must agree with what it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from llmserving.events import Event
from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.audit import Audit, BrokenInvariant, fault_at_the_start
from llmserving.paging.call_checks import asking_changed
from llmserving.paging.changes import events_of
from llmserving.paging.found_blocks import FoundBlocks
from llmserving.paging.learners_code import LearnersBug
from llmserving.paging.observation import Observation
from llmserving.paging.playback import Outcome, Playback
from llmserving.paging.script import Operation, Script, operations_of
from llmserving.paging.watched import Watched


def play(
    script: Script | Iterable[Any], allocator: Any = None, num_blocks: Any = None, block_size: Any = None
) -> Playback:
    """Play a script, or a list of operations, on an allocator with a pool of `num_blocks` blocks of `block_size` tokens.

    allocator: a class or a function, called with (num_blocks, block_size), or an object that was never used before; by
    default the course's own. num_blocks and block_size are by default those of the script.
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
        self._found = FoundBlocks(script.block_size)
        self._events: list[list[Event]] = [[]]
        self._refusals: list[str | None] = [None]
        self._broken: BrokenInvariant | None = None

    def play(self, allocator: Any) -> Playback:
        operations, num_blocks = self._script.operations, self._script.num_blocks
        try:
            self._watched = Watched(allocator, num_blocks, self._script.block_size)
            self._state = self._watched.look(())
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
        expected, before = self._audit.expected, self._state
        misuse, old_lengths = expected.misuse(operation), expected.lengths
        could = None if misuse else self._watched.can(operation)
        if could is not None:
            changed = asking_changed(before, self._watched.look(expected.contents), f"can_{operation.kind}")
            if changed:
                self._break(number, ("can", changed))
                return
        due = misuse is not None or expected.blocks_due(operation, before) > before.free_count
        refusal, found = self._watched.call(operation, refusal_due=due)
        if refusal is None and misuse is None:
            expected.take_in(operation)
        # A name that has no table is asked for only once: a defaultdict would make one for it.
        gone = [operation.request] if operation.kind != "append" and operation.request not in expected.contents else []
        self._state = self._watched.look(expected.contents, gone)
        seen = Observation(
            number, operation, before, self._state, refusal, could, found, misuse, old_lengths, expected.lengths,
            self._script.num_blocks, self._script.block_size,
        )  # fmt: skip
        self._refusals[number] = refusal
        self._events[number] += events_of(seen, self._watched.logged())
        fault = self._audit.fault(seen)
        if fault is None and refusal is None:
            for filled, event in self._found.missing(seen, self._events[number]):
                last = self._events[filled][-1]
                self._events[filled].append(event._replace(free_blocks=last.free_blocks, free_list=last.free_list))
        self._break(number, fault)

    def _break(self, number: int, fault: tuple[str, str] | None) -> None:
        """The playback ends here where there is a fault."""
        if fault is None:
            return
        name, words = fault
        event = self._events[number][-1] if self._events[number] else None
        where = f"Operation {number}, {self._script.operations[number - 1]}" if number else "Before operation 1"
        self._broken = BrokenInvariant(name, number, event, f"{where}: {words}.")
