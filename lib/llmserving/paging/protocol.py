"""What an allocator needs so that `play`, the explorer and a simulation can work with it, whoever wrote it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from llmserving.paging.prefix_cache import Key


class Allocator(Protocol):
    """An allocator of your own: any class with these methods, which need not name this one as its base.

    It is made with `(num_blocks, block_size)`: the pool has the blocks 0 to num_blocks - 1, each for the keys and values of
    block_size tokens, and all of them are free. A request is named by whoever calls, by a text or a number. Arguments are
    given by position, but for `key`.

    A refusal is a raised exception, such as NoFreeBlocksError or an error of your own; to return False or None is none. It
    is due where too few blocks are free, and where a request's name is unknown, freed already, or taken. It changes nothing:
    look first, then take. (A failed look-up such as `self.tables[request]` of a freed request counts as one. So does a
    failed `assert` where a refusal is due; anywhere else it is told as a bug.)

    A script needs `table`, `free_blocks` and those of the methods that it calls. These three you may leave out; where they
    are there, they must be right:

        can_allocate(tokens, key=None)   whether allocate would find room now; it changes nothing
        can_append(request)              the same of append
        num_tokens(request)              how many tokens the request has in the cache

    A simulation needs both can_allocate and can_append, and neither `table` nor `fork`.

    `play(script, YourAllocator)` plays a script and names the first thing that goes wrong.
    """

    @property
    def free_blocks(self) -> Any:
        """The blocks that are in no table: a list in the order in which they will be given out, or a set, a deque or
        another collection of their numbers, or only how many they are. An attribute, a property or a method.
        """

    def table(self, request: Hashable, /) -> Any:
        """The physical blocks of a request in the order of its tokens: token t is in block table[t // block_size].

        A list or a tuple, or a dict from logical blocks 0, 1, 2 and so on to physical ones. It has just as many blocks as the
        tokens need. Of a freed request there is none: raise an exception, or return an empty list.
        """

    def allocate(self, request: Hashable, tokens: list[int], /, *, key: Key = None) -> Any:
        """Give a new request blocks for the tokens of its prompt, at least one.

        What it returns is how many of these tokens it found in a prefix cache, in blocks that are shared or taken as they
        are instead of being computed: 0 to len(tokens) - 1. Without a prefix cache it returns 0, or None, or anything that
        is no whole number; not the number of blocks. A free block that is found leaves the free blocks, and leaves one less
        for the rest of the prompt.

        `key` (an adapter's name, a salt) sets requests apart whose keys and values differ for equal tokens: a block found
        must be of an equal key. It is passed as key=..., and only where a script has one; without a prefix cache it may be
        ignored, and an allocator without this argument plays all scripts that have no key.
        """

    def append(self, request: Hashable, token: int, /) -> Any:
        """Give one more token of a request its slot; what it returns is ignored.

        Before the call the token is not in the table, after it it is. A fresh block is taken where all blocks are full before
        the token. If the last block is partial and in another table too, a fresh block takes its place in this table, and
        what is in it is copied (copy-on-write); no other block of a table is ever replaced.
        """

    def fork(self, parent: Hashable, child: Hashable, /) -> Any:
        """A new request `child` with a table of its own that has the same blocks as that of `parent`; none is taken."""

    def free(self, request: Hashable, /) -> Any:
        """End a request: those of its blocks that are in no other table are free again, each once."""
