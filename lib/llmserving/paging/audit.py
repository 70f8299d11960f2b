"""The invariants of an allocator, each with a name, held against what was seen; the first broken one, in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from llmserving.events import Event
from llmserving.paging import block_checks, call_checks, pool_checks
from llmserving.paging.expected import Expected
from llmserving.paging.observation import Observation, State
from llmserving.paging.physical_memory import PhysicalMemory

# In the order in which they are asked: what explains most comes first, what merely follows from it later.
BLOCK_CHECKS: Mapping[str, Callable[[Observation], str | None]] = {
    "no such block": block_checks.blocks_exist,
    "other table": block_checks.others_are_left_alone,
    "stale table": block_checks.no_stale_table,
    "fork": block_checks.a_fork_shares,
    "copy-on-write": block_checks.copied_before_written,
    "handed out twice": block_checks.handed_out_once,
    "needless copy": block_checks.no_needless_copy,
    "boundary": block_checks.just_enough_blocks,
    "full hit": block_checks.something_is_left_to_compute,
    "twice": block_checks.each_block_once,
    "free while held": pool_checks.free_or_held,
    "leak": pool_checks.nothing_leaks,
    "count": pool_checks.the_count_is_right,
    "num_tokens": block_checks.tokens_are_counted,
    "can": call_checks.can_says_the_same,
}
CALL_NAMES = ("refusal", "needless refusal", "double free", "use after free", "unknown name", "taken name")
MEMORY_NAMES = ("wrong hit", "read back")
NAMES = (*CALL_NAMES, *BLOCK_CHECKS, *MEMORY_NAMES, "bug")  # every name that a BrokenInvariant can have


@dataclass(frozen=True)
class BrokenInvariant:
    """The first thing that went wrong. operation: its number, from 1, or 0 before the first. event: the last that it
    left, None where it left none. sentence: with the operation, the request and the block.
    """

    name: str
    operation: int
    event: Event | None
    sentence: str


class Audit:
    """Asks every check after every operation; `expected` is what the script has made so far."""

    def __init__(self, block_size: int) -> None:
        self.expected = Expected(block_size)
        self._memory = PhysicalMemory(block_size)

    def fault(self, seen: Observation) -> tuple[str, str] | None:
        """The name and the words of the first invariant that this operation broke, None where all of them hold.

        `expected` has taken the operation in already where it went through and had a right to.
        """
        if seen.refusal is not None:
            return self._fault_of_refusal(seen)
        if seen.misuse:
            return seen.misuse
        return _first(seen) or self._fault_in_memory(seen)

    def _fault_of_refusal(self, seen: Observation) -> tuple[str, str] | None:
        faults = {
            "refusal": call_checks.refusal_changes_nothing(seen),
            "needless refusal": call_checks.no_needless_refusal(seen),
            "can": call_checks.can_says_the_same(seen),
        }
        return next(((name, words) for name, words in faults.items() if words), None)

    def _fault_in_memory(self, seen: Observation) -> tuple[str, str] | None:
        """Found tokens must lie where the table says, what is new is written, and the request must read what is its own.

        The others still read theirs: the checks before this one say that their tables are as they were, and that nothing
        was written into a block that is in one of them.
        """
        name = seen.operation.request
        contents = self.expected.contents
        if seen.operation.kind == "allocate":
            token = self._memory.misread(seen.table, contents[name][: seen.found])
            if token is not None:
                block = seen.table[token // seen.block_size]
                tokens = f"{seen.found} token{' is' if seen.found == 1 else 's are'}"
                return "wrong hit", (
                    f"allocate returned {seen.found}, so {tokens} said to be cached, but block {block} does not hold token "
                    f"number {token + 1} after the same prefix under the same key; without a prefix cache, return None or 0"
                )
        self._memory.carry_out(seen, contents.get(name, []))
        token = self._memory.misread(seen.table, contents.get(name, []), self._memory.first_moved(seen))
        if token is None:
            return None
        block = seen.table[token // seen.block_size]
        return "read back", (
            f"{name!r} does not read back its own tokens: its token number {token + 1} should be in block "
            f"{block}, slot {token % seen.block_size + 1} of {seen.block_size}, and something else is there"
        )


def fault_at_the_start(state: State, num_blocks: int) -> tuple[str, str] | None:
    """An allocator that is played must be fresh: all of its blocks are free."""
    if state.free_count != num_blocks:
        return "count", f"{state.free_count} blocks are free, of {num_blocks}; all of them should be"
    missing = sorted(set(range(num_blocks)) - set(state.free)) if state.free is not None else []
    return ("no such block", f"block {missing[0]} is not free; the pool has 0 to {num_blocks - 1}") if missing else None


def _first(seen: Observation) -> tuple[str, str] | None:
    for name, check in BLOCK_CHECKS.items():
        words = check(seen)
        if words:
            return name, words
    return None
