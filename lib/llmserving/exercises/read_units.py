"""The unit behind a number in text, as people write it: "GB", "gigabytes", "msec", "tok/s", "times as large"."""

from __future__ import annotations

import re

from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault
from llmserving.units import BYTES_PER_UNIT, NANOSECONDS_PER_UNIT

_LONG_NAMES = {
    "kilobyte": "KB", "megabyte": "MB", "gigabyte": "GB", "terabyte": "TB",
    "kibibyte": "KiB", "mebibyte": "MiB", "gibibyte": "GiB", "tebibyte": "TiB", "byte": "bytes", "b": "bytes",
}  # fmt: skip
_UNIT_NAMED = {unit.lower(): unit for unit in BYTES_PER_UNIT} | _LONG_NAMES
_PER_CENT = {"%", "percent", "per cent"}
_TIMES = re.compile(r"(?:x|×|times|-?fold)(?:\s+(?:as\s+\w+(?:\s+as)?|more|less|\w+er))?|:\s?1", re.IGNORECASE)
_TIME_UNIT_NAMED = {
    name: unit
    for unit in NANOSECONDS_PER_UNIT
    for short in (unit, f"{unit}ec")
    for name in (short, short.replace("µ", "μ"), short.replace("µ", "u"))
} | {"second": "s", "millisecond": "ms", "microsecond": "µs", "nanosecond": "ns"}
_SHORT = {"tok": "token", "req": "request", "b": "byte", "op": "flop", "operation": "flop", "sec": "s", "second": "s"}
_BIT_UNITS = re.compile(r"[kKmMgGtT]?i?(b|[bB]its?)")
_ANOTHER_NUMBER = re.compile(r"(?<![^\W\d_])\d")  # not the digit in a name such as FP16


def read_unit(part: Part, suffix: str, typed: str) -> str | Data | None:
    """The name of the unit where it is one that can be converted, None where it is the part's own or there is none, or a
    fault. typed: the whole answer."""
    lower = suffix.lower()
    if not suffix:
        return None
    if part.quantity == "bytes":
        if _BIT_UNITS.fullmatch(suffix) and (lower != suffix or "bit" in lower):
            return fault("bits", unit=suffix)
        return _UNIT_NAMED.get(lower.removesuffix("s")) or _misfit(suffix, typed)
    if part.quantity == "fraction" and lower in _PER_CENT:
        return "%"
    if part.quantity == "real" and part.unit in NANOSECONDS_PER_UNIT:
        unit = _TIME_UNIT_NAMED.get(lower) or _TIME_UNIT_NAMED.get(lower.removesuffix("s"))
        return unit or _misfit(suffix, typed)
    return None if _is_its_own(part, suffix) else _misfit(suffix, typed)


def names_what_is_counted(part: Part, word: str) -> bool:
    if not word or part.unit is None:
        return not word
    counted, named = _word(part.unit), _word(word)
    return named == counted or {named, counted} == {"slot", "token"}  # a slot is the place of one token


def _is_its_own(part: Part, suffix: str) -> bool:
    """Whether this names what a bare number stands for anyway."""
    if part.quantity == "ratio":
        return _TIMES.fullmatch(suffix) is not None
    if part.quantity == "real" and part.unit and _is_rate(part.unit, suffix):
        return True
    counts = part.quantity == "count" or (part.quantity, part.unit) == ("real", "tokens")
    return counts and names_what_is_counted(part, suffix)


def _is_rate(unit: str, suffix: str) -> bool:
    """Whether both are one unit, such as "FLOPs per byte" and "FLOP/B"; "/s" alone will do for "tokens/s"."""
    asked, (first, *rest) = _words(unit), _words(suffix)
    return [first, *rest] == asked or (not first and rest == asked[1:])


def _words(unit: str) -> list[str]:
    return [_word(word) for word in re.split(r"\s*/\s*|(?:^|\s+)(?:per|a)\s+", unit)]


def _word(word: str) -> str:
    one = word.lower().removesuffix("s") or word.lower()
    return _SHORT.get(one, one)


def _misfit(suffix: str, typed: str) -> Data:
    return fault("several", written=typed) if _ANOTHER_NUMBER.search(suffix) else fault("unit", unit=suffix)
