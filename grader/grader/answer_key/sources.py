"""Code of the key as a learner would have written it into the answer cell: for the tests and for `selftest`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

_FOR_THE_TYPE_CHECKER = re.compile(r"[ ]+# type: ignore\S*")


class Source(str):
    """Lines for the end of an answer cell, where other kinds have a value for the right of `variable = `."""

    __slots__ = ()


def written(made: Any, variable: str) -> Source:
    """The source of a function, or of a class with those that it is based on, under the learner's name; a base that is the
    library's is imported. What only a type checker reads is left out.
    """
    pieces = [cls for cls in reversed(made.__mro__) if cls is not object] if isinstance(made, type) else [made]
    lines = [
        f"from {piece.__module__} import {piece.__name__}"
        if piece.__module__.startswith("llmserving.")
        else _FOR_THE_TYPE_CHECKER.sub("", textwrap.dedent(inspect.getsource(piece))).rstrip()
        for piece in pieces
    ]
    if any(re.search(r"\bAny\b", line) for line in lines):
        lines.insert(0, "from typing import Any")
    if made.__name__ != variable:
        lines.append(f"{variable} = {made.__name__}")
    return Source("\n\n".join(lines))


def recorded(name: str, fields: Mapping[str, Any]) -> Source:
    """The call that records these fields."""
    given = ", ".join(f"{field}={value!r}" for field, value in fields.items())
    return Source(f"from llmserving import record\n\nrecord({name!r}, {given})")
