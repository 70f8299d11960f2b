"""The kinds of question in the bank: true or false with the reason, find the error, one choice, an argument of links."""

from __future__ import annotations

from collections.abc import Mapping

from llmserving.exercises.draws import COURSE_VARIANT, Draw, Numbers, variant
from llmserving.exercises.exercise import Exercise, Option, Part

Words = Mapping[str, str | int]

TRUE_OR_FALSE = (Option("true", "true"), Option("false", "false"))
_PICK_IN_WORDS = {3: "three", 4: "four", 5: "five"}


def in_variants(id: str, text: str, words: Words | None, variants: tuple[Numbers, ...]) -> Draw:
    """The course's own text and the words of the templates first, then the other ways to ask, with its words where
    they bring none."""
    course = variant(COURSE_VARIANT, text, **(words or {}))
    return Draw(id, course, variants=tuple({**course, **other} for other in variants))


def true_or_false(
    id: str,
    notebook: str,
    claim: str,
    reasons: tuple[Option, ...],
    hint: str,
    group: str,
    *,
    importance: int = 3,
    words: Words | None = None,
    variants: tuple[Numbers, ...] = (),
) -> Exercise:
    parts = (
        Part("verdict", f"{id}_verdict", "choice", '"T" or "F"', (hint,), options=TRUE_OR_FALSE, letters="TF"),
        Part("reason", f"{id}_reason", "choice", "the letter of the reason that decides it", (hint,), options=reasons),
    )
    return Exercise(
        id,
        "True or false?",
        notebook,
        "Claim: *{text}*",
        parts,
        in_variants(id, claim, words, variants),
        difficulty=2,
        minutes=2,
        importance=importance,
        group=group,
    )


def find_the_error(
    id: str,
    notebook: str,
    claim: str,
    errors: tuple[Option, ...],
    hint: str,
    group: str | None,
    *,
    importance: int = 3,
    words: Words | None = None,
    variants: tuple[Numbers, ...] = (),
) -> Exercise:
    return Exercise(
        id,
        "Find the error",
        notebook,
        "A colleague writes: *{text}*",
        (Part("error", id, "choice", "the letter of what is wrong with it", (hint,), options=errors),),
        in_variants(id, claim, words, variants),
        difficulty=1,
        minutes=1,
        importance=importance,
        group=group,
    )


def predict(
    id: str,
    title: str,
    notebook: str,
    question: str,
    options: tuple[Option, ...],
    hint: str,
    group: str,
    *,
    importance: int = 3,
    words: Words | None = None,
    variants: tuple[Numbers, ...] = (),
) -> Exercise:
    """An edge case whose outcome is one of several."""
    return Exercise(
        id,
        title,
        notebook,
        "{text}",
        (Part("outcome", id, "choice", "the letter of what happens", (hint,), options=options),),
        in_variants(id, question, words, variants),
        difficulty=2,
        minutes=1,
        importance=importance,
        group=group,
    )


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
    importance: int = 3,
) -> Exercise:
    """A reason to be built: so many of the options carry it, in order, and the others are traps."""
    number = _PICK_IN_WORDS[links]
    part = Part("argument", id, "chain", f"the letters of {number} links, in order", hints, points=3, options=options)
    text = f"{question} Build the argument: pick the {number} links that carry it and put them in order. The others are wrong."
    return Exercise(
        id,
        title,
        notebook,
        text.strip(),
        (part,),
        Draw(id),
        difficulty=3,
        minutes=4,
        importance=importance,
        group=group,
    )
