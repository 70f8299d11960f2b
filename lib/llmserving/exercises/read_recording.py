"""Reading a recording: are the numbers that are asked for there, in their units, and how often was it measured?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.exercise import Field, Part
from llmserving.exercises.faults import Data, fault, shorten, type_name
from llmserving.exercises.markup import as_typed
from llmserving.exercises.plain_values import MOST_ITEMS, NotPlainError, TooLargeError, plain
from llmserving.exercises.recordings import UnreadableRecordings, recordings
from llmserving.units import format_number

MOST_EARLIER = 10  # recordings of one name, before the last, that are looked at


def read_measurement(part: Part) -> Data:
    """The last recording of that name, and when in the order of all recordings it was first made, or a fault.

    Where it was made more than once, its own place in that order, and those before it, the latest ones: answers may have
    been worked out from them.
    """
    try:
        every = recordings()
    except UnreadableRecordings as why:
        return fault("recordings", why=str(why))
    places = [place for place, entry in enumerate(every) if entry["name"] == part.variable]
    if not places:
        return fault("not_recorded")
    found = read_fields(part, every[places[-1]]["fields"], places[0])
    earlier = [
        {"place": place, "fields": before["fields"]}
        for place in places[:-1][-MOST_EARLIER:]
        if (before := read_fields(part, every[place]["fields"]))["kind"] == "measurement"
    ]
    return {**found, "place": places[-1], "earlier": earlier} if earlier and found["kind"] == "measurement" else found


def read_fields(part: Part, fields: Any, first: int = 0) -> Data:
    """Recorded numbers as data: {"kind": "measurement", "first": 0, "fields": {"seconds": [...]}}."""
    named = {str(name): value for name, value in fields.items()} if isinstance(fields, Mapping) else {}
    kept, off = checked_fields(part, named)
    return {"kind": "measurement", "first": first, "fields": kept} if not off else {
        "kind": "fault", "fault": "recording_form", "why": " ".join(off)[:300]
    }  # fmt: skip


def checked_fields(part: Part, given: Mapping[str, Any]) -> tuple[Data, list[str]]:
    """The fields as plain numbers, and a sentence for each that is off."""
    kept: Data = {}
    off = []
    for field in part.fields:
        if field.name not in given:
            off.append(f"`{field.name}` is missing: {_asked(field)}.")
            continue
        numbers = _numbers(given[field.name])
        if numbers is None:
            off.append(f"`{field.name}` {_what(given[field.name])}; it is {_asked(field)}.")
        elif (why := _why_off(field, numbers)) is not None:
            off.append(why)
        else:
            kept[field.name] = numbers if field.samples > 1 else numbers[0]
    unknown = [as_typed(shorten(name)) for name in given if name not in {field.name for field in part.fields}]
    if unknown:
        names = " and ".join(field.name for field in part.fields)
        off.append(f"{', '.join(unknown[:3])} does not belong to this recording; it takes {names}.")
    return kept, off


def _numbers(value: Any) -> list[float] | None:
    try:
        found = plain(value)
    except (TooLargeError, NotPlainError, RecursionError):
        return None
    except Exception:  # an object whose own code raises when it is looked at
        return None
    numbers = found if isinstance(found, list) else [found]
    plainly = all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)
    return numbers if numbers and plainly else None


def _why_off(field: Field, numbers: list[float]) -> str | None:
    if len(numbers) < field.samples or (field.samples == 1 and len(numbers) > 1):
        return f"`{field.name}` holds {len(numbers)} number{'s' if len(numbers) > 1 else ''}; it is {_asked(field)}."
    worst = next((one for one in numbers if not field.least <= one <= field.most), None)
    if worst is not None:
        return (
            f"`{field.name}` is {format_number(worst)}, and in {field.unit} it lies between {format_number(field.least)} and "
            f"{format_number(field.most)} on any machine. Is it in another unit?"
        )
    if field.whole and not all(float(one).is_integer() for one in numbers):
        return f"`{field.name}` is {format_number(numbers[0])}, and it is a whole number of {field.unit}."
    return None


def _what(value: Any) -> str:
    if value is ...:
        return "still holds `...`: put an answer in its place, and run that cell"
    many = type_name(value) in ("list", "tuple", "ndarray", "Tensor")
    if isinstance(value, str):
        return (
            f"is the text '{as_typed(shorten(value))}'. Write the number without quotes, with a point before decimals"
        )
    if isinstance(value, float):
        return f"is {value}, somewhere on the way stood a division by zero"
    if many and len(value) > MOST_ITEMS:
        return f"holds {len(value):,} numbers, more than the {MOST_ITEMS:,} that a recording keeps"
    return "holds something that is not a number" if many else f"is of type {type_name(value)}"


def _asked(field: Field) -> str:
    number = "whole number" if field.whole else "number"
    return f"a {number} of {field.unit}" if field.samples == 1 else f"{field.samples} or more {number}s of {field.unit}"
