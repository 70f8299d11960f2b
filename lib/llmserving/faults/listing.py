"""The source of a class that is to be read."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from typing import Any


def source_of(made: Any) -> str:
    """As it is written, in a file or in a cell of a notebook; a sentence where it is kept nowhere."""
    try:
        return textwrap.dedent(inspect.getsource(made))
    except (OSError, TypeError):
        return _in_a_cell(made) or f"The source of {getattr(made, '__name__', made)} is not kept."


def _in_a_cell(made: Any) -> str:
    """A class typed in a notebook has no file, but its methods know their cell, which IPython keeps; '' where there is none."""
    members = vars(made).values() if isinstance(made, type) else ()
    codes = [getattr(getattr(member, "fget", member), "__code__", None) for member in members]
    for code in filter(None, codes):
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name != made.__name__:
                continue
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= code.co_firstlineno <= (node.end_lineno or first):
                return textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    return ""
