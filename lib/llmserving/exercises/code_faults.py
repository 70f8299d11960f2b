"""Sentences for code that gives no result: it stopped, it returned nothing, it changed what it was given, it is the library's.

None of them needs the key. The data may come from a learner's process, so a detail is only ever quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from llmserving.exercises.exercise import CODE_KINDS, Part
from llmserving.exercises.faults import Data, printable, shorten
from llmserving.exercises.markup import as_typed, code

MOST_WORDS = 160

_MADE_LATER = {
    "generator": "a generator: `yield` hands out one value after the other; `return` gives the result",
    "coroutine": "a coroutine, since it is an `async def`; a plain `def` gives the result",
    "function": "a function; are the brackets of a call missing",
}


def call_words(part: Part, given: Mapping[str, Any]) -> str:
    """The call as it is written: f(layers=2, heads=8)."""
    words = f"{part.variable}({', '.join(f'{name}={_shown(value)}' for name, value in given.items())})"
    return code(words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1] + "…")


def library_fault(part: Part, data: Mapping[str, Any]) -> str | None:
    """The sentence for code that leaves its work to the library, None where it does not."""
    name = data.get("library")
    if not isinstance(name, str):
        return None
    return (
        f"`{part.variable}` comes down to `{shorten(name)}`, which is the library's own. Here it is yours to write; the "
        "library's is there to compare with."
    )


def outcome_fault(part: Part, given: Mapping[str, Any], outcome: Data) -> str | None:
    """The sentence for a call that gave no result, None where it gave one."""
    call = call_words(part, given)
    raised = outcome.get("raised")
    if isinstance(raised, Mapping):
        kind, said, where = (printable(str(raised.get(name, ""))) for name in ("type", "said", "where"))
        said = as_typed(said)
        if kind == "NotImplementedError":
            return f"{call} is not written yet{': ' if said else ''}{said}."
        return f"{call} stopped with {kind}{f': {said}' if said else ''}{code_line(f'{where}.')}"
    if outcome.get("too_large") is True:
        return f"{call} gave more than a result of this exercise can be."
    if "unreadable" in outcome:
        kind = shorten(str(outcome["unreadable"]))
        return f"{call} gave {_MADE_LATER.get(kind, f'a value of type {kind}')}."
    if outcome.get("returned", ...) is None:
        return f"{call} gave None. A function without `return` gives None; is it missing, or on one way through only?"
    return None


def changed_fault(part: Part, given: Mapping[str, Any], outcome: Data) -> str | None:
    changed = outcome.get("changed")
    if not (isinstance(changed, list) and changed):
        return None
    return f"{call_words(part, given)} changes its argument `{shorten(str(changed[0]))}`, which is the caller's: work on a copy."


def fault_without_key(part: Part, data: Mapping[str, Any]) -> str | None:
    """The first fault of form of code that was tried on the public probes; None for none, and for other kinds."""
    if part.kind not in CODE_KINDS:
        return None
    if library := library_fault(part, data):
        return library
    if part.kind == "object":
        bugs = [play["broken"] for play in data["plays"] if play["broken"] and play["broken"]["name"] == "bug"]
        return code_line(str(bugs[0]["sentence"])) if bugs else None
    for probe, call in zip(part.probes, data["calls"], strict=True):
        found = outcome_fault(part, probe.given, call) or changed_fault(part, probe.given, call)
        if found:
            return found
    return None


def code_line(sentence: str) -> str:
    """The sentence, without marks, with the line of the learner's that it ends in, if there is one, set as code."""
    told = re.fullmatch(r"(.*, line \d+: )(.+?)(\.?)", sentence)
    return f"{as_typed(told[1])}{code(told[2])}{told[3]}" if told else as_typed(sentence)


def shown_result(value: Any) -> str:
    """A result as a learner would write it, shortened."""
    return code(shorten(_shown(value)))


def beside_what_is_right(got: Any, due: Any) -> str:
    """What a call gave, and what is right; of long results that begin alike, the first place where they part."""
    if shown_result(got) == shown_result(due) and (place := _first_apart(got, due)) is not None:
        where, got, due = place
        return f"gave {shown_result(got)} in the place `{where}` of its result, and {shown_result(due)} is right there"
    return f"gave {shown_result(got)}, and {shown_result(due)} is right"


def _first_apart(got: Any, due: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """The place of the first two values that differ by more than rounding, and both; None where the forms differ."""
    if isinstance(got, Mapping) and isinstance(due, Mapping) and "array" in got and "array" in due:
        return _first_apart(got["array"], due["array"], where)
    if isinstance(got, list) and isinstance(due, list):
        pairs = enumerate(zip(got, due, strict=False))
        inside = (_first_apart(*pair, f"{where}[{place}]") for place, pair in pairs)
        return next((found for found in inside if found), None)
    numbers = all(isinstance(one, int | float) for one in (got, due))
    same = math.isclose(got, due, rel_tol=1e-6) if numbers else got == due
    return (where, got, due) if where and not same else None


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and set(value) == {"float"}:
        return str(value["float"])
    if isinstance(value, Mapping) and set(value) == {"dict"}:
        return "{" + ", ".join(f"{_shown(name)}: {_shown(one)}" for name, one in value["dict"]) + "}"
    if isinstance(value, Mapping) and "array" in value:
        return f"array({_shown(value['array'])})"
    if isinstance(value, list):
        inner = ", ".join(_shown(one) for one in value[:8])
        return f"[{inner}{', …' if len(value) > 8 else ''}]"
    return repr(value) if not isinstance(value, str) else repr(value[:MOST_WORDS])
