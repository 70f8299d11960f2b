"""From what a learner wrote to plain, typed data: a number with its unit, a letter, letters in order, or a fault.

Nothing here knows what is right. The data is JSON: {"kind": "value", "number": 1.07, "unit": "GB", "written": "1.07 GB"},
{"kind": "choice", "letter": "B"}, {"kind": "chain", "letters": ["B", "D"]} or {"kind": "fault", "fault": "nan", ...}.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault, type_name
from llmserving.exercises.read_code import Inputs, read_code
from llmserving.exercises.read_letters import read_chain, read_choice
from llmserving.exercises.read_numbers import read_number
from llmserving.exercises.read_recording import read_fields
from llmserving.paging.learners_code import is_stop


def read_part(part: Part, raw: Any) -> Data:
    """The data of one part, from the value of the learner's variable."""
    try:
        return _read(part, raw)
    except Exception:
        # Looking at an object runs its own code (__repr__, __float__, __class__), and that may raise anything.
        return fault("type", type=type_name(raw))


def read_written(part: Part, raw: Any, inputs: Inputs, namespace: Mapping[str, Any]) -> Data:
    """The data of a part that asks for code: what comes of it on the inputs."""
    try:
        if raw is Ellipsis or raw is None:
            return fault("placeholder" if raw is Ellipsis else "none")
        return read_code(part, raw, inputs, namespace)
    except BaseException as error:
        if is_stop(error):
            raise
        # The code of a metaclass or a __call__ runs when it is looked at, and may raise anything.
        return fault("type", type=type_name(raw))


def _read(part: Part, raw: Any) -> Data:
    shared_fault = _fault_of_any_kind(raw)
    if shared_fault is not None:
        return shared_fault
    if part.kind == "measurement":
        return read_fields(part, raw)
    if part.kind == "value":
        return read_number(part, raw)
    if part.kind == "choice":
        return read_choice(part, raw)
    return read_chain(part, raw)


def missing(variable: str, namespace: Any) -> Data:
    """Why a variable is absent, as far as the session shows: misspelt, deleted, or its cell not run."""
    names = [name for name in namespace if isinstance(name, str) and not name.startswith("_")]
    folded = variable.replace("_", "").lower()
    for name in names:
        if name.replace("_", "").lower() == folded:
            return fault("misspelt", other=name)
    cells_run = namespace.get("In", [])
    mentions = re.compile(rf"\b{re.escape(variable)}\b")
    if isinstance(cells_run, list) and any(isinstance(cell, str) and mentions.search(cell) for cell in cells_run):
        return fault("gone")
    return fault("not_run")


def _fault_of_any_kind(raw: Any) -> Data | None:
    if raw is Ellipsis or (isinstance(raw, str) and raw.strip() in ("...", "…")):
        return fault("placeholder")
    if isinstance(raw, str) and not raw.strip():
        return fault("empty")
    if raw is None:
        return fault("none")
    if isinstance(raw, (types.ModuleType, type)) or callable(raw):
        return fault("shadowed", type=_kind_of_callable(raw), name=str(getattr(raw, "__name__", type(raw).__name__)))
    return None


def _kind_of_callable(raw: Any) -> str:
    if isinstance(raw, types.ModuleType):
        return "module"
    return "class" if isinstance(raw, type) else "function"
