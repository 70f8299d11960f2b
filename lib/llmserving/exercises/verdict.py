"""What a grader says of an answer: points, the mistakes it looks like, and sentences for the learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["right", "followed_through", "partly", "wrong", "open", "unreadable", "recorded"]


@dataclass(frozen=True)
class PartVerdict:
    """The verdict on one part.

    state: right; followed_through (worked correctly from an earlier wrong answer, full points); partly (a chain with
    some links in place, or code that holds for some groups of probes); wrong; open (nothing was answered); unreadable (not a
    number, no such letter, ...); recorded (no key here, graded later).
    diagnoses: names of the mistakes it looks like, none when right. reread: heading of the notebook to go back to.
    groups_off: of code, the groups of probes on which it is off.
    """

    score: float
    points: float
    state: State
    message: str
    diagnoses: tuple[str, ...] = ()
    reread: str | None = None
    groups_off: tuple[str, ...] = ()

    @property
    def earns_all(self) -> bool:
        return self.state in ("right", "followed_through")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one exercise: the sum over its parts, and the sentences of the parts that are off."""

    exercise: str
    parts: Mapping[str, PartVerdict]

    @property
    def score(self) -> float:
        return sum(part.score for part in self.parts.values())

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts.values())

    @property
    def diagnoses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts.values() for name in part.diagnoses))

    @property
    def earns_all(self) -> bool:
        return all(part.earns_all for part in self.parts.values())

    @property
    def all_right(self) -> bool:
        """Right in itself: full points that follow from an earlier wrong answer are not."""
        return all(part.state == "right" for part in self.parts.values())

    @property
    def message(self) -> str:
        if self.all_right:
            return "Right."
        if len(self.parts) == 1:
            return next(iter(self.parts.values())).message
        return "\n".join(f"{name}: {part.message}" for name, part in self.parts.items() if part.state != "right")
