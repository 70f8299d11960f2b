"""The private half of what a learner writes or measures in a lab: what is right, what it is tried on, which mistakes it shows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmserving.exercises.exercise import Part, Probe

from grader.answer_key.tolerance import EXACT, Tolerance

Hidden = Callable[[random.Random], Iterable[Probe]]
"""More probes, from a generator that is seeded by the learner and the secret of the class."""

Fields = Mapping[str, Any]
"""What was recorded: a number, or a list of them, by the field's name."""


@dataclass(frozen=True)
class Wrong:
    """A mistake as code that makes it, and the sentence that names it.

    made: a function with the reference's arguments, or a class, maybe of the reference as base. It stands for itself: its
    source is also what a learner who makes this mistake would have written, so it uses nothing from around it.
    """

    name: str
    made: Any
    sentence: str
    reread: str


@dataclass(frozen=True)
class Judged:
    """What a result comes to. seen: plain data, equal where two results are the same answer. told: a sentence on it.

    earns: the share of the points, 0 to 1, that a result which is not right earns all the same.
    """

    seen: Any
    told: str
    earns: float = 0.0


@dataclass(frozen=True)
class FunctionKey:
    """groups: a group of probes -> the points for getting all of it right. otherwise: the reference, written another way.

    same_type: whether 2 and 2.0 are two answers. judge: where many results are right, what a plain result comes to, which is
    then compared in its place. As of `Wrong`, reference and otherwise use nothing from around them.
    """

    reference: Callable[..., Any]
    otherwise: Callable[..., Any]
    groups: Mapping[str, float]
    hidden: Hidden
    misconceptions: tuple[Wrong, ...]
    reread: str
    tolerance: Tolerance = EXACT
    same_type: bool = False
    judge: Callable[[Any], Judged] | None = None


@dataclass(frozen=True)
class ObjectKey:
    """The same of a class that is played through scripts: the invariants hold, and each step is the reference's but for which
    of the free blocks is taken.
    """

    reference: type
    otherwise: type
    groups: Mapping[str, float]
    hidden: Hidden
    misconceptions: tuple[Wrong, ...]
    reread: str


@dataclass(frozen=True)
class Slip:
    """A mistake in a recording of the right form. holds: whether these fields show it. example: fields that do."""

    name: str
    holds: Callable[[Fields], bool]
    example: Fields
    sentence: str
    reread: str


@dataclass(frozen=True)
class MeasurementKey:
    """Form only, never the number. example, otherwise: two recordings that a learner could have made.

    after: the part whose recording, a prediction, must have been there before this was first measured.
    """

    example: Fields
    otherwise: Fields
    reread: str
    after: str | None = None
    misconceptions: tuple[Slip, ...] = ()


LabKey = FunctionKey | ObjectKey | MeasurementKey


def require_groups(where: str, part: Part, key: FunctionKey | ObjectKey) -> None:
    """ValueError where the groups do not make up the part's points, or a probe that all may see is of none of them."""
    if abs(sum(key.groups.values()) - part.points) > 1e-9:
        raise ValueError(f"{where}: the groups earn {sum(key.groups.values())}, and the part has {part.points} points")
    strangers = {probe.group for probe in part.probes} ^ set(key.groups)
    if strangers:
        raise ValueError(f"{where}: each group needs a probe that all may see, and only they do: {sorted(strangers)}")
