"""Slips of whoever writes a class that Python's words alone do not explain: methods that run later, and what is no list."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Set
from typing import Any

from llmserving.paging.learners_code import LearnersBug, inherited_line, line_of

_READ_AS_A_LIST = ("table", "free_blocks")


def refuse_deferred(made: Any, called: Iterable[str]) -> None:
    """LearnersBug where a method of a class that somebody else calls is an `async def` or has a `yield`: a call runs nothing.

    called: methods that are called from outside; those that take the place of a base class's are called by that. What is
    read as a list may be a generator, and so may a base class's method, unless it says that it gives back None.
    """
    bases = made.__mro__ if isinstance(made, type) else type(made).__mro__
    for name, member in ((name, member) for one in bases for name, member in vars(one).items()):
        function = getattr(member, "__func__", getattr(member, "fget", member))
        replaced = [vars(base)[name] for base in bases[1:] if name in vars(base)]
        if not replaced and name not in called:
            continue
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise LearnersBug(
                f"{name} is an async def: a call of it only makes a coroutine, and not a line of it runs; write a plain def"
            )
        acts = name in (*called, "__init__") or any(_gives_back_none(one) for one in replaced)
        if acts and name not in _READ_AS_A_LIST and inspect.isgeneratorfunction(function):
            raise LearnersBug(
                f"{name} has a yield: a call of it only makes a generator, and not a line of it runs; write it without yield, "
                "and give back by return"
            )


def about_free(error: BaseException, made: Any) -> str:
    """What to add where a list's way was tried on the set or dict in which `made` keeps what is free; '' elsewhere."""
    kept = getattr(made, "__dict__", {}) if isinstance(error, TypeError | AttributeError | KeyError) else {}
    for name, value in kept.items():
        if not name.startswith("free"):
            continue
        if isinstance(value, Set) and re.search(r"\b(frozen)?set\b", str(error)):
            return f" ({name} is a set, which has no order: take by pop() and give back by add(), or keep a list, which has one)"
        if isinstance(value, dict) and _is_of_a_dict(error, name):
            return (
                f" ({name} is a dict, which has keys and no places: take by popitem()[0] and give back by {name}[block] = True, "
                "or keep a list, which has places)"
            )
    return ""


def _gives_back_none(method: Any) -> bool:
    """Whether it says so: it is called for what it does."""
    return getattr(method, "__annotations__", {}).get("return", ...) in ("None", None)


def _is_of_a_dict(error: BaseException, name: str) -> bool:
    """Whether the error speaks of a dict, or is what a dict says to a place, in a line that has the name."""
    if not isinstance(error, KeyError) and re.search(r"\bdict\b", str(error)):
        return True
    place = isinstance(error, KeyError) and error.args and isinstance(error.args[0], int | slice)
    asked_for_a_place = place or re.search(r"pop expected|'slice'", str(error))
    return bool(asked_for_a_place) and name in (line_of(error) or inherited_line(error))
