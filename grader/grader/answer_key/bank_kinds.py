"""Keys of the kinds of question in the bank: a claim and its reason, an error to find, one choice, an argument of links."""

from __future__ import annotations

from collections.abc import Mapping

from llmserving.exercises.exercise import Exercise

from grader.answer_key.key import ChainKey, ChoiceKey, Key, Trap

Traps = Mapping[str, tuple[str, str]]
"""Wrong option -> the name of its mistake, and the sentence."""


def claim(exercise: Exercise, right_reason: str, why_not: str, traps: Traps, reread: str, *, true: bool = False) -> Key:
    """The key of a claim that is false, or true: the trap of the other verdict, and the trap in each other reason."""
    verdict = ("true", "false", "claim_refused") if true else ("false", "true", "claim_believed")
    right, wrong, name = verdict
    return Key(
        exercise,
        {
            "verdict": ChoiceKey(right, {wrong: Trap(name, why_not, reread)}),
            "reason": ChoiceKey(right_reason, named_traps(traps, reread)),
        },
    )


def choice(exercise: Exercise, right: str, traps: Traps, reread: str) -> Key:
    """The key of an exercise whose only part is a choice."""
    [part] = exercise.parts
    return Key(exercise, {part.name: ChoiceKey(right, named_traps(traps, reread))})


def argument(exercise: Exercise, follows: Mapping[str, tuple[str, ...]], traps: Traps, reread: str) -> Key:
    """The key of an argument: each sound link, and those that have to stand before it."""
    return Key(exercise, {"argument": ChainKey(follows, named_traps(traps, reread), reread)})


def named_traps(traps: Traps, reread: str) -> dict[str, Trap]:
    return {option: Trap(name, sentence, reread) for option, (name, sentence) in traps.items()}
