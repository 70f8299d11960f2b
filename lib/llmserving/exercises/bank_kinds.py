"""The kinds of question in the bank: true or false with the reason, find the error, one choice, an argument of links."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Option, Part

TRUE_OR_FALSE = (Option("true", "true"), Option("false", "false"))
_PICK_IN_WORDS = {3: "three", 4: "four", 5: "five"}


def true_or_false(id: str, notebook: str, claim: str, reasons: tuple[Option, ...], hint: str, group: str) -> Exercise:
    parts = (
        Part("verdict", f"{id}_verdict", "choice", '"T" or "F"', (hint,), options=TRUE_OR_FALSE, letters="TF"),
        Part("reason", f"{id}_reason", "choice", "the letter of the reason that decides it", (hint,), options=reasons),
    )
    return Exercise(
        id, "True or false?", notebook, f"Claim: *{claim}*", parts, Draw(id), difficulty=2, minutes=2, group=group
    )


def find_the_error(
    id: str, notebook: str, claim: str, errors: tuple[Option, ...], hint: str, group: str | None
) -> Exercise:
    part = Part("error", id, "choice", "the letter of what is wrong with it", (hint,), options=errors)
    text = f"A colleague writes: *{claim}*"
    return Exercise(id, "Find the error", notebook, text, (part,), Draw(id), difficulty=1, minutes=1, group=group)


def predict(
    id: str, title: str, notebook: str, question: str, options: tuple[Option, ...], hint: str, group: str
) -> Exercise:
    """An edge case whose outcome is one of several."""
    part = Part("outcome", id, "choice", "the letter of what happens", (hint,), options=options)
    return Exercise(id, title, notebook, question, (part,), Draw(id), difficulty=2, minutes=1, group=group)


def argument(
    id: str,
    title: str,
    notebook: str,
    links: int,
    options: tuple[Option, ...],
    hints: tuple[str, ...],
    *,
    question: str = "",
    group: str | None = None,
) -> Exercise:
    """A reason to be built: so many of the options carry it, in order, and the others are traps."""
    number = _PICK_IN_WORDS[links]
    part = Part("argument", id, "chain", f"the letters of {number} links, in order", hints, points=3, options=options)
    text = f"{question} Build the argument: pick the {number} links that carry it and put them in order. The others are wrong."
    return Exercise(id, title, notebook, text.strip(), (part,), Draw(id), difficulty=3, minutes=4, group=group)
