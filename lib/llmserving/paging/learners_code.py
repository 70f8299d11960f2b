"""What an exception of an allocator is, a refusal in the words of paging or a bug, and at which of its lines it arose.

A refusal is raised by a `raise` statement. An exception that Python raised itself, such as an IndexError of a list, is a
bug, and so is an assertion that fails; except that where a refusal is due, a look-up may fail instead, such as
`self.tables[request]` of a freed request, and so may an assertion.
"""

from __future__ import annotations

import linecache
import opcode
import sysconfig
from pathlib import Path
from types import TracebackType
from typing import Any

NOT_WRITTEN = "is not written yet"

_RAISE = opcode.opmap["RAISE_VARARGS"]
_PYTHONS = ("<frozen ", *(sysconfig.get_path(name) for name in ("stdlib", "purelib")))
_LIBRARY = str(Path(__file__).parents[1])
_NOT_THE_LEARNERS = (_LIBRARY, *_PYTHONS)


class LearnersBug(Exception):
    """The code of the allocator that is played went wrong; the text is the sentence that tells it."""


def is_refusal(error: BaseException, *, due: bool) -> bool:
    """Whether the allocator refused. `due`: the operation had to be refused, or might have been.

    What would end the whole program, as exit() does, refuses nothing: whoever asked could not go on.
    """
    if isinstance(error, NotImplementedError) or not isinstance(error, Exception):
        return False
    if isinstance(error, AssertionError):
        return due
    if _was_raised_by_a_statement(error):
        return True
    return due and isinstance(error, LookupError | ValueError | StopIteration)


def sentence_of(error: BaseException) -> str:
    """What an exception says, with its type where that is all there is to it or Python's own."""
    said = str(error).strip().rstrip(".")
    if not said:
        return type(error).__name__
    return said if _was_raised_by_a_statement(error) and " " in said else f"{type(error).__name__}: {said}"


def bug(method: str, error: BaseException, caller: str = "the script", aside: str = "") -> LearnersBug:
    """The sentence that tells a bug in `method`, with the line of the learner's at which it came up.

    aside: what there is to say of it besides Python's own words.
    """
    where = line_of(error) or inherited_line(error)
    if isinstance(error, NotImplementedError):
        said = str(error).strip().rstrip(".")
        return LearnersBug(f"{method} {NOT_WRITTEN}" + (f": {said}" if said else ""))
    if isinstance(error, TypeError) and error.__traceback__ is not None and error.__traceback__.tb_next is None:
        return LearnersBug(f"{method} cannot be called as {caller} calls it: {error}")
    said = str(error).strip().rstrip(".")
    kind = type(error).__name__
    return LearnersBug(f"{method} stopped with a bug, {kind}{f': {said}' if said else ''}{aside}{where}")


def is_stop(error: BaseException) -> bool:
    """Whether somebody has pressed stop, or a time limit has: a KeyboardInterrupt that is no `raise` of the learner's."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    last = _innermost(error)
    learners = last is not None and not last.tb_frame.f_code.co_filename.startswith(_NOT_THE_LEARNERS)
    return not (learners and _was_raised_by_a_statement(error))


def pass_stop_on(error: BaseException) -> None:
    """Raise it again where it is a stop: whoever presses that means the whole, and anything else is the learner's code's."""
    if is_stop(error):
        raise error


def has(made: Any, name: str) -> bool:
    """Whether an attribute is there; a property that goes wrong is, and is told of when it is read."""
    try:
        return hasattr(made, name)
    except BaseException as error:
        pass_stop_on(error)
        return True


def _was_raised_by_a_statement(error: BaseException) -> bool:
    last = _innermost(error)
    return last is not None and last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


def _innermost(error: BaseException) -> TracebackType | None:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last


def line_of(error: BaseException) -> str:
    """The innermost line of it that is neither the library's nor Python's own, in words; '' where there is none."""
    return line_in(error.__traceback__)


def inherited_line(error: BaseException) -> str:
    """The innermost line of the library's own below the frame that has caught it, with its file: a learner's class may
    inherit the method that fails. '' where there is none.
    """
    found, traceback = "", error.__traceback__ and error.__traceback__.tb_next
    while traceback is not None:
        code, number = traceback.tb_frame.f_code, traceback.tb_lineno
        if code.co_filename.startswith(_LIBRARY):
            text = linecache.getline(code.co_filename, number).strip()
            found = f", in {code.co_name} of {Path(code.co_filename).name}, line {number}: {text}"
        traceback = traceback.tb_next
    return found


def from_the_library_on(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins where the library was called; None where it was not."""
    while traceback is not None and not traceback.tb_frame.f_code.co_filename.startswith(_LIBRARY):
        traceback = traceback.tb_next
    return traceback


def line_in(traceback: TracebackType | None) -> str:
    """As `line_of`, of a traceback."""
    found = ""
    while traceback is not None:
        code, number = traceback.tb_frame.f_code, traceback.tb_lineno
        if not code.co_filename.startswith(_NOT_THE_LEARNERS):
            text = linecache.getline(code.co_filename, number).strip()
            found = f", in {code.co_name}, line {number}" + (f": {text}" if text else "")
        traceback = traceback.tb_next
    return found
