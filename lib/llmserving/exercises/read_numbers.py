"""Reading one number: Python, NumPy and torch scalars, and text such as "1.07 GB", "1,07", "4x" or "1/16"."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault, shorten, type_name
from llmserving.exercises.read_units import names_what_is_counted, read_unit

_DIGITS = r"([+-]?(?:\d(?:[\d_,]*[\d_])?\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_NUMBER = re.compile(rf"{_DIGITS}(?:\s*/\s*{_DIGITS})?\s*(.*)", re.DOTALL)
_CALCULATION = re.compile(r"(?:[*/+^·×⋅]+|x(?=\s*\d))\s*[\d.(].*|[⁰¹²³⁴-⁹].*", re.DOTALL)
_NONE = re.compile(r"(?:none|zero|no)\b\s*(.*)", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)")
_GROUPED_BY_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)(?![\d.,])")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:0,\d+|\d+,(?!\d{3}(?!\d))\d+)(?:[eE][+-]?\d+)?")  # no thousands are grouped so
_SPACE_IN_NUMBER = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_MANY = {2: "two", 3: "three", 4: "four"}
_BEFORE_A_NUMBER = re.compile(r"(?:\+/?-(?=\s*[\d.])|[~≈=±]|\s)+")


def read_number(part: Part, raw: Any) -> Data:
    if isinstance(raw, str):
        return _read_text(part, raw)
    scalar = as_scalar(raw)
    if isinstance(scalar, bool):
        return fault("bool", written=repr(scalar))
    if isinstance(scalar, complex) and not isinstance(scalar, numbers.Real):
        return fault("type", type="complex")
    if not isinstance(scalar, (numbers.Real, Decimal)):
        return _fault_of_container(part, raw)
    return _value(scalar, None, _written(scalar))


def _written(number: Any) -> str:
    try:
        return repr(number)
    except Exception:  # an int of more digits than Python writes out, or a __repr__ of the learner's own
        return f"a number of type {type_name(number)}"


def as_scalar(raw: Any) -> Any:
    """The Python number inside a NumPy scalar or a 0-d array or tensor; anything else as it is."""
    library = type(raw).__module__.split(".")[0]
    if library in ("numpy", "torch") and getattr(raw, "ndim", None) == 0:
        try:
            return raw.item()
        except (TypeError, ValueError, RuntimeError):
            return raw
    return raw


def _fault_of_container(part: Part, raw: Any) -> Data:
    shape = getattr(raw, "shape", None)
    if shape is not None and not callable(shape):
        return fault("array", shape=str(tuple(shape)))
    if isinstance(raw, tuple) and (commas := _fault_of_commas(part, raw)):
        return commas
    if isinstance(raw, (list, tuple, set, dict)):
        return fault("container", type=type(raw).__name__, length=str(len(raw)))
    return fault("type", type=type(raw).__name__)


def _fault_of_commas(part: Part, raw: tuple[Any, ...]) -> Data | None:
    """What a number with commas in it is to Python, such as 524,288 or 6,5; None for what is no such tuple."""
    if len(raw) < 2 or not all(type(item) is int for item in raw) or any(item < 0 for item in raw[1:]):
        return None
    # Python has no 016, so three digits after a comma are 000, which it makes 0, or begin with another digit than 0.
    groups = abs(raw[0]) < 1000 and all(item == 0 or 100 <= item < 1000 for item in raw[1:])
    written, whole = ", ".join(map(str, raw)), "".join((str(raw[0]), *(f"{item:03}" for item in raw[1:])))
    if groups and (len(raw) > 2 or _is_whole(part)):
        return fault("commas_that_group", written=written, many=_MANY.get(len(raw), "several"), whole=whole)
    if len(raw) > 2:
        return None
    point = f"{raw[0]}.{raw[1]}"
    return fault("comma_of_two_kinds" if groups else "comma_in_code", written=written, point=point, whole=whole)


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
    return {"kind": "value", "number": exact, "unit": unit, "written": shorten(written)}


def _read_text(part: Part, raw: str) -> Data:
    typed = raw.strip()
    text = _BEFORE_A_NUMBER.sub("", typed, 1) if _BEFORE_A_NUMBER.match(typed) else typed
    text = _GROUPED_BY_POINTS.sub(_with_a_point, _SPACE_IN_NUMBER.sub("", text.rstrip(".,").strip()))
    if part.quantity == "ratio":
        text = text.lstrip("xX×").lstrip()
    if text.lower() in ("nan", "inf", "-inf", "infinity"):
        return _value(float(text), None, typed)
    none = _NONE.fullmatch(text)
    if none and part.quantity == "count" and names_what_is_counted(part, none[1]):
        return _value(0, None, typed)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return fault("text", written=typed)
    digits, below_the_line, suffix = match.groups()
    for each in (digits, below_the_line or ""):
        if "," in each and not any(
            (_grouped_whole(part, each, suffix), _GROUPED.fullmatch(each), _DECIMAL_COMMA.fullmatch(each))
        ):
            return fault("comma", written=each)
    if _CALCULATION.fullmatch(suffix):
        return fault("calculation", written=typed)
    try:
        number = _number(digits) if below_the_line is None else _divided(_number(digits), _number(below_the_line))
    except ValueError:
        return fault("text", written=typed)
    unit = read_unit(part, suffix.strip(), typed)
    return unit if isinstance(unit, dict) else _value(number, unit, typed)


def _with_a_point(grouped: re.Match[str]) -> str:
    """1.073.741,5 as Python writes it."""
    return grouped[0].replace(".", "").replace(",", ".")


def _number(digits: str) -> int | float:
    point = "." if _DECIMAL_COMMA.fullmatch(digits) else ""
    cleaned = digits.replace(",", point).replace("_", "")
    return int(cleaned) if re.fullmatch(r"[+-]?\d{1,300}", cleaned) else float(cleaned)


def _divided(above: float, below: float) -> float:
    """above / below, and infinity or NaN, as NumPy has it, where that is no number."""
    try:
        return above / below
    except ZeroDivisionError:
        return math.nan if above == 0 or math.isnan(above) else math.inf
    except OverflowError:
        return math.inf


def _grouped_whole(part: Part, digits: str, suffix: str) -> bool:
    """Whether this is a whole number such as "524,288", of bytes or a count, where no comma can stand before decimals."""
    in_bytes = suffix.strip().lower() in ("", "b", "byte", "bytes")
    whole = _is_whole(part) and (in_bytes or part.quantity != "bytes")
    return whole and re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+", digits) is not None


def _is_whole(part: Part) -> bool:
    """Whether a bare number is a whole one: of bytes, or a count."""
    return part.unit == "bytes" or part.quantity in ("count", "integer")
