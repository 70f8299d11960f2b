"""A function is called on inputs, and what came of each call is told as plain data: a result, or why there is none.

No call can be stopped: a loop that does not end runs until the kernel is interrupted.
"""

from __future__ import annotations

import copy
import io
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from llmserving.exercises.faults import Data, printable, type_name
from llmserving.exercises.plain_values import NotPlainError, TooLargeError, plain
from llmserving.paging.learners_code import is_stop, line_of

MOST_CALLS, MOST_SAID = 200, 300


def outcomes(function: Callable[..., Any], inputs: Iterable[Mapping[str, Any]]) -> list[Data]:
    """What came of the call on each of the inputs: {"returned": ...}, {"raised": {"type", "said", "where"}},
    {"unreadable": "generator"} or {"too_large": True}; with {"changed": [names]} where it changed its arguments.

    Every call has arguments of its own. What the function prints is not shown.
    """
    with _in_silence():
        return [_outcome(function, given) for given in list(inputs)[:MOST_CALLS]]


def arguments_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of one call, made from plain JSON, and of nobody else."""
    return {name: _argument(value) for name, value in given.items()}


def told(error: BaseException) -> dict[str, str]:
    """An exception as data: its type, what it says, and the line of the learner's at which it came up."""
    try:
        said = str(error)
    except Exception:  # an exception of the learner's own, with a __str__ of its own
        said = ""
    return {
        "type": type_name(error),
        "said": printable(said)[:MOST_SAID].strip().rstrip("."),
        "where": printable(line_of(error))[:MOST_SAID],
    }


def _argument(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) in ({"array"}, {"array", "dtype"}):
        import numpy as np

        return np.array(value["array"], dtype=value.get("dtype", "float64"))
    return copy.deepcopy(value)


def _outcome(function: Callable[..., Any], given: Mapping[str, Any]) -> Data:
    arguments = arguments_of(given)
    try:
        result = function(**arguments)
    except BaseException as error:
        if is_stop(error):  # the learner's own way out of a loop that does not end
            raise
        return {"raised": told(error)}
    outcome = _as_data(result)
    changed = [name for name, value in arguments_of(given).items() if not _same(value, arguments.get(name))]
    return {**outcome, "changed": changed} if changed else outcome


def _as_data(result: Any) -> Data:
    if isinstance(result, types.CoroutineType):
        result.close()  # else Python says at some later time that nobody has waited for it
        return {"unreadable": "coroutine"}
    try:
        return {"returned": plain(result)}
    except (TooLargeError, RecursionError, MemoryError):
        return {"too_large": True}
    except NotPlainError as error:
        return {"unreadable": printable(str(error))[:MOST_SAID]}
    except Exception:  # an array of objects, or a tensor that has no numbers
        return {"unreadable": type_name(result)}


def _same(before: Any, after: Any) -> bool:
    try:
        return bool(plain(before) == plain(after))
    except (TooLargeError, NotPlainError, RecursionError):
        return False


@contextmanager
def _in_silence() -> Iterator[None]:
    with redirect_stdout(Nowhere()), redirect_stderr(Nowhere()):
        yield


class Nowhere(io.TextIOBase):
    """A stream that forgets: a function that prints without end fills no memory."""

    def write(self, text: str) -> int:
        return len(text)
