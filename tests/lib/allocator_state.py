"""An allocator's whole state as plain data, so that "a refused call changes nothing" can be asserted with ==."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


def state(thing: Any) -> Any:
    """Everything in `thing`, its private fields too, in its order: free list, tables, owners, cache, log."""
    if isinstance(thing, dict):
        return [[state(key), state(value)] for key, value in thing.items()], state(getattr(thing, "__dict__", None))
    if isinstance(thing, list | tuple):
        return [state(part) for part in thing]
    if isinstance(thing, set):
        return {"a set": sorted(map(repr, thing))}
    if hasattr(thing, "__dict__"):
        return type(thing).__name__, {name: state(value) for name, value in vars(thing).items()}
    return thing


@contextlib.contextmanager
def refused(allocator: Any, error: type[Exception], sentence: str | None = None) -> Iterator[None]:
    """What is called in this block is refused with this error, and with this sentence whole, and changes nothing."""
    before = state(allocator)
    with pytest.raises(error) as caught:
        yield
    assert caught.type is error
    if sentence is not None:
        assert str(caught.value) == sentence
    assert state(allocator) == before, "a refused call changed something"
