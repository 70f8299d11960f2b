"""Reading an allocator from outside: its tables and free blocks as numbers, in whatever form they are kept.

What has not changed since the last look is the same object as then, so that unchanged tables cost a comparison and no more.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Iterator, KeysView, Mapping, Set
from typing import Any

from llmserving import arguments
from llmserving.paging.learners_code import LearnersBug, bug, is_refusal, pass_stop_on, sentence_of
from llmserving.paging.observation import State

PLAIN = frozenset({list, tuple})


def look(allocator: Any, live: Iterable[Hashable], gone: Iterable[Hashable], known: State | None) -> State:
    """The tables of `live` requests, and those that `gone` ones should not have; LearnersBug where it cannot be read.

    known: the last look.
    """
    old = known.tables if known else {}
    tables = {}
    for name in live:
        try:
            found, before = allocator.table(name), old.get(name, ())
            unchanged = type(found) in PLAIN and len(found) == len(before) and tuple(found) == before
            tables[name] = before if unchanged else _table(found, before)
        except BaseException as error:
            pass_stop_on(error)
            why = _why("table", error)
            raise LearnersBug(f"the table of {name!r}, which is still running, cannot be read: {why}") from None
    tokens = _tokens(allocator, list(tables))
    for name in gone:
        try:
            tables[name] = _table(allocator.table(name), old.get(name, ()))
        except BaseException as error:  # whatever says that there is no such table is right
            pass_stop_on(error)
            tables.pop(name, None)
    known_free = known.free if known and known.free is not None else ()
    return State({name: table for name, table in tables.items() if table}, tokens, *_free_blocks(allocator, known_free))


def whole_number(value: Any) -> int | None:
    """`value` as an int, None where it is no whole number; a truth value is none."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__") or getattr(value, "shape", ()) != ():
        return None  # a shape is an array's
    try:
        return operator.index(value)
    except TypeError:  # a truth value of numpy, or a number that is not whole
        return None


def _tokens(allocator: Any, names: list[Hashable]) -> dict[Hashable, int]:
    count = getattr(allocator, "num_tokens", None)
    if not callable(count):
        return {}
    try:
        answers = dict(zip(names, map(count, names), strict=True))
    except BaseException as error:
        pass_stop_on(error)
        raise bug("num_tokens", error) from None
    if set(map(type, answers.values())) <= {int}:
        return answers
    tokens = {name: whole_number(answer) for name, answer in answers.items()}
    wrong = next((name for name, number in tokens.items() if number is None), None)
    if None in tokens.values():
        raise LearnersBug(f"num_tokens of {wrong!r} is a number of tokens, but it is {arguments.shown(answers[wrong])}")
    return {name: number for name, number in tokens.items() if number is not None}


def _table(found: Any, known: tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(found, Mapping):
        if set(found) != set(range(len(found))):
            raise TypeError(
                "a list of block numbers was expected, in the order of the tokens, or a dict from the logical blocks 0, 1 and "
                f"so on to physical ones, but it is {arguments.shown(found)}"
            )
        found = [found[logical] for logical in range(len(found))]
    if isinstance(found, Set) and not isinstance(found, KeysView):
        raise TypeError(
            f"a list of block numbers was expected, in the order of the tokens, and a set has no order, but it is "
            f"{arguments.shown(found)}"
        )
    return _numbers(found, known)


def _free_blocks(allocator: Any, known: tuple[int, ...]) -> tuple[tuple[int, ...] | None, int, bool]:
    """The free blocks, None where only their number is told; how many; and whether they stand in an order."""
    try:
        free = allocator.free_blocks
        free = free() if callable(free) else free
        count = whole_number(free)
        if count is not None:
            return None, count, False
        if isinstance(free, Iterator):
            raise TypeError(
                "free_blocks is an iterator, which can be read only once; a list, a set or a number will do"
            )
        if isinstance(free, Mapping) and any(flag is False for flag in free.values()):
            raise TypeError("it is a dict that also has the blocks that are not free; a list of the free ones will do")
        ordered = not isinstance(free, Set) or isinstance(free, KeysView)
        numbers = _numbers(free if ordered else sorted(free), known)
    except BaseException as error:
        pass_stop_on(error)
        raise LearnersBug(f"free_blocks cannot be read: {_why('it', error)}") from None
    return numbers, len(numbers), ordered


def _numbers(found: Any, known: tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise TypeError(f"a list of block numbers was expected, but it is {arguments.shown(found)}")
    blocks = tuple(found)
    if not set(map(type, blocks)) <= {int}:
        numbers = [whole_number(block) for block in blocks]
        if None in numbers:
            wrong = arguments.shown(blocks[numbers.index(None)])
            raise TypeError(f"a list of block numbers was expected, but {wrong} is in it")
        blocks = tuple(number for number in numbers if number is not None)
    return known if blocks == known else blocks


def _why(what: str, error: BaseException) -> str:
    return sentence_of(error) if is_refusal(error, due=False) else str(bug(what, error))
