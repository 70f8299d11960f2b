"""Grading a function by what it gave on the inputs: right, a named mistake, a call that stopped, or one that is off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llmserving.exercises.calls import outcomes
from llmserving.exercises.code_faults import (
    beside_what_is_right,
    call_words,
    changed_fault,
    library_fault,
    outcome_fault,
    shown_result,
)
from llmserving.exercises.exercise import Part, Probe
from llmserving.exercises.plain_values import is_plain
from llmserving.exercises.read_code import digest
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.code_verdict import explaining, library_verdict, verdict_by_groups
from grader.answer_key.lab_keys import FunctionKey

STOPPED, CHANGES_ARGUMENTS, TEXT = "stopped", "changes_arguments", "text_for_a_number"
# Nothing is tried twice, so that a long text of a learner's is looked through once.
_WRITTEN_NUMBER = re.compile(r"\s*+[+-]?(?:\d[\d,_]*+(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?\D*+", re.IGNORECASE)


def grade_function(part: Part, key: FunctionKey, answer: Mapping[str, Any], probes: Sequence[Probe]) -> PartVerdict:
    """The answer is well formed; see `well_formed_calls`."""
    if library := library_fault(part, answer):
        return library_verdict(part, library)
    given = [probe.given for probe in probes]
    expected, calls = _seen(key, outcomes(key.reference, given)), _seen(key, answer["calls"])
    off = [index for index in range(len(given)) if not same_outcome(key, expected[index], calls[index])]
    failing = [index for index, call in enumerate(calls) if index in off or call.get("changed")]
    wrongs = {}
    for wrong in key.misconceptions:
        made = _seen(key, outcomes(wrong.made, given))
        differs = [index for index in range(len(given)) if not same_outcome(key, expected[index], made[index])]
        wrongs[wrong.name] = wrong, {index: same_outcome(key, made[index], calls[index]) for index in differs}
    named = explaining(wrongs, probes, off)
    others = _others(part, failing, expected, answer["calls"], probes, named)
    if key.judge is None or not failing or not set(others) <= {""}:
        return verdict_by_groups(part, key, probes, failing, named, others)
    judged = key.judge(answer["calls"][failing[0]]["returned"])
    verdict = verdict_by_groups(part, key, probes, failing, named, {**others, "": judged.told})
    earned = max(verdict.score, judged.earns * part.points)
    return replace(verdict, score=earned, state="partly" if earned else verdict.state)


def _seen(key: FunctionKey, calls: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls, with what a result comes to in its place where the key judges results."""
    if key.judge is None:
        return list(calls)
    return [{**call, "returned": key.judge(call["returned"]).seen} if "returned" in call else call for call in calls]


def well_formed_calls(answer: Mapping[str, Any], given: Sequence[Mapping[str, Any]]) -> bool:
    """Results for just these inputs, in the form that `collect` gives them."""
    calls = answer["calls"]
    return (
        answer["inputs"] == digest(given)
        and isinstance(calls, list)
        and len(calls) == len(given)
        and all(isinstance(call, dict) and _well_formed(call) for call in calls)
    )


def _well_formed(call: Mapping[str, Any]) -> bool:
    if len(set(call) - {"changed"}) != 1 or not isinstance(call.get("changed", []), list):
        return False
    if "returned" in call:
        return is_plain(call["returned"])
    if "raised" in call:
        raised = call["raised"]
        return isinstance(raised, dict) and all(isinstance(said, str) and len(said) <= 300 for said in raised.values())
    return call.get("too_large") is True or isinstance(call.get("unreadable"), str)


def same_outcome(key: FunctionKey, expected: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Equal results, or two refusals: which error is raised is the learner's to choose, but a stub is none."""
    if "raised" in expected or "raised" in got:
        stub = got.get("raised", {}).get("type") == "NotImplementedError"
        return "raised" in expected and "raised" in got and not stub
    return "returned" in expected and "returned" in got and _equal(key, expected["returned"], got["returned"])


def _equal(key: FunctionKey, expected: Any, got: Any) -> bool:
    if _is_number(expected) and _is_number(got):
        return key.tolerance.accepts(expected, got) and (not key.same_type or type(expected) is type(got))
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(_equal(key, *pair) for pair in zip(expected, got, strict=True))
    if isinstance(expected, dict) and isinstance(got, dict) and "dict" in expected and "dict" in got:
        return _equal(key, sorted(expected["dict"], key=repr), sorted(got["dict"], key=repr))
    return type(expected) is type(got) and bool(expected == got)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _others(
    part: Part,
    failing: Sequence[int],
    expected: Sequence[Any],
    calls: Sequence[Any],
    probes: Sequence[Probe],
    named: Any,
) -> dict[str, str]:
    """What no name says: the first call that stopped, that changed its arguments or gave text for a number, else that is off."""
    told: dict[str, str] = {}
    for index in failing:
        given, call = probes[index].given, calls[index]
        stopped = "raised" not in expected[index] and outcome_fault(part, given, call)
        if stopped:
            told.setdefault(STOPPED, stopped)
        elif changed := changed_fault(part, given, call):
            told.setdefault(CHANGES_ARGUMENTS, changed)
        elif _text_for_a_number(expected[index].get("returned"), call.get("returned")):
            got = f"{call_words(part, given)} gave {shown_result(call['returned'])}"
            told.setdefault(
                TEXT, f"{got}: text where a number belongs. Return the number itself, without quotes or a unit."
            )
    if failing and not told and not named:
        told[""] = _off(part, failing[0], expected, calls, probes)
    return told


def _off(part: Part, index: int, expected: Sequence[Any], calls: Sequence[Any], probes: Sequence[Probe]) -> str:
    """The first input that is off; what is right there is told only where everybody may see the input."""
    call, due = call_words(part, probes[index].given), expected[index]
    if "raised" in due:
        return f"{call} gave a result, and should refuse by raising an error: {due['raised']['said']}."
    if "returned" not in calls[index]:
        return outcome_fault(part, probes[index].given, calls[index]) or f"{call} stopped, and a result is due."
    got = shown_result(calls[index]["returned"])
    if isinstance(due["returned"], list) and not isinstance(calls[index]["returned"], list):
        return f"{call} gave {got}, which is one value. Return {len(due['returned'])} values together, in order."
    if index < len(part.probes):
        return f"{call} {beside_what_is_right(calls[index]['returned'], due['returned'])}."
    return f"{call} gave {got}, which is not right; due is {_kind(due['returned'])}."


def _text_for_a_number(due: Any, got: Any) -> bool:
    """Whether a number is written as text where a number is due, in the result or in a list of results.

    Another text, such as a digest in hex for the number of a block, was meant to be what it is.
    """
    if isinstance(due, list) and isinstance(got, list):
        return any(_text_for_a_number(*pair) for pair in zip(due, got, strict=False))
    return _is_number(due) and isinstance(got, str) and _WRITTEN_NUMBER.fullmatch(got) is not None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, int):
        return "another whole number"
    if isinstance(value, float):
        return "another number"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "another text" if isinstance(value, str) else "something else"
