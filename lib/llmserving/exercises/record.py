"""record: the learner's call that keeps a measurement."""

from __future__ import annotations

import difflib
from typing import Any

from llmserving.exercises.card import Card, Shown
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course_call import course_call
from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import shorten, type_name
from llmserving.exercises.markup import as_typed
from llmserving.exercises.read_recording import checked_fields
from llmserving.exercises.recordings import keep
from llmserving.units import format_number


@course_call('`record("L1.lab.predicted", tokens_per_s=40)`', "Nothing was recorded")
def record(name: Any = None, **fields: Any) -> Shown:
    """Keep numbers under the name that an exercise gives them: record("L1.lab.predicted", tokens_per_s=40).

    They are added to recordings.json beside the notebook; what was recorded before stays. The last counts, and answers that
    were worked out from one before it stay right. Nothing is kept where the form is off, and the card says what is.
    """
    part = _part_named(name)
    if isinstance(part, str):
        return Shown(Card("Nothing was recorded", "plain", (part,)))
    kept, off = checked_fields(part, fields)
    if off:
        return Shown(Card(f"{part.variable} · nothing was recorded", "plain", tuple(off)))
    warning = keep(part.variable, kept)
    rows = tuple((field.name, _shown(kept[field.name]), field.unit) for field in part.fields)
    paragraphs = (warning,) if warning else ()
    return Shown(Card(f"{part.variable} · recorded", "plain", paragraphs, (("what", "recorded", "unit"), *rows)))


def _part_named(name: Any) -> Part | str:
    """The part that is recorded under this name, or why there is none."""
    parts = {part.variable: part for one in EXERCISES.values() for part in one.parts if part.kind == "measurement"}
    meant = {one.casefold(): part for one, part in parts.items()}
    if isinstance(name, str) and (part := meant.get(name.strip().casefold())):
        return part
    if not isinstance(name, str):
        return f"A recording is named by text, such as record({min(parts)!r}, ...), but got {type_name(name)}."
    near = difflib.get_close_matches(name, parts, n=3, cutoff=0.4) or sorted(parts)
    return f"No exercise asks for a recording named '{as_typed(shorten(name))}'" + (
        f"; did you mean {', '.join(near)}?" if near else "."
    )


def _shown(value: Any) -> str:
    numbers = value if isinstance(value, list) else [value]
    shown = ", ".join(format_number(one) for one in numbers[:3])
    return shown if len(numbers) <= 3 else f"{shown}, … ({len(numbers)})"
