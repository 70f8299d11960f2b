"""Grading an argument built from links: those in place count, a wrong link counts against them."""

from __future__ import annotations

from functools import cache

from llmserving.exercises.exercise import Option, Part
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.key import ChainKey

INCOMPLETE = "incomplete"
OUT_OF_ORDER = "out_of_order"
EVERY_LINK, EVERY_WRONG_LINK = "every_link", "every_wrong_link"
EVERY_LINK_SENTENCE = (
    "You named every link; an argument leaves the wrong ones out. Which of them follow from each other?"
)
EVERY_WRONG_LINK_SENTENCE = "You named every wrong link; an argument leaves those out."
OUT_OF_ORDER_SENTENCE = "The sound links are out of order: each has to follow from those before it."


def grade_chain(part: Part, key: ChainKey, chosen: list[Option]) -> PartVerdict:
    """Points in the share of links that stand in the right order, less one link for each wrong one, never below 0.

    Who names every wrong link has told none from a sound one, and earns 0 in whatever order. Short of that a wrong link costs
    no more than a missing one: letters drawn blindly earn a sixth of the points or less on average, however many they are,
    so that naming nearly all of them pays nobody.
    """
    names = tuple(option.name for option in chosen)
    if names in key.orders:
        return PartVerdict(part.points, part.points, "right", "Right.")
    if len(names) == len(part.options):
        return PartVerdict(0.0, part.points, "wrong", EVERY_LINK_SENTENCE, (EVERY_LINK,), key.reread)
    length = len(key.follows)
    in_place = max(_longest_common_subsequence(names, order) for order in key.orders)
    traps = [key.traps[name] for name in names if name in key.traps]
    sound = [name for name in names if name not in key.traps]
    sentences, diagnoses = [trap.sentence for trap in traps], [trap.name for trap in traps]
    none_told = len(traps) == len(key.traps)
    if none_told:
        sentences.insert(0, EVERY_WRONG_LINK_SENTENCE)
        diagnoses.append(EVERY_WRONG_LINK)
    if len(sound) < length:
        sentences.append(incomplete_sentence(length - len(sound), length))
        diagnoses.append(INCOMPLETE)
    if in_place < len(sound):
        sentences.append(OUT_OF_ORDER_SENTENCE)
        diagnoses.append(OUT_OF_ORDER)
    score = 0.0 if none_told else part.points * max(0, in_place - len(traps)) / length
    reread = traps[0].reread if traps else key.reread
    return PartVerdict(
        score, part.points, "partly" if score else "wrong", " ".join(sentences), tuple(diagnoses), reread
    )


def incomplete_sentence(missing: int, length: int) -> str:
    return f"The argument needs {length} links, and {missing} of them {'is' if missing == 1 else 'are'} missing."


def _longest_common_subsequence(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    @cache
    def length(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)
