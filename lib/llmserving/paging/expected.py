"""What a script has made so far, whatever an allocator makes of it: who lives, with which tokens, and what is due next."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from llmserving.paging.block_table import blocks_needed
from llmserving.paging.holders import Holders
from llmserving.paging.operation import Operation

RAISED = "; it should raise an exception"


class Misuse(NamedTuple):
    """A rule that an operation breaks, so that it must be refused: the rule's name, and how it is told when it was not."""

    name: str
    sentence: str


class Expected:
    """Invariant: `contents[request]` has an entry for each token that a live request has in the cache.

    The entry stands for the token's keys and values. They depend on the key and on all tokens before it, so equal entries
    mean an equal token after an equal prefix under an equal key.
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.contents: dict[Hashable, list[int]] = {}
        self.freed: set[Hashable] = set()
        self._entries: dict[tuple[object, object], int] = {}

    @property
    def lengths(self) -> dict[Hashable, int]:
        """The tokens of each live request."""
        return {name: len(contents) for name, contents in self.contents.items()}

    def misuse(self, operation: Operation) -> Misuse | None:
        """Why the names in an operation do not allow it, None where they do."""
        kind, needs = operation.kind, operation.parent if operation.kind == "fork" else operation.request
        if kind != "allocate" and needs not in self.contents:
            if needs not in self.freed:
                return Misuse("unknown name", f"{needs!r} never had a table, and {kind} did not refuse{RAISED}")
            name = "double free" if kind == "free" else "use after free"
            return Misuse(name, f"{needs!r} was freed already, and {kind} did not refuse{RAISED}")
        if kind in ("allocate", "fork") and operation.request in self.contents:
            return Misuse(
                "taken name", f"{operation.request!r} has a table already, and {kind} did not refuse the name{RAISED}"
            )
        return None

    def blocks_due(self, operation: Operation, table: Sequence[int], holders: Holders) -> int:
        """Free blocks that an allowed operation needs at most; a prefix cache may save some of a prompt's.

        table: of its request before it, none of a new one. holders: who holds which block then.
        """
        if operation.kind == "allocate":
            return blocks_needed(len(operation.tokens), self.block_size)
        if operation.kind != "append":
            return 0
        full = len(self.contents[operation.request]) % self.block_size == 0
        return int(full or bool(table and holders.others(table[-1], operation.request)))

    def take_in(self, operation: Operation) -> None:
        """The operation went through."""
        name = operation.request
        if operation.kind == "allocate":
            self.contents[name] = []
            self._extend(name, self._entry(None, operation.key), operation.tokens)
        elif operation.kind == "append":
            self._extend(name, self.contents[name][-1], operation.tokens)
        elif operation.kind == "fork":
            self.contents[name] = list(self.contents[operation.parent])
        else:
            del self.contents[name]
            self.freed.add(name)
        if operation.kind != "free":
            self.freed.discard(name)

    def _extend(self, name: Hashable, entry: int, tokens: tuple[int, ...]) -> None:
        for token in tokens:
            entry = self._entry(entry, token)
            self.contents[name].append(entry)

    def _entry(self, before: int | None, what: object) -> int:
        return self._entries.setdefault((before, what), len(self._entries))
