"""What a cell that stopped shows in place of a traceback: of a name that is not set, of a comma in a number, and of the
stop button."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.missing_names import RUN_ABOVE, said_of_missing
from llmserving.paging.learners_code import from_the_library_on, is_stop, line_in


def tell_cell_errors() -> None:
    """From now on in this notebook; elsewhere, and where errors are handled in another way already, nothing changes."""
    shell = session.shell()
    if session.in_notebook() and not shell.custom_exceptions:
        shell.set_custom_exc((NameError, SyntaxError, KeyboardInterrupt), _tell)


def said_of_stop(trace: TracebackType | None) -> str | None:
    """Where it was stopped, and what has become of the records; None where no code of the course was called.

    A check reads all answers before it records the first: who stops an answer has stopped it before that.
    """
    called = from_the_library_on(trace)
    if called is None:
        return None
    if where := line_in(called):
        return (
            f"Stopped{where[1:]}\nIt had not come to an end, so nothing was recorded and nothing has changed. Look for a loop "
            "that does not end."
        )
    where = line_in(trace).replace("<module>", "this cell")
    return f"Stopped{where[1:]}\nThe course's own code was still at work. Run the cell again when there is time for it."


def _tell(
    shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: int | None = None
) -> list[str] | None:
    said = said_of_stop(trace) if is_stop(error) else _said_of_comma(kind, error) or _said_of_name(kind, error, trace)
    if said is None:
        runs = trace is not None and trace.tb_frame.f_code.co_name == "run_code"  # else the cell could not be read
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=runs)
        return None
    lines = [said]
    shell._showtraceback(kind, error, lines)  # what IPython itself shows an error with
    return lines


def _said_of_comma(kind: type[BaseException], error: Any) -> str | None:
    """What to write for a number such as 1,07 or 1,073, which Python refuses for the 0 after its comma."""
    if kind is not SyntaxError or not str(error.msg).startswith("leading zeros in decimal"):
        return None
    numbers = re.finditer(r"(?<![\w.])\d+(?:,\d+)+(?![\w.])", error.text or "")
    written = next((one[0] for one in numbers if one.start() < (error.offset or 0) <= one.end()), "")
    whole, *rest = written.split(",")
    point = f"If that is a decimal comma, write a point: {whole}.{rest[0]}" if len(rest) == 1 else ""
    groups = len(whole) <= 3 and all(len(group) == 3 for group in rest)
    bare = f"If a comma groups thousands, leave it out: {whole}{''.join(rest)}" if rest and groups else ""
    if not point and not bare:
        return None
    told = "\n".join(f"{line}." for line in (point, bare) if line)
    where = f"(line {error.lineno} of this cell)"
    return f"{written} is {len(rest) + 1} numbers to Python, and none may begin with 0 {where}.\n{told}"


def _said_of_name(kind: type[BaseException], error: Any, trace: TracebackType) -> str | None:
    if kind is not NameError:
        return None
    if said := said_of_missing(error.name):
        return said
    last = trace
    while last.tb_next is not None:
        last = last.tb_next
    if last.tb_frame.f_code.co_name != "<module>":
        return None
    return (
        f"{error.name} is not set (line {last.tb_lineno} of this cell).\nIf a cell above sets it, run that one first, or all "
        f"above by {RUN_ABOVE}."
    )
