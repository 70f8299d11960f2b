"""An answer that carries its unit: what it comes to in the unit asked for, and whether it is right in another than it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.units import BYTES_PER_UNIT, NANOSECONDS_PER_UNIT, format_number


def number_in_unit_of(part: Part, answer: Mapping[str, Any]) -> float:
    """The number in the unit of its part: 1.0737 for "1 GiB" in GB, 0.941 for 94.1 as a fraction, 2000 for "2 s" in ms."""
    number: float = answer["number"]
    unit, asked = answer.get("unit") or "", part.unit or ""
    if part.quantity == "fraction":
        return number / 100 if unit == "%" or number > 1 else number
    sizes = _unit_sizes(part)
    return number * sizes[unit] / sizes[asked] if unit in sizes and unit != asked else number


def names_another_unit(part: Part, answer: Mapping[str, Any]) -> bool:
    """Whether the answer names a unit that can be converted and is not the one asked for."""
    unit = answer.get("unit")
    return unit != part.unit and unit in _unit_sizes(part)


def wrong_unit(part: Part, answer: Mapping[str, Any], is_right: Callable[[float], bool]) -> str | None:
    """The sentence for a number that is right in another unit than the one it carries, such as "512 KB" for 512 KiB.

    is_right: whether a number in the unit of the part is right. None where the answer carries no unit, or none makes it right.
    """
    sizes, unit, asked = _unit_sizes(part), answer.get("unit") or "", part.unit or ""
    if unit not in sizes:
        return None
    asked_first = sorted(sizes, key=lambda name: name != asked)
    for meant in asked_first:
        if meant != unit and is_right(answer["number"] * sizes[meant] / sizes[asked]):
            larger, smaller = sorted((meant, unit), key=lambda name: -sizes[name])
            ratio = format_number(sizes[larger] / sizes[smaller], 4)
            return f"The number is right in {meant}, but you wrote {unit}, and 1 {larger} is {ratio} {smaller}."
    return None


def _unit_sizes(part: Part) -> Mapping[str, int]:
    """Each unit that an answer of this part may name, with its size in the smallest of them; empty where there are none."""
    sizes: Mapping[str, int] = {"bytes": BYTES_PER_UNIT, "real": NANOSECONDS_PER_UNIT}.get(part.quantity or "", {})
    return sizes if part.unit in sizes else {}
