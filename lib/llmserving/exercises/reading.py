"""From what a learner wrote to plain, typed data: a number with its unit, a letter, letters in order, or a fault.

Nothing here knows what is right. The data is JSON: {"kind": "value", "number": 1.07, "unit": "GB", "written": "1.07 GB"},
{"kind": "choice", "letter": "B"}, {"kind": "chain", "letters": ["B", "D"]} or {"kind": "fault", "fault": "nan", ...}.
"""

from __future__ import annotations

import math
import numbers
import re
import types
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.units import BYTES_PER_UNIT

Data = dict[str, Any]

WRITTEN_LIMIT = 40
_NUMBER = re.compile(r"([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)", re.DOTALL)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3}){2,}(\.\d+)?")
_TIMES = {"x", "×", "times", "fold", "-fold"}
_BIT_UNITS = re.compile(r"[kKmMgGtT]?i?(b|[bB]its?)")


def read_part(part: Part, raw: Any) -> Data:
    """The data of one part, from the value of the learner's variable."""
    try:
        return _read(part, raw)
    except Exception:
        # Looking at an object runs its own code (__repr__, __float__, __class__), and that may raise anything.
        return fault("type", type=_type_name(raw))


def _read(part: Part, raw: Any) -> Data:
    shared_fault = _fault_of_any_kind(raw)
    if shared_fault is not None:
        return shared_fault
    if part.kind == "value":
        return _read_value(part, raw)
    if part.kind == "choice":
        return _read_choice(part, raw)
    return _read_chain(part, raw)


def fault(fault_name: str, /, **details: str) -> Data:
    return {"kind": "fault", "fault": fault_name, **{key: _shorten(text) for key, text in details.items()}}


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
    if raw is Ellipsis or (isinstance(raw, str) and raw.strip() in ("", "...", "…")):
        return fault("placeholder")
    if raw is None:
        return fault("none")
    if isinstance(raw, (types.ModuleType, type)) or callable(raw):
        return fault("shadowed", type=_kind_of_callable(raw), name=str(getattr(raw, "__name__", type(raw).__name__)))
    return None


def _kind_of_callable(raw: Any) -> str:
    if isinstance(raw, types.ModuleType):
        return "module"
    return "class" if isinstance(raw, type) else "function"


def _read_value(part: Part, raw: Any) -> Data:
    if isinstance(raw, str):
        return _read_text(part, raw)
    scalar = _as_scalar(raw)
    if isinstance(scalar, bool):
        return fault("bool", written=repr(scalar))
    if isinstance(scalar, complex) and not isinstance(scalar, numbers.Real):
        return fault("type", type="complex")
    if not isinstance(scalar, numbers.Real):
        return _fault_of_container(raw)
    return _value(scalar, None, _written(scalar))


def _written(number: Any) -> str:
    try:
        return repr(number)
    except Exception:  # an int of more digits than Python writes out, or a __repr__ of the learner's own
        return f"a number of type {_type_name(number)}"


def _type_name(raw: Any) -> str:
    name = type.__getattribute__(type(raw), "__name__")
    return name if isinstance(name, str) else "object"


def _as_scalar(raw: Any) -> Any:
    """The Python number inside a NumPy scalar or a 0-d array or tensor; anything else as it is."""
    library = type(raw).__module__.split(".")[0]
    if library in ("numpy", "torch") and getattr(raw, "ndim", None) == 0:
        try:
            return raw.item()
        except (TypeError, ValueError, RuntimeError):
            return raw
    return raw


def _fault_of_container(raw: Any) -> Data:
    shape = getattr(raw, "shape", None)
    if shape is not None and not callable(shape):
        return fault("array", shape=str(tuple(shape)))
    if isinstance(raw, (list, tuple, set, dict)):
        return fault("container", type=type(raw).__name__, length=str(len(raw)))
    return fault("type", type=type(raw).__name__)


def _value(number: Any, unit: str | None, written: str) -> Data:
    try:
        exact: int | float = int(number) if isinstance(number, numbers.Integral) else float(number)
        as_float = float(exact)
    except OverflowError:
        return fault("infinite", written=written)
    if math.isnan(as_float):
        return fault("nan")
    if math.isinf(as_float):
        return fault("infinite", written=written)
    return {"kind": "value", "number": exact, "unit": unit, "written": _shorten(written)}


def _read_text(part: Part, raw: str) -> Data:
    text = raw.strip()
    if text.lower() in ("nan", "inf", "-inf", "infinity"):
        return _value(float(text), None, text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return fault("text", written=text)
    digits, suffix = match.groups()
    if "," in digits and not (_grouped_bytes(part, digits, suffix) or _GROUPED.fullmatch(digits)):
        return fault("comma", written=digits)
    try:
        cleaned = digits.replace(",", "").replace("_", "")
        number: int | float = int(cleaned) if re.fullmatch(r"[+-]?\d{1,300}", cleaned) else float(cleaned)
    except ValueError:
        return fault("text", written=text)
    return _with_unit(part, number, suffix.strip(), text)


def _grouped_bytes(part: Part, digits: str, suffix: str) -> bool:
    """Whether this is a number such as "524,288" of whole bytes, where the comma cannot stand before decimals."""
    in_bytes = part.unit == "bytes" and suffix.strip().lower() in ("", "b", "byte", "bytes")
    return in_bytes and re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+", digits) is not None


def _with_unit(part: Part, number: int | float, suffix: str, text: str) -> Data:
    if not suffix:
        return _value(number, None, text)
    if part.quantity == "bytes":
        if _BIT_UNITS.fullmatch(suffix) and (suffix.lower() != suffix or "bit" in suffix.lower()):
            return fault("bits", unit=suffix)
        by_folded_name = {unit.lower(): unit for unit in BYTES_PER_UNIT} | {"b": "bytes", "byte": "bytes"}
        unit = by_folded_name.get(suffix.lower())
        return fault("unit", unit=suffix) if unit is None else _value(number, unit, text)
    if part.quantity == "ratio" and suffix.lower() in _TIMES:
        return _value(number, None, text)
    if part.quantity == "count" and part.unit and suffix.lower().rstrip("s") == part.unit.lower().rstrip("s"):
        return _value(number, None, text)
    return fault("unit", unit=suffix)


def _read_choice(part: Part, raw: Any) -> Data:
    if part.letters == "TF" and _is_truth_value(raw):
        return {"kind": "choice", "letter": "T" if raw else "F"}
    if not isinstance(raw, str):
        return fault("letter_type", type=type(raw).__name__)
    letter = raw.strip().strip("().").strip().upper()
    if part.letters == "TF":
        letter = {"TRUE": "T", "FALSE": "F"}.get(letter, letter)
    if letter not in tuple(_letters(part)):
        return fault("letter", written=raw.strip(), letters=_letters(part))
    return {"kind": "choice", "letter": letter}


def _is_truth_value(raw: Any) -> bool:
    return isinstance(_as_scalar(raw), bool)


def _read_chain(part: Part, raw: Any) -> Data:
    if isinstance(raw, (list, tuple)) and all(isinstance(item, str) for item in raw):
        raw = " ".join(raw)
    if not isinstance(raw, str):
        return fault("letters_type", type=type(raw).__name__)
    letters = list(re.sub(r"->|[\s,;>→.()\[\]'\"-]+", "", raw).upper())
    for letter in letters:
        if letter not in _letters(part):
            return fault("letter", written=letter, letters=_letters(part))
        if letters.count(letter) > 1:
            return fault("repeated", written=letter)
    return {"kind": "chain", "letters": letters}


def _letters(part: Part) -> str:
    return part.letters or "ABCDEFGHIJKL"[: len(part.options)]


def _shorten(text: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable if len(printable) <= WRITTEN_LIMIT else printable[: WRITTEN_LIMIT - 1] + "…"
