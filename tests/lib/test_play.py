"""Claims about playing a script: right allocators pass, and what a wrong one breaks is named at the operation it breaks it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from llmserving.events import Event
from llmserving.paging import (
    FORK_AND_COPY,
    FORK_AT_A_BOUNDARY,
    FULL_POOL,
    SCRIPTS,
    SHARED_PREFIX,
    WHOLE_PROMPT_CACHED,
    PagedAllocator,
    Playback,
    Script,
    play,
)
from llmserving.paging.audit import NAMES
from llmserving.paging.script import allocate, append, append_each, fork
from llmserving.replay import replay_pool

from tests.lib.allocators import Caching, Counting, Naive
from tests.lib.wrong_allocators import WRONG


def cached(num_blocks: int, block_size: int) -> PagedAllocator:
    return PagedAllocator(num_blocks, block_size, prefix_caching=True)


class AsSet(Naive):
    """The free blocks as a set, and no block is handed out in order."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_blocks = set(self.free_blocks)

    def take(self) -> int:
        return int(self.free_blocks.pop())

    def free(self, request: Any) -> None:
        table = self.tables.pop(request)
        self.free_blocks |= {block for block in table if not any(block in other for other in self.tables.values())}


class AsDeque(Naive):
    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_blocks = deque(reversed(self.free_blocks))

    def take(self) -> int:
        return int(self.free_blocks.popleft())


# Right ones.


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
@pytest.mark.parametrize("allocator", [None, PagedAllocator, cached, Naive, Caching, AsSet, AsDeque, Counting])
def test_a_right_allocator_plays_every_script_to_its_end(script: Script, allocator: Any) -> None:
    before = repr(script)
    played = play(script, allocator)
    assert played.broken is None
    assert played.moments[-1].operation == len(script.operations)
    assert len(played.events) == played.moments[-1].events
    assert repr(script) == before


def test_an_object_is_played_as_well_as_its_class() -> None:
    assert play(FORK_AND_COPY, Naive(8, 4)) == play(FORK_AND_COPY, Naive)


def test_an_object_that_was_used_before_is_told_apart() -> None:
    used = Naive(8, 4)
    used.allocate("z", [1])
    broken = broken_in(play(FORK_AND_COPY, used))
    assert broken == ("count", 0, "Before operation 1: 7 blocks are free, of 8; all of them should be.")


def test_the_events_of_a_fork_and_a_copy() -> None:
    kinds = [(event.kind, event.request, event.blocks, event.source) for event in play(FORK_AND_COPY).events]
    assert kinds == [
        ("allocate", "a", (0, 1), None),
        ("fork", "b", (0, 1), "a"),
        ("copy", "b", (2,), 1),
        ("write", "a", (1,), None),
        ("write", "b", (2,), None),
        ("append", "b", (3,), None),
        ("free", "a", (0, 1), None),
        ("free", "b", (0, 2, 3), None),
    ]


def test_an_event_has_what_is_free_after_it() -> None:
    played = play(FORK_AND_COPY)
    assert [event.free_blocks for event in played.events] == [6, 6, 5, 5, 5, 4, 5, 8]
    assert [event.free_list for event in played.events[:3]] == [(2, 3, 4, 5, 6, 7)] * 2 + [(3, 4, 5, 6, 7)]
    assert all(len(event.free_list) == event.free_blocks for event in played.events)
    assert {event.free_list for event in play(FORK_AND_COPY, AsSet).events} == {()}
    assert [event.tokens for event in played.events] == [6, 6, 7, 7, 8, 9, 0, 0]


def test_the_log_of_our_allocator_is_the_playback_without_writes() -> None:
    log: list[Event] = []
    played = play(WHOLE_PROMPT_CACHED, PagedAllocator(6, 4, prefix_caching=True, log=log))
    outside = [event._replace(free_list=(), free_blocks=0) for event in played.events if event.kind != "write"]
    assert outside == [event._replace(free_blocks=0) for event in log]
    assert {"cache", "evict"} <= {event.kind for event in played.events}


def test_a_hit_is_an_event_with_its_blocks() -> None:
    allocated = [event for event in play(SHARED_PREFIX).events if event.kind == "allocate"]
    assert [event.cached_blocks for event in allocated] == [0, 2, 2]
    assert [event.cached_blocks for event in play(SHARED_PREFIX, Naive).events if event.kind == "allocate"] == [0, 0, 0]


def test_what_a_learners_prefix_cache_finds_was_cached_when_it_was_filled() -> None:
    played = play(SHARED_PREFIX, Caching)
    kinds = [(event.kind, event.request, event.blocks) for event in played.events]
    assert kinds[:4] == [
        ("allocate", "a", (0, 1, 2)),
        ("cache", "a", (0,)),
        ("cache", "a", (1,)),
        ("allocate", "b", (0, 1, 3)),
    ]
    assert [moment.operation for moment in played.moments[:5]] == [0, 1, 1, 1, 2]
    assert [event.cached_blocks for event in played.events if event.kind == "allocate"] == [0, 2, 2]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
@pytest.mark.parametrize("allocator", [None, Naive, Caching, AsSet, Counting])
def test_the_events_can_be_replayed(script: Script, allocator: Any) -> None:
    played = play(script, allocator)
    assert replay_pool(played.events, played.num_blocks, played.block_size).number == len(played.events)


def test_a_refusal_is_a_moment_without_an_event() -> None:
    moments = play(FULL_POOL).moments
    assert moments[3].event is None
    assert moments[3].events == moments[2].events == 2
    assert moments[3].refusal == "request 'c' needs 2 blocks and 0 blocks are free"


def test_the_pool_can_be_another_than_the_scripts() -> None:
    played = play(FORK_AND_COPY, Naive, num_blocks=5, block_size=16)
    assert (played.num_blocks, played.block_size, played.broken) == (5, 16, None)


# Wrong ones.


def broken_in(played: Playback) -> tuple[str, int, str]:
    assert played.broken is not None
    return played.broken.name, played.broken.operation, played.broken.sentence


@pytest.mark.parametrize(
    ("name", "allocator", "script", "operation", "words"), WRONG, ids=[f"{row[0]}-{row[1].__name__}" for row in WRONG]
)
def test_what_is_broken_is_named_at_its_operation(
    name: str, allocator: Any, script: Any, operation: int, words: str
) -> None:
    played = play(script, allocator, 5, 4) if isinstance(script, list) else play(script, allocator)
    told = broken_in(played)
    assert told[:2] == (name, operation), told[2]
    assert words in told[2]
    assert told[2].startswith(f"Operation {operation}, " if operation else "Before operation 1: ")
    assert played.moments[-1].operation == operation, "the playback ends there"
    assert played.broken is not None
    assert played.broken.event == played.moments[-1].event


# Bugs.


class Breaks(Naive):
    """Its append does what it is made with."""

    def __init__(self, num_blocks: int, block_size: int, append: Callable[[], Any]) -> None:
        super().__init__(num_blocks, block_size)
        self.does = append

    def append(self, request: Any, token: int) -> None:
        self.does()


def raising(error: Exception) -> Callable[[], Any]:
    def stop() -> None:
        raise error

    return stop


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (lambda: [][0], r"append stopped with a bug, IndexError: list index out of range, in <lambda>, line \d+: \(lambda"),
        (lambda: dict[str, int]()["b"], r"append stopped with a bug, KeyError: 'b', in <lambda>, line \d+"),
        (lambda: "a" + 1, r"append stopped with a bug, TypeError: can only concatenate str .*, in <lambda>, line \d+"),  # type: ignore[operator]
        (lambda: None.blocks, r"append stopped with a bug, AttributeError: 'NoneType' object has no attribute 'blocks', in"),  # type: ignore[attr-defined]
        (raising(NotImplementedError("L3.4: write append")), r"append is not written yet: L3.4: write append\.$"),
        (raising(NotImplementedError()), r"append is not written yet\.$"),
    ],
)  # fmt: skip
def test_a_bug_is_told_with_the_learners_own_line(does: Callable[[], Any], words: str) -> None:
    played = play(FORK_AND_COPY, lambda num_blocks, block_size: Breaks(num_blocks, block_size, does))
    name, operation, sentence = broken_in(played)
    assert (name, operation) == ("bug", 3)
    assert re.search(words, sentence)


class NoAppend:
    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.free_blocks = list(range(num_blocks))

    def table(self, request: Any) -> Any:
        return [0, 1]

    def allocate(self, request: Any) -> None: ...


class NoTable(Naive):
    def table(self, request: Any) -> Any:
        return None


class LosesTables(Naive):
    def fork(self, parent: Any, child: Any) -> None:
        self.tables[child] = self.tables.pop(parent)
        self.lengths[child] = self.lengths[parent]


class NeedsMore(Naive):
    def __init__(self, num_blocks: int, block_size: int, more: int) -> None: ...


class OnlyOnce(Naive):
    @property
    def free_blocks(self) -> Any:
        return iter([])

    @free_blocks.setter
    def free_blocks(self, value: Any) -> None: ...


@pytest.mark.parametrize(
    ("allocator", "script", "words"),
    [
        (NoAppend, [allocate("a", [1])], "Operation 1, allocate 'a': allocate cannot be called as the script calls it: "),
        (NoAppend, [fork("a", "b")], "Operation 1, fork 'a' as 'b': the allocator has no method fork."),
        (NoTable, [allocate("a", [1])], "the table of 'a', which is still running, cannot be read: a list of block numbers "
         "was expected, but it is None"),
        (LosesTables, FORK_AND_COPY, "Operation 2, fork 'a' as 'b': the table of 'a', which is still running, "
         "cannot be read: reading it stopped with a bug, KeyError: 'a', in table, line "),
        (NeedsMore, FORK_AND_COPY, "Before operation 1: NeedsMore(8, 4) cannot be called as the script calls it: "),
        (OnlyOnce, FORK_AND_COPY, "Before operation 1: free_blocks cannot be read: free_blocks is an iterator"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_told(allocator: Any, script: Any, words: str) -> None:
    played = play(script, allocator, 8, 4) if isinstance(script, list) else play(script, allocator)
    name, _, sentence = broken_in(played)
    assert name == "bug"
    assert sentence.startswith(words) or words in sentence


def test_every_name_is_broken_here() -> None:
    assert {row[0] for row in WRONG} | {"bug"} == set(NAMES)


def test_a_can_that_is_not_written_yet_is_not_asked() -> None:
    class Unwritten(Naive):
        def can_allocate(self, tokens: list[int], key: Any = None) -> bool:
            raise NotImplementedError("L3.4")

        def allocate(self, request: Any, tokens: list[int], key: Any = None) -> None:
            self.check_new(request)
            if self.blocks_for(len(tokens)) > len(self.free_blocks):
                raise RuntimeError("full")
            self.tables[request] = [self.take() for _ in range(self.blocks_for(len(tokens)))]
            self.lengths[request] = len(tokens)

    assert play(FULL_POOL, Unwritten).broken is None


# Scripts.


def test_append_each_is_that_many_appends() -> None:
    assert append_each("a", [1, 2]) == (append("a", 1), append("a", 2))
    assert [str(operation) for operation in FORK_AT_A_BOUNDARY.operations[:3]] == [
        "allocate 'a'", "fork 'a' as 'b'", "append to 'b'",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: play([allocate("a", [1])]), "num_blocks and block_size are needed to play a list of operations"),
        (lambda: play([], None, 8, 4), "has no operation: there is nothing to play"),
        (lambda: play([("allocate", "a")], None, 8, 4), "a script is made of operations such as allocate('a', range(6))"),
        (lambda: play(FORK_AND_COPY, None, 0), "num_blocks is the number of blocks in the pool and must be at least 1"),
        (lambda: play(FORK_AND_COPY, None, 8, 2.5), "block_size is the number of tokens in a block"),
        (lambda: play(FORK_AND_COPY, 7), "allocator is a class, a function of (num_blocks, block_size), or an object"),
        (lambda: allocate("a", []), "token_ids is empty"),
    ],
)  # fmt: skip
def test_what_is_no_script_or_no_allocator_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()
