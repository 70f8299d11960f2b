"""What must be true of tables and blocks after an operation that went through; each check says what is wrong, or None."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from llmserving.paging.block_table import blocks_needed
from llmserving.paging.observation import Observation


def blocks_exist(seen: Observation) -> str | None:
    for name, table in seen.after.tables.items():
        for block in table:
            if not 0 <= block < seen.num_blocks:
                return f"block {block} in the table of {name!r} does not exist; the pool has 0 to {seen.num_blocks - 1}"
    for block in seen.after.free or ():
        if not 0 <= block < seen.num_blocks:
            return f"block {block} in the free list does not exist; the pool has 0 to {seen.num_blocks - 1}"
    return None


def others_are_left_alone(seen: Observation) -> str | None:
    for name, table in seen.before.tables.items():
        if name != seen.operation.request and seen.after.tables.get(name) != table:
            after = list(seen.after.tables.get(name, ()))
            return f"the table of {name!r} changed too, from {list(table)} to {after}; this is no matter of {name!r}"
    return None


def no_stale_table(seen: Observation) -> str | None:
    for name, table in seen.after.tables.items():
        if name not in seen.lengths:
            return f"{name!r} has no tokens any more and still has the table {list(table)}"
    return None


def a_fork_shares(seen: Observation) -> str | None:
    if seen.operation.kind != "fork":
        return None
    table = seen.after.tables.get(seen.operation.parent, ())
    if seen.table == table:
        return None
    child, parent = seen.operation.request, seen.operation.parent
    return (
        f"the table of {child!r} is {list(seen.table)}; it shares that of {parent!r}, {list(table)}, and takes no block"
    )


def copied_before_written(seen: Observation) -> str | None:
    for block in seen.written:
        holders = seen.after.holders(block, but=seen.operation.request)
        if seen.operation.kind == "append" and block in seen.old_table and holders:
            reads = f"{listed(holders)} still {'reads' if len(holders) == 1 else 'read'} it"
            return f"block {block} was written while {reads}; copy it first (copy-on-write)"
    return None


def handed_out_once(seen: Observation) -> str | None:
    for block in seen.written:
        holders = seen.after.holders(block, but=seen.operation.request)
        if holders:
            advice = ""
            if seen.operation.kind == "allocate":
                advice = "; if it was found in a prefix cache, allocate returns how many tokens were"
            return f"block {block} belongs to {listed(holders)} and was given to {seen.operation.request!r} too{advice}"
    return None


def no_needless_copy(seen: Observation) -> str | None:
    old, new = seen.old_table, seen.table
    if seen.operation.kind != "append" or len(old) != len(new) or old[-1] == new[-1]:
        return None
    if seen.old_lengths[seen.operation.request] % seen.block_size == 0 or seen.before.holders(
        old[-1], but=seen.operation.request
    ):
        return None
    name = seen.operation.request
    return f"block {old[-1]} was replaced by block {new[-1]}, and {name!r} was its only owner: it writes in place"


def just_enough_blocks(seen: Observation) -> str | None:
    for name, tokens in seen.lengths.items():
        needed, has = blocks_needed(tokens, seen.block_size), len(seen.after.tables.get(name, ()))
        if has != needed:
            whose = "the table" if name == seen.operation.request else f"the table of {name!r}"
            rest = ("1 is" if needed == 1 else f"{needed} are") + (" enough" if has > needed else " needed")
            return f"{whose} has {_count(has, 'block')} for {_count(tokens, 'token')}; {rest}"
    return None


def something_is_left_to_compute(seen: Observation) -> str | None:
    if seen.operation.kind == "allocate" and seen.found >= len(seen.operation.tokens):
        return "the whole prompt was found in the cache, so nothing is left to compute a logit from"
    return None


def each_block_once(seen: Observation) -> str | None:
    places = [(f"the table of {name!r}", table) for name, table in seen.after.tables.items()]
    for place, numbers in [*places, ("the free list", seen.after.free or ())]:
        for block in numbers:
            if numbers.count(block) > 1:
                return f"block {block} is in {place} twice"
    return None


def free_or_held(seen: Observation) -> str | None:
    for block in seen.after.free or ():
        holders = seen.after.holders(block)
        if holders:
            hold = "holds" if len(holders) == 1 else "hold"
            return f"block {block} is in the free list while {listed(holders)} {hold} it; it would be given out"
    return None


def nothing_leaks(seen: Observation) -> str | None:
    if seen.after.free is None:
        return None
    for block in range(seen.num_blocks):
        if block not in seen.after.free and not seen.after.holders(block):
            return f"block {block} is in no table and not free: it has leaked"
    return None


def the_count_is_right(seen: Observation) -> str | None:
    held = len({block for table in seen.after.tables.values() for block in table})
    free = seen.after.free_count
    if free + held == seen.num_blocks:
        return None
    return f"{_count(free, 'block')} {'is' if free == 1 else 'are'} free and {held} in tables, of {seen.num_blocks}"


def tokens_are_counted(seen: Observation) -> str | None:
    for name, tokens in seen.after.num_tokens.items():
        if name in seen.lengths and tokens != seen.lengths[name]:
            return f"num_tokens says {tokens} for {name!r}, which has {_count(seen.lengths[name], 'token')}"
    return None


def listed(names: Iterable[Hashable]) -> str:
    """'a' · 'a' and 'b' · 'a', 'b' and 'c'."""
    texts = [repr(name) for name in names]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
