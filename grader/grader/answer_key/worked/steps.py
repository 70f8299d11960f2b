"""What the steps of a value are made of: numbers written as the course writes them, in functions of the learner's draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Part
from llmserving.units import format_number

from grader.answer_key.key import Answers

Steps = Callable[[Numbers, Answers, str], str]
"""From the learner's numbers, every right answer, and this part's right answer as it is written, to the text."""

StepsOf = Mapping[str, Mapping[str, Steps]]
"""Exercise id -> part -> its steps."""

_FIGURES = 4


def written(number: float) -> str:
    """One figure more than is asked for, so that a step can be followed with what is printed; integers whole."""
    return format_number(number, _FIGURES)


def ungrouped(number: float) -> str:
    """As `written`, with thousands not grouped: how an answer stands that is not whole, where a comma could be a decimal one."""
    return written(number).replace(",", "")


def written_answer(part: Part, number: float) -> str:
    """The right answer in bold, as a learner could hand it in: thousands are grouped where a comma cannot be a decimal one."""
    unit = f" {part.unit}" if part.unit else ""
    whole = part.unit == "bytes" or part.quantity in ("count", "integer")
    return f"**{written(number) if whole else ungrouped(number)}{unit}**"
