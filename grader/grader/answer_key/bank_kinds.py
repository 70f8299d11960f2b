"""Keys of the kinds of question in the bank: a claim and its reason, an error to find, one choice, an argument of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmserving.exercises.exercise import Exercise

from grader.answer_key.key import ChainKey, ChoiceKey, Key, Trap

Traps = Mapping[str, tuple[str, str]]
"""Wrong option -> the name of its mistake, and the sentence."""


@dataclass(frozen=True)
class Changed:
    """What one variant of a question changes in the key of the course's own; what is left out stays as it is there.

    true: the verdict of a claim, and why_not the sentence for the other verdict. right: the option that is right.
    traps: those of options that are wrong here alone, or for another reason.
    """

    true: bool | None = None
    why_not: str | None = None
    right: str | None = None
    traps: Traps = field(default_factory=dict)


SAME = Changed()
Variants = Mapping[str, Changed]


def claim(
    exercise: Exercise,
    right_reason: str,
    why_not: str,
    traps: Traps,
    reread: str,
    *,
    true: bool = False,
    variants: Variants | None = None,
) -> Key:
    """The key of a claim that is false, or true: the trap of the other verdict, and the trap in each other reason."""
    named = _named(exercise, variants)
    return Key(
        exercise,
        {
            "verdict": _verdict(true, why_not, reread, named),
            "reason": _choice(right_reason, traps, reread, named),
        },
    )


def choice(exercise: Exercise, right: str, traps: Traps, reread: str, *, variants: Variants | None = None) -> Key:
    """The key of an exercise whose only part is a choice."""
    [part] = exercise.parts
    return Key(exercise, {part.name: _choice(right, traps, reread, _named(exercise, variants))})


def argument(exercise: Exercise, follows: Mapping[str, tuple[str, ...]], traps: Traps, reread: str) -> Key:
    """The key of an argument: each sound link, and those that have to stand before it."""
    return Key(exercise, {"argument": ChainKey(follows, named_traps(traps, reread), reread)})


def named_traps(traps: Traps, reread: str) -> dict[str, Trap]:
    return {option: Trap(name, sentence, reread) for option, (name, sentence) in traps.items()}


def _named(exercise: Exercise, variants: Variants | None) -> Variants:
    """`variants`, one for each of the exercise: a variant that the key forgot would be judged as the course's own."""
    asked = {other["variant"] for other in exercise.draw.variants}
    if asked != set(variants or {}):
        raise ValueError(f"the key of {exercise.id} has to say of each variant what it changes: {sorted(asked)}")
    return variants or {}


def _verdict(true: bool, why_not: str, reread: str, variants: Variants) -> ChoiceKey:
    def one(true: bool, why_not: str, others: Mapping[str, ChoiceKey]) -> ChoiceKey:
        right, wrong, name = ("true", "false", "claim_refused") if true else ("false", "true", "claim_believed")
        return ChoiceKey(right, {wrong: Trap(name, why_not, reread)}, variants=others)

    others = {
        name: one(true if changed.true is None else changed.true, changed.why_not or why_not, {})
        for name, changed in variants.items()
    }
    return one(true, why_not, others)


def _choice(right: str, traps: Traps, reread: str, variants: Variants) -> ChoiceKey:
    others = {}
    for name, changed in variants.items():
        wrong = {**traps, **changed.traps}
        wrong.pop(changed.right or right, None)
        others[name] = ChoiceKey(changed.right or right, named_traps(wrong, reread))
    return ChoiceKey(right, named_traps(traps, reread), variants=others)
