"""The sentence for an answer that cannot be read: which variable, what it holds, what would be right.

The data may come from a learner's process, so a detail is only ever quoted, and a fault of an unknown name still gets a
sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.exercise import LAB_KINDS, Part
from llmserving.exercises.markup import as_typed
from llmserving.exercises.verdict import PartVerdict, State

Data = dict[str, Any]
"""What collect gives for one part: JSON, with a "kind"."""

WRITTEN_LIMIT, QUOTED_LIMIT = 40, 300

_SENTENCES = {
    "placeholder": "`{variable}` still holds `...`; put your answer in its place and run the answer cell.",
    "empty": "`{variable}` is empty text; put your answer between the quotes and run the answer cell.",
    "none": "`{variable}` is None. A cell or a function gave nothing back; set it to {wanted}.",
    "not_run": "`{variable}` is not set. Run the answer cell, then this one.",
    "gone": "`{variable}` was named in a cell that ran, but it is not set now: deleted, or that cell stopped before it. "
    "Run the answer cell again.",
    "misspelt": "`{variable}` is not set, but `{other}` is. This check reads the first spelling; rename yours.",
    "shadowed": "`{variable}` holds the {type} {name}, not an answer. Another cell or an import took the name, or the "
    "brackets of a call are missing. Set it to {wanted}.",
    "bool": "`{variable}` is {written}, a truth value. Set it to {wanted}.",
    "nan": "`{variable}` is NaN, not a number: somewhere on the way stood 0/0 or inf - inf.",
    "infinite": "`{variable}` is {written}, too large to be an answer here: was something divided by zero?",
    "array": "`{variable}` is an array of shape {shape}. Set it to {wanted}.",
    "container": "`{variable}` is a {type} of {length}. Set it to {wanted}.",
    "type": "`{variable}` is of type {type}. Set it to {wanted}.",
    "text": "`{variable}` is the text '{written}', which does not start with a number. Set it to {wanted}.",
    "calculation": "`{variable}` is the calculation '{written}' as text. Write it without quotes, with `*` for times and `**` "
    "for powers, and Python works it out.",
    "comma_in_code": "`{variable}` is {written}, two numbers to Python. If that is a decimal comma, write a point: {point}.",
    "commas_that_group": "`{variable}` is {written}, {many} numbers to Python. If a comma groups thousands, leave it out: "
    "{whole}.",
    "comma_of_two_kinds": "`{variable}` is {written}, two numbers to Python. If that is a decimal comma, write a point: "
    "{point}. If it groups thousands, leave it out: {whole}.",
    "several": "`{variable}` is '{written}', which reads as more than one number. Set it to {wanted}.",
    "comma": "`{variable}` is '{written}', and its comma can be read in two ways. Write a point before decimals and no "
    "comma: 1.07 or 1073.",
    "bits": "`{variable}` carries the unit {unit}, which reads as bits. A byte is a capital B: write {wanted}.",
    "unit": "`{variable}` carries the unit '{unit}', which does not fit. Set it to {wanted}.",
    "letter": "`{variable}` is '{written}', which is not one of the letters {letters}. Set it to {wanted}.",
    "letters": "`{variable}` is '{written}', which holds more than the letters {letters}. Set it to {wanted}.",
    "letter_type": "`{variable}` is of type {type}. Set it to {wanted}.",
    "letters_type": "`{variable}` is of type {type}. Set it to {wanted}.",
    "repeated": "`{variable}` uses the letter {written} more than once. Each link stands at most once.",
    "not_whole": "`{variable}` is {written}, but the question asks for a whole number.",
    "stub": "`{variable}` is not written yet; write it in the answer cell, and run that.",
    "inherited": "`{variable}` has nothing of its own yet, so it does what {base} does. Write the method that you mend in "
    "it, and run the answer cell.",
    "not_function": "`{variable}` holds a value of type {type}, not a function. Another cell took the name; run the answer "
    "cell again.",
    "not_class": "`{variable}` holds a value of type {type}, not a class: without brackets, and of this name. Run the answer "
    "cell again.",
    "signature": "`{variable}` is called as {variable}({called}), and it cannot be: {why}. Take the first line of the answer "
    "cell as it was given.",
    "not_recorded": 'Nothing was recorded as {variable} yet. Run the cell with `record("{variable}", …)`, then this one.',
    "recordings": "The recordings beside this notebook could not be read: {why}. Run the cell with "
    '`record("{variable}", …)` again, then this one.',
    "recording_form": "What was recorded as {variable} is off. {why}",
    "negative": "`{variable}` is {written}, below zero. There is no such thing as a negative {thing}.",
}
_NOT_ANSWERED = ("placeholder", "empty", "not_run", "stub", "inherited", "not_recorded")
_UNKNOWN = "`{variable}` could not be read. Set it to {wanted}."


_WANTED = {
    "function": "a function, with the first line of the answer cell as it was given",
    "object": "a class, with the methods of the answer cell as they were given",
    "measurement": "a recording with the numbers that are asked for",
}


class _Details(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "?"


def fault_verdict(part: Part, data: Mapping[str, Any]) -> PartVerdict:
    """No points, and the sentence; a part that nobody has answered yet is open, not unreadable."""
    state: State = "open" if data.get("fault") in _NOT_ANSWERED else "unreadable"
    return PartVerdict(0.0, part.points, state, fault_sentence(part, data))


def fault_sentence(part: Part, data: Mapping[str, Any]) -> str:
    quoted = {key: value[:QUOTED_LIMIT] for key, value in data.items() if isinstance(value, str)}
    # Why a recording is off is a sentence of the course, with marks of its own.
    details = _Details({key: value if key in ("why", "other") else as_typed(value) for key, value in quoted.items()})
    details["variable"] = part.variable
    details["wanted"] = wanted(part)
    details["thing"] = {"bytes": "size", "real": "answer", None: "answer"}.get(part.quantity, part.quantity or "answer")
    return _SENTENCES.get(details["fault"], _UNKNOWN).format_map(details)


def wanted(part: Part) -> str:
    """What would be right in form, as the end of 'set it to ...'."""
    if part.kind == "choice":
        return '"T" or "F", with the quotes' if part.letters == "TF" else 'one letter in quotes, such as "B"'
    if part.kind == "chain":
        return 'letters in order in quotes, such as "CAB"'
    if part.kind in LAB_KINDS:
        return _WANTED[part.kind]
    if part.quantity == "bytes" and part.unit == "bytes":
        return 'one number of bytes, such as 4096, or text with a unit, such as "4 KB"'
    if part.quantity == "bytes" or (part.quantity == "real" and part.unit):
        return f'one number in {part.unit}, such as 2.5, or text with a unit, such as "2.5 {part.unit}"'
    if part.quantity == "count":
        return f"one whole number of {part.unit}, such as 12"
    if part.quantity == "integer":
        return "one whole number, such as 12"
    if part.quantity == "fraction":
        return 'one number, a share such as 0.25, or text such as "25 %"'
    return "one number, such as 2.5"


def fault(fault_name: str, /, **details: str) -> Data:
    """The data of a part that could not be read, with what its sentence quotes."""
    return {"kind": "fault", "fault": fault_name, **{key: shorten(text) for key, text in details.items()}}


def shorten(text: str) -> str:
    """`text` on one line, without control characters, and no longer than a card can quote."""
    shown = printable(text)
    return shown if len(shown) <= WRITTEN_LIMIT else shown[: WRITTEN_LIMIT - 1] + "…"


def printable(text: str) -> str:
    """`text` on one line, without control characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def type_name(raw: Any) -> str:
    """The name of an object's type, whatever its own code makes of __class__ or __name__."""
    name = type.__getattribute__(type(raw), "__name__")
    return name if isinstance(name, str) else "object"
