"""What an allocator refuses: each a sentence in the words of paging, and nothing has changed when it is raised."""

from __future__ import annotations


class NoFreeBlocksError(RuntimeError):
    """The pool has too few free blocks for what was asked."""


class UnknownRequestError(KeyError):
    """No block table has this name: it never had one, or it was freed."""

    def __str__(self) -> str:  # a KeyError would show its sentence in quotes
        return str(self.args[0])
