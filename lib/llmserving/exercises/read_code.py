"""Reading a function or a class of the learner's: what it gives on inputs, or the script by script trace of its play.

{"kind": "function", "inputs": digest, "source", "library": name or None, "calls": [outcome, ...]}, and for an object
"plays": [trace, ...] in the place of the calls.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llmserving.exercises.calls import outcomes
from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault, printable, type_name
from llmserving.exercises.library_calls import library_call, only_inherits, source_of
from llmserving.exercises.players import trace

Inputs = Sequence[Mapping[str, Any]]


def probe_inputs(part: Part) -> Inputs:
    return [probe.given for probe in part.probes]


def read_code(part: Part, raw: Any, inputs: Inputs, namespace: Mapping[str, Any]) -> Data:
    """The data of a function or an object, from what the learner's variable holds."""
    seen = _on_function(part, raw, inputs) if part.kind == "function" else _on_class(part, raw, inputs)
    if seen.get("kind") == "fault":
        return seen
    library = library_call(raw, part.own_work, namespace)
    if library is None and part.kind == "object" and (base := only_inherits(raw)):
        return fault("inherited", base=base)
    return {"kind": part.kind, "inputs": digest(inputs), "source": source_of(raw), "library": library, **seen}


def digest(inputs: Iterable[Mapping[str, Any]]) -> str:
    """Names the inputs, so that results for others are not taken for results for these."""
    return hashlib.sha256(json.dumps(list(inputs), sort_keys=True).encode()).hexdigest()[:16]


def _on_function(part: Part, raw: Any, inputs: Inputs) -> Data:
    if isinstance(raw, type) or not callable(raw):
        return fault("not_function", type="class" if isinstance(raw, type) else type_name(raw))
    if inputs and (why := _why_not_called(raw, inputs[0])):
        return {"kind": "fault", "fault": "signature", "called": ", ".join(inputs[0]), "why": printable(why)}
    calls = outcomes(raw, inputs)
    if calls and all(call.get("raised", {}).get("type") == "NotImplementedError" for call in calls):
        return fault("stub")
    return {"calls": calls}


def _why_not_called(function: Any, given: Mapping[str, Any]) -> str | None:
    try:
        inspect.signature(function).bind(**given)
    except TypeError as error:
        return str(error)
    except Exception:  # of a builtin there is often none; the call itself tells
        return None
    return None


def _on_class(part: Part, raw: Any, inputs: Inputs) -> Data:
    if not isinstance(raw, type):
        return fault("not_class", type=type_name(raw))
    plays = [trace(str(part.player), raw, script) for script in inputs]
    if plays and all(_is_stub(play["broken"]) for play in plays) and not _is_begun(raw, part.stub or ""):
        return fault("stub")
    return {"plays": plays}


def _is_begun(made: type, stub: str) -> bool:
    """Whether one of the methods that the stub leaves open is written: then the play says which is not."""
    left_open = [
        node.name
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.FunctionDef) and any(isinstance(line, ast.Raise) for line in node.body)
    ]
    codes = (getattr(getattr(made, name, None), "__code__", None) for name in left_open)
    return any(code is not None and "NotImplementedError" not in code.co_names for code in codes)


def _is_stub(broken: Data | None) -> bool:
    """Not even the first operation is written."""
    return broken is not None and broken["not_written"] and broken["operation"] <= 1
