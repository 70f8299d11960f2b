"""What is seen of an allocator from outside, whoever wrote it: its tables and its free blocks, before and after."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.paging.learners_code import LearnersBug, bug, is_refusal, sentence_of
from llmserving.paging.script import Operation


@dataclass(frozen=True)
class State:
    """One look. tables: of every request that has one. num_tokens: where the allocator tells. free: the numbers of the
    free blocks, None where it only counts them; `ordered` where they stand in the order of a list.
    """

    tables: Mapping[Hashable, tuple[int, ...]]
    num_tokens: Mapping[Hashable, int]
    free: tuple[int, ...] | None
    free_count: int
    ordered: bool

    def holders(self, block: int, *, but: Hashable = None) -> list[Hashable]:
        """The requests whose tables hold this block, without one."""
        return [name for name, table in self.tables.items() if block in table and name != but]


@dataclass(frozen=True)
class Observation:
    """One operation: what was asked, what came of it, and the looks before and after.

    number: of the operation, from 1. refusal: its sentence, None where it went through. could: what can_allocate or
    can_append had said, None where it was not asked. found: prompt tokens that allocate reports as found in its cache.
    misuse: the name and the sentence of the rule that this operation breaks, so that it must be refused. old_lengths,
    lengths: the tokens of each live request before and after, as the script has it.
    """

    number: int
    operation: Operation
    before: State
    after: State
    refusal: str | None
    could: bool | None
    found: int
    misuse: tuple[str, str] | None
    old_lengths: Mapping[Hashable, int]
    lengths: Mapping[Hashable, int]
    num_blocks: int
    block_size: int

    @property
    def old_table(self) -> tuple[int, ...]:
        return self.before.tables.get(self.operation.request, ())

    @property
    def table(self) -> tuple[int, ...]:
        return self.after.tables.get(self.operation.request, ())

    @property
    def written(self) -> tuple[int, ...]:
        """The blocks into which this operation wrote tokens."""
        if self.refusal is not None or self.operation.kind not in ("allocate", "append"):
            return ()
        first = self.found if self.operation.kind == "allocate" else self.old_lengths[self.operation.request]
        return self.table[first // self.block_size :][: None if self.operation.kind == "allocate" else 1]


def look(allocator: Any, live: Iterable[Hashable], gone: Iterable[Hashable]) -> State:
    """The tables of `live` requests, and those that `gone` ones should not have; LearnersBug where it cannot be read."""
    tables, tokens = {}, {}
    for name in live:
        try:
            tables[name] = _numbers(allocator.table(name))
        except Exception as error:
            raise LearnersBug(f"the table of {name!r}, which is still running, cannot be read: {_why(error)}") from None
        if callable(getattr(allocator, "num_tokens", None)):
            try:
                tokens[name] = operator.index(allocator.num_tokens(name))
            except Exception as error:
                raise bug("num_tokens", error) from None
    for name in gone:
        try:
            tables[name] = _numbers(allocator.table(name))
        except Exception:  # whatever says that there is no such table is right
            tables.pop(name, None)
    return State({name: table for name, table in tables.items() if table}, tokens, *_free_blocks(allocator))


def _free_blocks(allocator: Any) -> tuple[tuple[int, ...] | None, int, bool]:
    try:
        free = allocator.free_blocks
        free = free() if callable(free) else free
        if hasattr(free, "__index__"):
            return None, operator.index(free), False
        if isinstance(free, Iterator):
            raise TypeError(
                "free_blocks is an iterator, which can be read only once; a list, a set or a number will do"
            )
        ordered = isinstance(free, Sequence | deque | KeysView | Mapping)
        numbers = _numbers(free if ordered or not isinstance(free, Set) else sorted(free))
    except Exception as error:
        raise LearnersBug(f"free_blocks cannot be read: {_why(error)}") from None
    return numbers, len(numbers), ordered


def _numbers(found: Any) -> tuple[int, ...]:
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise TypeError(f"a list of block numbers was expected, but it is {arguments.shown(found)}")
    blocks = tuple(found)
    wrong = [block for block in blocks if not hasattr(block, "__index__")]
    if wrong:
        raise TypeError(f"a list of block numbers was expected, but {arguments.shown(wrong[0])} is in it")
    return tuple(operator.index(block) for block in blocks)


def _why(error: Exception) -> str:
    if is_refusal(error, due=False):
        return sentence_of(error)
    return str(bug("reading it", error))
