"""Does a learner's function or class leave its work to the library's own? Read off its source; nothing is run.

What is seen are names: of the function itself, of the methods of a class, and of the learner's functions and classes that
they name in turn, whatever a name is bound to and through whichever module it is reached. What is looked up by a text, as
by getattr, is not seen, nor is anything of code whose source is not kept.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
import textwrap
import types
from collections.abc import Iterator, Mapping
from typing import Any

MOST_SOURCE, _MOST_FOLLOWED = 20_000, 50
_LIBRARY = "llmserving"


def source_of(thing: Any) -> str:
    """The source of a function, or of a class method by method, as far as it is kept; shortened where it is long."""
    return "\n".join(_source(function) for function in _functions(thing))[:MOST_SOURCE]


def library_call(thing: Any, own_work: tuple[str, ...], namespace: Mapping[str, Any]) -> str | None:
    """The first of the library's `own_work` that the function or class reaches, as it is imported; None for none."""
    to_see, seen = [thing], 0
    known = {id(thing)}
    while to_see and seen < _MOST_FOLLOWED:
        one, seen = to_see.pop(0), seen + 1
        for found in _reached(one, namespace):
            name = _library_name(found, own_work)
            if name is not None:
                return name
            if id(found) not in known and isinstance(found, types.FunctionType | type) and not _is_library(found):
                known.add(id(found))
                to_see.append(found)
    return None


class _Nothing:
    """What every class statement sets, whatever stands in it."""


def only_inherits(made: type) -> str | None:
    """The name of the library's class that `made` is derived from where it adds nothing to it; None where it adds something."""
    own = set(vars(made)) - set(vars(_Nothing)) - {"__annotations__"}
    bases = made.__mro__[1:-1]
    return bases[0].__name__ if bases and not own and all(map(_is_library, bases)) else None


def _library_name(thing: Any, own_work: tuple[str, ...]) -> str | None:
    name = getattr(thing, "__name__", None) if isinstance(thing, types.FunctionType | type) else None
    return f"{_LIBRARY}.{name}" if name in own_work and _is_library(thing) else None


def _is_library(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).split(".")[0] == _LIBRARY


def _reached(thing: Any, namespace: Mapping[str, Any]) -> Iterator[Any]:
    """The thing itself, its base classes, and what the names in its source are bound to."""
    thing = _unwrapped(thing)
    yield thing  # which may be the library's own, under another name
    if isinstance(thing, type):
        yield from thing.__mro__[1:]
    for function in _functions(thing):
        yield from _named(function, namespace)


def _functions(thing: Any) -> list[types.FunctionType]:
    thing = _unwrapped(thing)
    if isinstance(thing, type):
        members = [getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(thing).values()]
        return [member for member in members if isinstance(member, types.FunctionType)]
    return [thing] if isinstance(thing, types.FunctionType) else []


def _unwrapped(thing: Any) -> Any:
    """The function in a partial, a bound method, or a function with a cache."""
    for _ in range(_MOST_FOLLOWED):
        if isinstance(thing, functools.partial):
            thing = thing.func
        elif isinstance(thing, types.MethodType):
            thing = thing.__func__
        elif isinstance(thing, types.FunctionType | type):
            return thing
        else:
            thing = getattr(thing, "__wrapped__", None)
    return thing


def _source(function: types.FunctionType) -> str:
    """As inspect.getsource gives it, which also looks for the module: among thousands, for each method anew."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        return textwrap.dedent("".join(inspect.getblock(lines)))
    except (IndentationError, SyntaxError):
        return ""


def _named(function: types.FunctionType, namespace: Mapping[str, Any]) -> Iterator[Any]:
    try:
        tree = ast.parse(_source(function))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a lambda in the middle of a call, say
        return
    bound = {**namespace, **function.__globals__, **_closure(function), **dict(_imported(tree))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield _value(node, bound)
    yield from dict(_imported(tree)).values()


def _closure(function: types.FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # asking is the only way to know
    except ValueError:
        return False
    return True


def _value(node: ast.expr, bound: Mapping[str, Any]) -> Any:
    """What a name or a dotted name stands for; of a dotted one only modules are looked into, which runs nothing."""
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    if isinstance(node, ast.Attribute):
        whole = _value(node.value, bound)
        return vars(whole).get(node.attr) if isinstance(whole, types.ModuleType) else None
    return None


def _imported(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """What the source itself imports from the library, by the name that it is given there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = sys.modules.get(alias.name if alias.asname else alias.name.split(".")[0])
                yield alias.asname or alias.name.split(".")[0], whole
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = sys.modules.get(node.module or "")
            for alias in node.names:
                yield alias.asname or alias.name, vars(module).get(alias.name) if module is not None else None
