"""Reading letters: one for a choice, several in order for a chain."""

from __future__ import annotations

import re
from typing import Any

from llmserving.exercises.exercise import Part
from llmserving.exercises.faults import Data, fault
from llmserving.exercises.read_numbers import as_scalar


def read_choice(part: Part, raw: Any) -> Data:
    if part.letters == "TF" and _is_truth_value(raw):
        return {"kind": "choice", "letter": "T" if raw else "F"}
    if not isinstance(raw, str):
        return fault("letter_type", type=type(raw).__name__)
    letter = raw.strip().strip("().").strip().upper()
    if part.letters == "TF":
        letter = {"TRUE": "T", "FALSE": "F"}.get(letter, letter)
    if letter not in part.all_letters:
        return fault("letter", written=raw.strip(), letters="".join(part.all_letters))
    return {"kind": "choice", "letter": letter}


def _is_truth_value(raw: Any) -> bool:
    return isinstance(as_scalar(raw), bool)


def read_chain(part: Part, raw: Any) -> Data:
    if isinstance(raw, (list, tuple)) and all(isinstance(item, str) for item in raw):
        raw = " ".join(raw)
    if not isinstance(raw, str):
        return fault("letters_type", type=type(raw).__name__)
    letters = list(re.sub(r"->|[\s,;=>→./()\[\]'\"-]+", "", raw).upper())
    for letter in letters:
        if letter not in part.all_letters:
            return fault("letters", written=raw.strip(), letters="".join(part.all_letters))
        if letters.count(letter) > 1:
            return fault("repeated", written=letter)
    return {"kind": "chain", "letters": letters}
