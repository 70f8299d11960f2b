"""What must be true of tables and their blocks after an operation that went through; each check says what is wrong, or None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from llmserving.paging.block_table import blocks_needed
from llmserving.paging.observation import Observation


def blocks_exist(seen: Observation) -> str | None:
    places = [(f"the table of {name!r}", seen.after.tables.get(name, ())) for name in seen.concerned]
    for place, numbers in [*places, ("the free list", seen.after.free or ())]:
        if numbers and not (min(numbers) >= 0 and max(numbers) < seen.num_blocks):
            block = next(block for block in numbers if not 0 <= block < seen.num_blocks)
            return f"block {block} in {place} does not exist; the pool has 0 to {seen.num_blocks - 1}"
    return None


def others_are_left_alone(seen: Observation) -> str | None:
    for name in seen.concerned[1:]:
        if name in seen.before.tables:
            before, after = list(seen.before.tables[name]), list(seen.after.tables.get(name, ()))
            return f"the table of {name!r} changed too, from {before} to {after}; this is no matter of {name!r}"
    return None


def no_stale_table(seen: Observation) -> str | None:
    for name in seen.concerned:
        if name in seen.after.tables and name not in seen.lengths:
            return f"{name!r} has no tokens any more and still has the table {list(seen.after.tables[name])}"
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
        holders = seen.holders.others(block, seen.operation.request)
        if seen.operation.kind == "append" and block in seen.old_table and holders:
            reads = f"{listed(holders)} still {'reads' if len(holders) == 1 else 'read'} it"
            return f"block {block} was written while {reads}; copy it first (copy-on-write)"
    return None


def handed_out_once(seen: Observation) -> str | None:
    for block in seen.written:
        holders = seen.holders.others(block, seen.operation.request)
        if holders:
            advice = ""
            if seen.operation.kind == "allocate":
                advice = "; if it was found in a prefix cache, allocate returns how many tokens were"
            return f"block {block} belongs to {listed(holders)} and was given to {seen.operation.request!r} too{advice}"
    return None


def no_needless_copy(seen: Observation) -> str | None:
    old, new, name = seen.old_table, seen.table, seen.operation.request
    if seen.operation.kind != "append" or not old:
        return None
    partial = seen.old_lengths[name] % seen.block_size != 0
    read_only = len(old) - partial  # full blocks, into which no token goes
    if old[:read_only] != new[:read_only]:
        for before, after in zip(old[:read_only], new, strict=False):
            if before not in new and after not in old:
                return f"block {before} was replaced by block {after}, and is full: nothing is written into it any more"
    if not partial or len(old) != len(new) or old[-1] == new[-1] or seen.holders.others(old[-1], name):
        return None
    return f"block {old[-1]} was replaced by block {new[-1]}, and {name!r} was its only owner: it writes in place"


def just_enough_blocks(seen: Observation) -> str | None:
    for name in seen.concerned:
        if name not in seen.lengths:
            continue
        tokens = seen.lengths[name]
        needed, has = blocks_needed(tokens, seen.block_size), len(seen.after.tables.get(name, ()))
        if has != needed:
            whose = "the table" if name == seen.operation.request else f"the table of {name!r}"
            rest = ("1 is" if needed == 1 else f"{needed} are") + (" enough" if has > needed else " needed")
            return f"{whose} has {counted(has, 'block')} for {counted(tokens, 'token')}; {rest}"
    return None


def something_is_left_to_compute(seen: Observation) -> str | None:
    if seen.operation.kind == "allocate" and seen.found >= len(seen.operation.tokens):
        return (
            "the whole prompt was found in the cache, so nothing is left to compute a logit from: allocate returned "
            f"{seen.found}, and what it returns is how many tokens it found cached, at most all but the last"
        )
    return None


def each_block_once(seen: Observation) -> str | None:
    places = [(name, f"the table of {name!r}", seen.after.tables.get(name, ())) for name in seen.concerned]
    for name, place, numbers in [*places, (None, "the free list", seen.after.free or ())]:
        if len(set(numbers)) == len(numbers):
            continue
        block = next(block for block, times in Counter(numbers).items() if times > 1)
        if block in seen.hits and name == seen.operation.request:
            return (
                f"block {block} is in {place} twice: it was found in the prefix cache, and taken from the free list as a "
                "fresh block too; a free block that is found leaves the free list first"
            )
        return f"block {block} is in {place} twice"
    return None


def tokens_are_counted(seen: Observation) -> str | None:
    if seen.after.num_tokens == seen.lengths:
        return None
    for name, tokens in seen.after.num_tokens.items():
        if name in seen.lengths and tokens != seen.lengths[name]:
            return f"num_tokens says {tokens} for {name!r}, which has {counted(seen.lengths[name], 'token')}"
    return None


def listed(names: Iterable[Hashable]) -> str:
    """'a' · 'a' and 'b' · 'a', 'b' and 'c'."""
    texts = [repr(name) for name in names]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
