"""Names in a cell's source: which it sets, which it uses, and whether that can be told at all."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

# Lines for IPython, not for Python: %magic, !command, help?
_MAGIC = re.compile(r"^\s*(?:[%!].*|.*\?)$", re.MULTILINE)
# A cell that does not parse still shows what it was meant to set.
_SETS = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)(?![ \t]*\.\.\.[ \t]*(?:#.*)?$)", re.MULTILINE)
_SETS_OR_STUB = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_SETS_UNSEEN = ("exec", "eval", "globals", "setattr")


def names_set(source: str, *, stubs: bool = False) -> set[str]:
    """Names that the cell sets when it runs; stubs: `name = ...` counts too."""
    tree = parsed(source)
    try:
        if tree is not None:
            return set(_set_in(tree, stubs))
    except RecursionError:
        pass  # An expression of thousands of terms; read by the line as well.
    return set((_SETS_OR_STUB if stubs else _SETS).findall(source))


def names_used(source: str) -> set[str]:
    tree = parsed(source)
    nodes = () if tree is None else ast.walk(tree)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def may_set_anything(source: str) -> bool:
    """What the cell sets is not to be read off it: a magic, a star import, exec, or no Python at all."""
    tree = parsed(source)
    if tree is None or _MAGIC.search(source) or any(name in names_used(source) for name in _SETS_UNSEEN):
        return True
    return any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree))


@lru_cache(maxsize=512)
def parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            # What Python thinks of a learner's "\\d" is nothing for an instructor to read.
            warnings.simplefilter("ignore")
            return ast.parse(_MAGIC.sub("", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _set_in(node: ast.AST, stubs: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name
            yield from (name for inner in ast.walk(child) if isinstance(inner, ast.Global) for name in inner.names)
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).split(".")[0]
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not stubs and _is_stub(child.value):
            continue
        elif not isinstance(child, ast.Lambda | ast.comprehension):
            yield from _set_in(child, stubs)


def _is_stub(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is ...)
