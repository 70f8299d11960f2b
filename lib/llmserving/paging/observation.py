"""What is seen of an allocator from outside, whoever wrote it: its tables and its free blocks, before and after."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from llmserving.paging.holders import Holders
from llmserving.paging.operation import Operation


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

    def changed(self, since: State) -> tuple[Hashable, ...]:
        """The requests whose table is another than at an earlier look, those without one now among them."""
        gone_or_other = [name for name, table in since.tables.items() if self.tables.get(name) is not table]
        return (*gone_or_other, *(name for name in self.tables if name not in since.tables))


@dataclass(frozen=True)
class Observation:
    """One operation: what was asked, what came of it, and the looks before and after.

    number: of the operation, from 1. refusal: its sentence, None where it went through. could: what can_allocate or
    can_append had said, None where it was not asked. found: prompt tokens that allocate reports as found in its cache.
    misuse: the name and the sentence of the rule that this operation breaks, so that it must be refused. old_lengths,
    lengths: the tokens of each live request before and after, as the script has it. due: the free blocks that it needs at
    most. holders: who holds which block after it.
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
    due: int
    holders: Holders
    num_blocks: int
    block_size: int

    @cached_property
    def concerned(self) -> tuple[Hashable, ...]:
        """The operation's request, and all whose table changed: what was right of the others before is right still."""
        return tuple(dict.fromkeys([self.operation.request, *self.after.changed(self.before)]))

    @property
    def old_table(self) -> tuple[int, ...]:
        return self.before.tables.get(self.operation.request, ())

    @property
    def table(self) -> tuple[int, ...]:
        return self.after.tables.get(self.operation.request, ())

    @property
    def hits(self) -> tuple[int, ...]:
        """The blocks that allocate says it found in its prefix cache."""
        return self.table[: -(-self.found // self.block_size)]

    @property
    def written(self) -> tuple[int, ...]:
        """The blocks into which this operation wrote tokens."""
        if self.refusal is not None or self.operation.kind not in ("allocate", "append"):
            return ()
        first = self.found if self.operation.kind == "allocate" else self.old_lengths[self.operation.request]
        return self.table[first // self.block_size :][: None if self.operation.kind == "allocate" else 1]
