"""What functions and objects have in common when they are graded: points by group, and how a verdict is worded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from llmserving.exercises.exercise import Part, Probe
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.lab_keys import FunctionKey, ObjectKey, Wrong

LIBRARY_CALL = "library_call"
MOST_NAMED = 3


def library_verdict(part: Part, sentence: str) -> PartVerdict:
    return PartVerdict(0.0, part.points, "wrong", sentence, (LIBRARY_CALL,))


def verdict_by_groups(
    part: Part,
    key: FunctionKey | ObjectKey,
    probes: Sequence[Probe],
    failing: Collection[int],
    named: Sequence[Wrong],
    others: Mapping[str, str],
) -> PartVerdict:
    """The points of the groups that hold; the named mistakes first, then `others`, a diagnosis -> its sentence."""
    if not failing:
        return PartVerdict(part.points, part.points, "right", "Right.")
    off = {probes[index].group for index in failing}
    score = sum(points for group, points in key.groups.items() if group not in off)
    sentences = [*(wrong.sentence for wrong in named), *others.values()]
    diagnoses = (*(wrong.name for wrong in named), *(name for name in others if name))
    where = _where(list(key.groups), off)
    reread = named[0].reread if named else key.reread
    message = " ".join([where, *sentences]).strip()
    groups_off = tuple(group for group in key.groups if group in off)
    return PartVerdict(score, part.points, "partly" if score else "wrong", message, diagnoses, reread, groups_off)


def explaining(
    wrongs: Mapping[str, tuple[Wrong, Mapping[int, bool]]], probes: Sequence[Probe], failing: Collection[int]
) -> list[Wrong]:
    """The fewest mistakes that explain what is off, group by group: a mistake that explains more groups comes first.

    wrongs: name -> the mistake, and for each probe that it gets wrong whether the learner's code did there just the same.
    Mistakes that explain the same groups are told together.
    """
    off: dict[str, set[int]] = {}
    for index in failing:
        off.setdefault(probes[index].group, set()).add(index)
    explained = {
        name: {group for group, indices in off.items() if _explains(same, probes, group, indices)}
        for name, (_, same) in wrongs.items()
    }
    found: list[Wrong] = []
    left = set(off)
    while left and len(found) < MOST_NAMED:
        best = max((groups & left for groups in explained.values()), key=len, default=set())
        if not best:
            break
        found += [wrongs[name][0] for name, groups in explained.items() if groups & left == best]
        left -= best
    return list(dict.fromkeys(found))[:MOST_NAMED]


def _explains(same: Mapping[int, bool], probes: Sequence[Probe], group: str, failing: set[int]) -> bool:
    """Whether in this group the mistake fails just where the learner's code does, and in the same way."""
    there = {index: equal for index, equal in same.items() if probes[index].group == group}
    return set(there) == failing and all(there.values())


def _where(groups: list[str], off: set[str]) -> str:
    """Which groups hold already, where there are several."""
    right = [group for group in groups if group not in off]
    if not right:
        return ""
    return f"Right: {', '.join(right)}. Not yet: {', '.join(group for group in groups if group in off)}."
