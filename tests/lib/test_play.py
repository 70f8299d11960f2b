"""Claims about playing a script: right allocators pass, and what a wrong one breaks is named at the operation it breaks it."""

from __future__ import annotations

import pydoc
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import llmserving.paging
import numpy as np
import pytest
from llmserving.events import Event
from llmserving.paging import (
    FORK_AND_COPY,
    FORK_AT_A_BOUNDARY,
    FULL_POOL,
    HIT_ON_FREE_BLOCKS,
    SCRIPTS,
    SHARED_PREFIX,
    WHOLE_PROMPT_CACHED,
    Allocator,
    Operation,
    PagedAllocator,
    Playback,
    Script,
    allocate,
    append,
    append_each,
    fork,
    free,
    play,
)
from llmserving.paging.audit import NAMES
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


class AsDicts(Naive):
    """A table is a dict from logical to physical blocks."""

    def table(self, request: Any) -> Any:
        return dict(enumerate(self.tables[request]))


class AsArrays:
    """What is asked for is numpy's."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self._mine = Naive(num_blocks, block_size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mine, name)

    @property
    def free_blocks(self) -> Any:
        return np.array(self._mine.free_blocks, dtype=np.int32)

    def table(self, request: Any) -> Any:
        return np.array(self._mine.table(request))

    def num_tokens(self, request: Any) -> Any:
        return np.int64(self._mine.num_tokens(request))


class AsNumberOfNumpy(AsArrays):
    @property
    def free_blocks(self) -> Any:
        return np.array(len(self._mine.free_blocks))


# Right ones.


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
@pytest.mark.parametrize(
    "allocator",
    [None, PagedAllocator, cached, Naive, Caching, AsSet, AsDeque, AsDicts, AsArrays, AsNumberOfNumpy, Counting],
)
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


def test_the_order_of_a_free_array_is_kept() -> None:
    assert play(FORK_AND_COPY, AsArrays).events == play(FORK_AND_COPY, Naive).events
    assert {event.free_list for event in play(FORK_AND_COPY, AsNumberOfNumpy).events} == {()}


def test_a_hit_on_free_blocks_leaves_less_room_for_the_rest() -> None:
    played = play(HIT_ON_FREE_BLOCKS)
    assert [moment.refusal is not None for moment in played.moments].count(True) == 1
    assert played.outcomes[3].refusal == "request 'b' needs 4 blocks, 2 of them cached, and 1 block is free besides"
    [hit] = [event for event in played.events if event.cached_blocks]
    assert (hit.request, hit.blocks[:2], hit.cached_blocks) == ("b", (0, 1), 2)


def test_an_assertion_may_refuse_only_where_a_refusal_is_due() -> None:
    class Asserts(Naive):
        def append(self, request: Any, token: int) -> Any:
            assert token != 60
            super().append(request, token)

    assert play(FULL_POOL, Counting).broken is None
    name, operation, sentence = broken_in(play(FORK_AND_COPY, Asserts))
    assert (name, operation) == ("bug", 3)
    assert re.search(
        r"append stopped with a bug, AssertionError(: .*)?, in append, line \d+: assert token != 60\.$", sentence
    )


def test_4000_operations_over_4000_blocks_take_seconds() -> None:
    rounds = 800
    script = [allocate("prompt", range(1000))]
    for number in range(rounds):  # forty samples at a time
        name = f"sample-{number}"
        script += [fork("prompt", name), append(name, number), *append_each(name, [1, 2])]
        script.append(free(f"sample-{number - 40}") if number >= 40 else append("prompt", number))
    began = time.process_time()
    played = play(script, PagedAllocator, 4000, 4)
    assert played.broken is None
    assert len(played.operations) == 4001
    assert time.process_time() - began < 30


def test_time_does_not_grow_with_the_square_of_the_pool() -> None:
    seconds = []
    for blocks in (4_000, 64_000):
        began = time.process_time()
        assert play(FORK_AND_COPY, PagedAllocator, blocks).broken is None
        seconds.append(time.process_time() - began)
    assert seconds[1] < 100 * seconds[0], "256 times as long would be the square"


def test_an_allocator_is_described_for_whoever_writes_one() -> None:
    allocators: list[Allocator] = [
        PagedAllocator(8, 4),
        Naive(8, 4),
        Caching(8, 4),
        Counting(8, 4),
    ]  # the type checker's
    assert all(play(FORK_AND_COPY, allocator).broken is None for allocator in allocators)
    told = pydoc.plain(pydoc.render_doc(Allocator))
    for words in (
        "A refusal is a raised exception", "(num_blocks, block_size)", "can_allocate(tokens, key=None)",
        "how many of these tokens it found in a prefix cache", "not the number of blocks", "It is passed as key=...",
        "or a set, a deque or", "or only how many they are",
    ):  # fmt: skip
        assert words in told
    assert "arXiv 2309.06180" in str(llmserving.paging.__doc__)
    assert "help(Allocator)" in str(play.__doc__)


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


def raising(error: BaseException) -> Callable[[], Any]:
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
        (raising(SystemExit()), r"append stopped with a bug, SystemExit, in stop, line \d+: raise error\.$"),
        (lambda: exit(3), r"append stopped with a bug, SystemExit: 3, in <lambda>, line \d+"),
    ],
)  # fmt: skip
def test_a_bug_is_told_with_the_learners_own_line(does: Callable[[], Any], words: str) -> None:
    played = play(FORK_AND_COPY, lambda num_blocks, block_size: Breaks(num_blocks, block_size, does))
    name, operation, sentence = broken_in(played)
    assert (name, operation) == ("bug", 3)
    assert re.search(words, sentence)


class SetAsList(AsSet):
    def take(self) -> int:
        return int(self.free_blocks.pop(0))


class AddsAList(AsSet):
    def free(self, request: Any) -> None:
        self.free_blocks += self.tables.pop(request)


class TableAsSet(Naive):
    def append(self, request: Any, token: int) -> None:
        set(self.tables[request])[0]  # type: ignore[index]


@pytest.mark.parametrize("kind", [SetAsList, AddsAList])
def test_a_list_s_way_with_a_set_of_free_blocks_is_told_what_a_set_has_not(kind: type) -> None:
    broken = play(FORK_AND_COPY, kind).broken
    assert broken is not None
    assert "set" in broken.sentence.split(" (")[0], "Python's own words come first"
    assert (
        "(free_blocks is a set, which has no order: take by pop() and give back by add(), or keep a list, which has one), in "
        in broken.sentence
    )
    told = play(FORK_AND_COPY, TableAsSet).broken
    assert told is not None
    assert "free_blocks is a set" not in told.sentence


class AsDict(Naive):
    """Right: a dict has its keys in the order in which they came."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_blocks = dict.fromkeys(range(num_blocks), True)

    def take(self) -> int:
        return int(self.free_blocks.popitem()[0])

    def free(self, request: Any) -> None:
        del self.lengths[request]
        for block in self.tables.pop(request):
            if not any(block in other for other in self.tables.values()):
                self.free_blocks[block] = True


class DictByPlace(AsDict):
    def take(self) -> int:
        return int(self.free_blocks.pop(0))


class DictFromTheEnd(AsDict):
    def take(self) -> int:
        return int(self.free_blocks.pop())


class DictAsDeque(AsDict):
    def take(self) -> int:
        return int(self.free_blocks.popleft())


class AddsAListToADict(AsDict):
    def free(self, request: Any) -> None:
        self.free_blocks += self.tables.pop(request)


class TableByName(AsDict):
    """What is not there is a table: the dict of free blocks stands in the same line and has nothing to do with it."""

    def free(self, request: Any) -> None:
        self.free_blocks[self.tables["nobody"][0]] = True


@pytest.mark.parametrize(
    ("kind", "pythons"),
    [
        (DictByPlace, "KeyError: 0"),
        (DictFromTheEnd, "TypeError: pop expected at least 1 argument, got 0"),
        (DictAsDeque, "AttributeError: 'dict' object has no attribute 'popleft'"),
        (AddsAListToADict, "TypeError: unsupported operand type(s) for +=: 'dict' and 'list'"),
    ],
)
def test_a_list_s_way_with_a_dict_of_free_blocks_is_told_what_a_dict_has_not(kind: type, pythons: str) -> None:
    assert (
        f"{pythons} (free_blocks is a dict, which has keys and no places: take by popitem()[0] and give back by "
        "free_blocks[block] = True, or keep a list, which has places), in " in broken_in(play(FORK_AND_COPY, kind))[2]
    )
    assert play(FORK_AND_COPY, AsDict).broken is None
    assert "free_blocks is a dict" not in broken_in(play(FORK_AND_COPY, TableByName))[2]


class Later(Naive):
    async def append(self, request: Any, token: int) -> None:
        super().append(request, token)


class MadeLater(Naive):
    async def __init__(self, num_blocks: int, block_size: int) -> None:  # type: ignore[misc]
        super().__init__(num_blocks, block_size)


class LaterProperty(Naive):
    @property
    async def free_blocks(self) -> Any:
        return []

    @free_blocks.setter
    def free_blocks(self, blocks: Any) -> None:
        pass


class LaterBesides(Naive):
    """Right, whatever else it can do."""

    async def served(self) -> None:
        self.append("a", 0)


@pytest.mark.parametrize(("kind", "name"), [(Later, "append"), (MadeLater, "__init__"), (LaterProperty, "free_blocks")])
@pytest.mark.parametrize("as_object", [False, True])
def test_a_method_that_is_an_async_def_is_told_before_anything_is_called(
    kind: type, name: str, as_object: bool
) -> None:
    if as_object and kind is MadeLater:
        return
    broken = play(FORK_AND_COPY, kind(8, 4) if as_object else kind, 8, 4).broken
    assert broken is not None
    assert (broken.name, broken.operation) == ("bug", 0)
    assert f"{name} is an async def: a call of it only makes a coroutine, and not a line of it runs" in broken.sentence


def test_an_async_def_that_nobody_calls_harms_nothing() -> None:
    assert play(FORK_AND_COPY, LaterBesides).broken is None


class Yields(Naive):
    def append(self, request: Any, token: int) -> Any:
        yield super().append(request, token)


class YieldsAnAnswer(Naive):
    def can_append(self, request: Any) -> Any:
        yield super().can_append(request)


class MadeByYield(Naive):
    def __init__(self, num_blocks: int, block_size: int) -> None:  # type: ignore[misc]
        yield super().__init__(num_blocks, block_size)


class YieldsBlocks(Naive):
    """Right: a table is read from beginning to end, whenever it is read."""

    def table(self, request: Any) -> Any:
        yield from self.tables[request]


@pytest.mark.parametrize(
    ("kind", "name"), [(Yields, "append"), (YieldsAnAnswer, "can_append"), (MadeByYield, "__init__")]
)
def test_a_method_with_a_yield_is_told_before_anything_is_called(kind: type, name: str) -> None:
    assert broken_in(play(FORK_AND_COPY, kind)) == (
        "bug", 0,
        f"Before operation 1: {name} has a yield: a call of it only makes a generator, and not a line of it runs; write it "
        "without yield, and give back by return.",
    )  # fmt: skip
    assert play(FORK_AND_COPY, YieldsBlocks).broken is None


def test_a_refusal_that_would_end_the_program_is_a_bug() -> None:
    """The pool is full, and to refuse is due; but nobody could go on after it."""

    class Leaves(Naive):
        def allocate(self, request: Any, tokens: list[int], key: Any = None) -> Any:
            if not self.can_allocate(tokens):
                raise SystemExit
            return super().allocate(request, tokens, key)

    name, operation, sentence = broken_in(play(FULL_POOL, Leaves))
    assert (name, operation) == ("bug", 3)
    assert "stopped with a bug, SystemExit" in sentence


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


class Shows(Naive):
    """Shows what its functions say instead of what it has; `None` for its own."""

    def __init__(
        self, num_blocks: int, block_size: int, table: Any = None, free: Any = None, tokens: Any = None
    ) -> None:
        self._shows = None
        super().__init__(num_blocks, block_size)
        self._table, self._shows, self._count = table, free, tokens

    def table(self, request: Any) -> Any:
        return self._table(super().table(request)) if self._table else super().table(request)

    def num_tokens(self, request: Any) -> Any:
        return self._count(super().num_tokens(request)) if self._count else super().num_tokens(request)

    @property
    def free_blocks(self) -> Any:
        return self._shows(self._blocks) if self._shows else self._blocks

    @free_blocks.setter
    def free_blocks(self, value: Any) -> None:
        self._blocks = value


@pytest.mark.parametrize(
    ("shows", "words"),
    [
        ({"table": set}, "a list of block numbers was expected, in the order of the tokens, and a set has no order, but it is "
         "{0, 1}"),
        ({"table": lambda table: {block: block for block in [5, 6]}}, "or a dict from the logical blocks 0, 1 and so on to "
         "physical ones, but it is {5: 5, 6: 6}"),
        ({"table": lambda table: [True, False]}, "a list of block numbers was expected, but True is in it"),
        ({"table": lambda table: np.array([[0, 1]])}, "a list of block numbers was expected, but array([0, 1]) is in it"),
        ({"tokens": str}, "num_tokens of 'a' is a number of tokens, but it is '6'"),
        ({"tokens": lambda count: None}, "num_tokens of 'a' is a number of tokens, but it is None"),
        ({"tokens": lambda count: True}, "num_tokens of 'a' is a number of tokens, but it is True"),
        ({"free": lambda blocks: True}, "free_blocks cannot be read: a list of block numbers was expected, but it is True"),
        ({"free": lambda blocks: [block in blocks for block in range(8)]}, "free_blocks cannot be read: a list of block "
         "numbers was expected, but True is in it"),
        ({"free": lambda blocks: {block: block not in (0, 1) for block in range(8)}}, "free_blocks cannot be read: it is a "
         "dict that also has the blocks that are not free"),
    ],
)  # fmt: skip
def test_what_an_allocator_shows_is_read_or_refused_in_a_sentence(shows: dict[str, Any], words: str) -> None:
    name, _, sentence = broken_in(play(FORK_AND_COPY, lambda num_blocks, size: Shows(num_blocks, size, **shows)))
    assert name == "bug"
    assert words in sentence


@pytest.mark.parametrize("missing", ["table", "free_blocks"])
def test_what_every_allocator_needs_is_missed_before_the_first_operation(missing: str) -> None:
    parts = {"__init__": lambda self, num_blocks, block_size: None, "table": lambda self, request: [], "free_blocks": 8}
    del parts[missing]
    told = ("bug", 0, f"Before operation 1: the allocator has no {missing}.")
    assert broken_in(play(FORK_AND_COPY, type("Lacks", (), parts))) == told


@pytest.mark.parametrize(
    ("allocator", "script", "words"),
    [
        (NoAppend, [allocate("a", [1])], "Operation 1, allocate 'a': allocate cannot be called as the script calls it: "),
        (NoAppend, [fork("a", "b")], "Operation 1, fork 'a' as 'b': the allocator has no method fork."),
        (NoTable, [allocate("a", [1])], "the table of 'a', which is still running, cannot be read: a list of block numbers "
         "was expected, but it is None"),
        (LosesTables, FORK_AND_COPY, "Operation 2, fork 'a' as 'b': the table of 'a', which is still running, "
         "cannot be read: table stopped with a bug, KeyError: 'a', in table, line "),
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


def test_tokens_of_numpy_are_ints_in_a_script() -> None:
    operation = allocate("a", np.arange(3, dtype=np.uint8))
    assert [type(token) for token in operation.tokens] == [int] * 3
    assert operation == allocate("a", range(3))


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
        (lambda: play([("allocate", "a")], None, 8, 4), "which are imported from llmserving.paging"),
        (lambda: allocate("a", []), "token_ids is empty"),
        (lambda: allocate("a", 5), "tokens is a list of tokens, such as range(6) or [5, 17, 2], but got 5"),  # type: ignore[arg-type]
        (lambda: allocate("a", "words"), "tokens is a list of tokens, such as range(6) or [5, 17, 2], but got 'words'"),  # type: ignore[arg-type]
        (lambda: append_each("a", 5), "tokens is a list of tokens"),  # type: ignore[arg-type]
        (lambda: allocate("a", [1, 2.5]), "token is the number of a token, a whole number, but got 2.5"),  # type: ignore[list-item]
        (lambda: allocate([1], [5]), "request_id is a name such as 'a' or 7, but got [1], which no dict can hold"),  # type: ignore[arg-type]
        (lambda: append([1], 5), "request_id is a name such as 'a' or 7, but got [1]"),  # type: ignore[arg-type]
        (lambda: append("a", [1]), "token is the number of a token, a whole number such as 32, but got [1]"),  # type: ignore[arg-type]
        (lambda: append("a", 2**70), "token is the number of a token, but"),
        (lambda: fork({}, "b"), "request_id is a name such as 'a' or 7, but got {}"),  # type: ignore[arg-type]
        (lambda: fork("a", ["b"]), "request_id is a name such as 'a' or 7, but got ['b']"),  # type: ignore[arg-type]
        (lambda: free({"a"}), "request_id is a name such as 'a' or 7, but got {'a'}"),  # type: ignore[arg-type]
        (lambda: allocate("a", [1], key=["x"]), "key is what sets a request's cache apart"),  # type: ignore[arg-type]
        (lambda: Operation("alocate", "a"), "an operation is one of allocate, append, fork, free, but got 'alocate'"),  # type: ignore[arg-type]
        (lambda: Operation("free", "a", (1,)), "append has one token, fork and free have none, but free got 1"),
        (lambda: Script("s", (free("a"),), 8, 4, prefix_caching=1), "prefix_caching is True or False, but got 1"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_no_script_or_no_allocator_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()
