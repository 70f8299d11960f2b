"""Reading one number: Python, NumPy and torch scalars, and text such as "1.07 GB", "1,07", "4x" or "1/16"."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault, shorten, type_name
from llmserving.units import BYTES_PER_UNIT, NANOSECONDS_PER_UNIT

_DIGITS = r"([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_NUMBER = re.compile(rf"{_DIGITS}(?:\s*/\s*{_DIGITS})?\s*(.*)", re.DOTALL)
_CALCULATION = re.compile(r"(?:[*/+^·×⋅]+|x(?=\s*\d))\s*[\d.(].*|[⁰¹²³⁴-⁹].*", re.DOTALL)
_NONE = re.compile(r"(?:none|zero|no)\b\s*(.*)", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3}){2,}(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:0,\d+|\d+,(?!\d{3}(?!\d))\d+)(?:[eE][+-]?\d+)?")  # no thousands are grouped so
_SPACE_IN_NUMBER = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_LONG_NAMES = {
    "kilobyte": "KB", "megabyte": "MB", "gigabyte": "GB", "terabyte": "TB",
    "kibibyte": "KiB", "mebibyte": "MiB", "gibibyte": "GiB", "tebibyte": "TiB", "byte": "bytes", "b": "bytes",
}  # fmt: skip
_UNIT_NAMED = {unit.lower(): unit for unit in BYTES_PER_UNIT} | _LONG_NAMES
_PER_CENT = {"%", "percent", "per cent"}
_TIMES = {"x", "×", "times", "fold", "-fold", ":1", ": 1", "times fewer", "times less"}
_TIME_UNIT_NAMED = {name: unit for unit in NANOSECONDS_PER_UNIT for name in (unit, unit.replace("µ", "μ"))} | {
    "us": "µs", "sec": "s", "second": "s", "millisecond": "ms", "microsecond": "µs", "nanosecond": "ns",
}  # fmt: skip
_BIT_UNITS = re.compile(r"[kKmMgGtT]?i?(b|[bB]its?)")


def read_number(part: Part, raw: Any) -> Data:
    if isinstance(raw, str):
        return _read_text(part, raw)
    scalar = as_scalar(raw)
    if isinstance(scalar, bool):
        return fault("bool", written=repr(scalar))
    if isinstance(scalar, complex) and not isinstance(scalar, numbers.Real):
        return fault("type", type="complex")
    if not isinstance(scalar, (numbers.Real, Decimal)):
        return _fault_of_container(raw)
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


def _fault_of_container(raw: Any) -> Data:
    shape = getattr(raw, "shape", None)
    if shape is not None and not callable(shape):
        return fault("array", shape=str(tuple(shape)))
    if isinstance(raw, tuple) and len(raw) == 2 and all(type(item) is int for item in raw):
        return fault("comma_in_code", written=f"{raw[0]}, {raw[1]}", point=f"{raw[0]}.{abs(raw[1])}")
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
    return {"kind": "value", "number": exact, "unit": unit, "written": shorten(written)}


def _read_text(part: Part, raw: str) -> Data:
    text = _SPACE_IN_NUMBER.sub("", raw.strip().lstrip("~≈=").rstrip(".").strip())
    if part.quantity == "ratio":
        text = text.lstrip("xX×").lstrip()
    if text.lower() in ("nan", "inf", "-inf", "infinity"):
        return _value(float(text), None, text)
    none = _NONE.fullmatch(text)
    if none and part.quantity == "count" and _names_what_is_counted(part, none[1]):
        return _value(0, None, text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return fault("text", written=text)
    digits, below_the_line, suffix = match.groups()
    for each in (digits, below_the_line or ""):
        if "," in each and not any(
            (_grouped_whole(part, each, suffix), _GROUPED.fullmatch(each), _DECIMAL_COMMA.fullmatch(each))
        ):
            return fault("comma", written=each)
    if _CALCULATION.fullmatch(suffix):
        return fault("calculation", written=text)
    try:
        number = _number(digits) if below_the_line is None else _divided(_number(digits), _number(below_the_line))
    except ValueError:
        return fault("text", written=text)
    return _with_unit(part, number, suffix.strip(), text)


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
    in_bytes = part.unit == "bytes" and suffix.strip().lower() in ("", "b", "byte", "bytes")
    return (in_bytes or part.quantity in ("count", "integer")) and re.fullmatch(
        r"[+-]?\d{1,3}(,\d{3})+", digits
    ) is not None


def _with_unit(part: Part, number: int | float, suffix: str, text: str) -> Data:
    if not suffix:
        return _value(number, None, text)
    if part.quantity == "bytes":
        if _BIT_UNITS.fullmatch(suffix) and (suffix.lower() != suffix or "bit" in suffix.lower()):
            return fault("bits", unit=suffix)
        unit = _UNIT_NAMED.get(suffix.lower().removesuffix("s"))
        return fault("unit", unit=suffix) if unit is None else _value(number, unit, text)
    if part.quantity == "ratio" and suffix.lower() in _TIMES:
        return _value(number, None, text)
    if part.quantity == "fraction" and suffix.lower() in _PER_CENT:
        return _value(number, "%", text)
    if part.quantity == "real" and part.unit in NANOSECONDS_PER_UNIT:
        unit = _TIME_UNIT_NAMED.get(suffix.lower()) or _TIME_UNIT_NAMED.get(suffix.lower().removesuffix("s"))
        return fault("unit", unit=suffix) if unit is None else _value(number, unit, text)
    if part.quantity == "real" and part.unit and _plain_unit(suffix) == _plain_unit(part.unit):
        return _value(number, None, text)
    if (part.quantity == "count" or (part.quantity, part.unit) == ("real", "tokens")) and _names_what_is_counted(
        part, suffix
    ):
        return _value(number, None, text)
    return fault("unit", unit=suffix)


def _plain_unit(unit: str) -> tuple[str, ...]:
    """The words of a unit, so that "FLOPs per byte" and "FLOP/byte" are one."""
    words = (word.removesuffix("s") or "s" for word in re.split(r"\s*/\s*|\s+(?:per|a)\s+", unit.lower()))
    return tuple("s" if word in ("sec", "second") else word for word in words)


def _names_what_is_counted(part: Part, word: str) -> bool:
    if not word or part.unit is None:
        return not word
    counted, named = part.unit.lower().rstrip("s"), word.lower().rstrip("s")
    return named == counted or {named, counted} == {"slot", "token"}  # a slot is the place of one token
