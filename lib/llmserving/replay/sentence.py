"""What an event did, in a sentence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from llmserving.events import Event
from llmserving.replay.log import request_name
from llmserving.replay.pool import PoolState
from llmserving.units import format_number

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
MOST_NAMED = 6  # blocks or requests in a sentence; of more, only the number


def sentence(state: PoolState) -> str:
    """What the last event before `state` did."""
    if state.last is None:
        return f"Nothing has happened yet: all {state.num_blocks:,} blocks are free."
    said = _paging(state.last, state) or _scheduling(state.last)
    return f"R{said[1:]}" if said.startswith("request ") else said


def _paging(event: Event, state: PoolState) -> str:
    name, taken = request_name(event.request), blocks_named(event.blocks)
    match event.kind:
        case "allocate":
            found = event.cached_blocks
            whence = (
                f"; {blocks_named(event.blocks[:found])} {_is(event.blocks[:found])} from the prefix cache"
                if found
                else ""
            )
            return f"{name} gets {taken} for its {event.tokens:,} tokens{whence}."
        case "append":
            return f"{name} takes {taken} for its next token: its other blocks are full."
        case "copy":
            held = len(state.owners[event.source]) + 1 if isinstance(event.source, int) else 0
            holders = counted(held, "request")
            return f"{name} copies block {event.source} into {taken} before it writes: {holders} held block {event.source}."
        case "fork":
            return f"{name} shares {taken} of {request_name(event.source)}; nothing is copied."
        case "cache":
            return f"{taken.capitalize()} is full, and can be found by its prefix from now on."
        case "evict":
            return f"{taken.capitalize()} loses its cached content: it is about to be written again."
        case "free":
            return f"{name} gives {taken} back{_left_behind(event, state)}."
        case "write":
            inside = (event.tokens - 1) % state.block_size + 1
            return f"{name} writes its token number {event.tokens:,} into {taken}, slot {inside} of {state.block_size}."
    return ""


def _left_behind(event: Event, state: PoolState) -> str:
    kept = [block for block in event.blocks if state.owners[block]]
    found = [block for block in event.blocks if block in state.cached and block not in kept]
    parts = [f"{blocks_named(kept)} {_is(kept)} still in another table"] if kept else []
    if found:
        parts.append(f"{blocks_named(found)} {_is(found)} free and can still be found")
    return "".join(f"; {part}" for part in parts)


def _scheduling(event: Event) -> str:
    name, when = request_name(event.request), f"{format_number(event.time_s, 4)} s"
    match event.kind:
        case "arrive":
            return f"{name} arrives at {when} and waits."
        case "reject":
            return f"{name} arrives at {when}, can never fit, and is rejected."
        case "prefill":
            return (
                f"{name} computes its prompt up to {counted(event.tokens, 'token')} in the step that begins at {when}."
            )
        case "first token":
            return f"{name} has its first token at {when}."
        case "preempt":
            return f"{name} gives its blocks back at {when} and waits again, in front of all others."
        case "recomputed":
            return f"{name} has all that it lost computed again at {when}, and decodes again."
        case "resume":
            return f"{name} has its swapped-out cache back at {when} and decodes again."
    return f"{name} has its last token at {when}, and its blocks are free."


def blocks_named(blocks: Sequence[int]) -> str:
    """`block 3`, `blocks 3, 4 and 7`, or `12 blocks`."""
    if len(blocks) > MOST_NAMED:
        return f"{len(blocks):,} blocks"
    return f"block{'s' * (len(blocks) != 1)} {listed([str(block) for block in blocks])}"


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def counted(count: int, noun: str) -> str:
    """A number below ten in words, and the noun in its number.

    >>> counted(1, "block"), counted(12, "block")
    ('one block', '12 blocks')
    """
    number = WORDS[count] if 0 <= count < len(WORDS) else f"{count:,}"
    return f"{number} {noun}{'s' * (count != 1)}"


def names_listed(requests: Sequence[Hashable]) -> str:
    """The names of requests as a sentence lists them."""
    return listed([request_name(request) for request in requests])


def _is(blocks: Sequence[int]) -> str:
    return "is" if len(blocks) == 1 else "are"
