"""What happens when requests are served: one record for a change in the paging or in the schedule.

An event is written for a change, never for a token: a request that decodes 200 tokens undisturbed leaves two events,
when it starts and when it finishes. Figures and explorers are functions of a list of events.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, NamedTuple

PagingKind = Literal["allocate", "append", "copy", "fork", "cache", "evict", "free", "write"]
SchedulingKind = Literal["arrive", "reject", "prefill", "first token", "preempt", "recomputed", "resume", "finish"]
Kind = PagingKind | SchedulingKind


class Event(NamedTuple):
    """One change. Fields that a kind has no use for keep their default.

    Paging, with `blocks` the physical blocks concerned:
        allocate   `blocks` is the new table, of which the first `cached_blocks` were found in the prefix cache.
        append     `blocks` is the one fresh block that `request` takes for its next token.
        copy       copy-on-write: `request` now writes into `blocks[0]`, a copy of block `source`, which others keep.
        fork       `request` shares the table `blocks` of the request named by `source`.
        cache      the one block in `blocks` is full and can be found by its prefix from now on.
        evict      the one block in `blocks` loses its cached content: it is about to be written again.
        free       `request` gave up its table `blocks`; those without another owner are free.
        write      `request` wrote a token into the one block in `blocks`. Only a script that is stepped through has
                   these; an allocator on its own does not write them.

    Scheduling:
        arrive, reject   at the time of arrival; a request that can never fit is rejected.
        prefill          a step begins that computes the prompt up to `tokens` tokens in the cache, all of it or a chunk.
        first token      the step ends that gave the request its first token.
        preempt          the request gave its blocks back and waits again, in front of all others.
        recomputed       the step ends that computed the last of what a preempted request had lost, and it decodes again:
                         that step gave it a token, which is not its first.
        resume           a swapped-out request's cache is back, and it decodes again.
        finish           the last token is there and the blocks are free.
    """

    kind: Kind
    request: Hashable
    time_s: float = 0.0  # seconds since the start; of a paging event outside a simulation, 0
    step: int = 0  # how many engine steps had begun
    tokens: int = 0  # of this request in the cache after the event
    free_blocks: int = 0  # in the whole pool after the event
    blocks: tuple[int, ...] = ()
    source: Hashable = None
    cached_blocks: int = 0
    free_list: tuple[int, ...] = ()  # the free blocks in order, only where a script is stepped through
