"""What an allocator answers must be so: it refuses what it must, nothing else, and a refused call changes nothing."""

from __future__ import annotations

from llmserving import arguments
from llmserving.paging.block_pool import blocks
from llmserving.paging.observation import Observation, State
from llmserving.paging.operation import Operation


def refusal_changes_nothing(seen: Observation) -> str | None:
    changed = _changed(seen.before, seen.after)
    return f"it was refused and yet {changed}" if changed else None


def no_needless_refusal(seen: Observation) -> str | None:
    free, due = seen.before.free_count, seen.due
    if seen.misuse or due > free:
        return None
    enough = "it needs no block" if not due else f"{blocks(free)} free and {due} {'is' if due == 1 else 'are'} enough"
    return f"it was refused ({seen.refusal}), although {enough}"


def can_says_the_same(seen: Observation) -> str | None:
    asked, did = f"can_{seen.operation.kind}", seen.operation.kind
    if seen.could is None or seen.could == (seen.refusal is None):
        return None
    return f"{asked} said yes, and {did} refused" if seen.could else f"{asked} said no, and {did} went through"


def asking_changed(before: State, after: State, method: str) -> str | None:
    """can_x only asks."""
    changed = _changed(before, after)
    return f"{method} {changed}, and it should only look" if changed else None


def returned_refusal(operation: Operation, answer: object, free: int, due: int) -> tuple[str, str] | None:
    """A call that returned and did nothing, though it needs `due` blocks, of `free`: it should have raised its refusal."""
    if operation.kind == "append" and answer is not False:  # it may have written where it should not
        return None
    did = f"{operation.kind} returned {arguments.shown(answer)} and did nothing"
    rule = "a refusal is a raised exception, such as NoFreeBlocksError"
    are = "is" if due == 1 else "are"
    if due > free:
        return "refusal", f"{blocks(free)} free and {due} {are} needed, and {did}; {rule}"
    if due and answer is False:
        return "needless refusal", f"{did}, although {blocks(free)} free and {due} {are} enough; and {rule}"
    return None


def _changed(before: State, after: State) -> str | None:
    if before == after:
        return None
    for name in [*before.tables, *after.tables]:
        if before.tables.get(name) != after.tables.get(name):
            return f"changed the table of {name!r}"
        if before.num_tokens.get(name) != after.num_tokens.get(name):
            return f"changed the number of tokens of {name!r}"
    if before.free_count != after.free_count:
        lost = sorted(set(before.free or ()) - set(after.free or ()))
        which = f": block {lost[0]} is free no more" if lost else ""
        return f"changed the free blocks from {before.free_count} to {after.free_count}{which}"
    if before.free and after.free and sorted(before.free) != sorted(after.free):
        return "changed which blocks are free"
    return None
