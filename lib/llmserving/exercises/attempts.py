"""What is kept of one exercise: tries, points, hints seen, practice shown, and how it was solved."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_TIME, AFTER_HINTS, AFTER_TRIES = "right first time", "right after hints", "right after more tries"
SOLVED = (FIRST_TIME, AFTER_HINTS, AFTER_TRIES)
TRIES_ENOUGH = 2  # different answers that open a worked solution


@dataclass
class Record:
    """One exercise: attempts that could be read, points, hints seen of each row of them, the parts that were off last, and
    how many practice draws were shown.

    solved: how it was solved, and None while it is open; what comes after does not change it. recalled: how often it came
    back and was answered, recalled_right: how often rightly at once. recall_draw: the practice draw that waits for such
    an answer, 0 for none. turn: when it was last answered, counted in answers, so that no clock is kept.
    answers: digests of the first answers that differed, as many as open the worked solution. ticked: the reasons, by
    number, that the learner has found in the own text. groups_off: of code, by part, the groups of probes that were off.
    parts_unread: the parts whose answer could not be read in the last check that read another, so that it was no full try.
    """

    attempts: int = 0
    best: float = 0.0
    solved: str | None = None
    hints: dict[str, int] = field(default_factory=dict)
    parts_off: list[str] = field(default_factory=list)
    practice: int = 0
    recalled: int = 0
    recalled_right: int = 0
    recall_draw: int = 0
    turn: int = 0
    answers: list[str] = field(default_factory=list)
    ticked: list[int] = field(default_factory=list)
    groups_off: dict[str, list[str]] = field(default_factory=dict)
    parts_unread: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (
            _is_whole(self.attempts)
            and _is_whole(self.practice)
            and all(_is_whole(count) for count in (self.recalled, self.recalled_right, self.recall_draw, self.turn))
            and self.recalled_right <= self.recalled
            and isinstance(self.best, (int, float))
            and 0 <= self.best < 1000
            and self.solved in (None, *SOLVED)
            and isinstance(self.hints, dict)
            and all(_is_whole(shown) for shown in self.hints.values())
            and _are_names(self.parts_off)
            and _are_names(self.answers)
            and _are_names(self.parts_unread)
            and isinstance(self.ticked, list)
            and all(_is_whole(number) for number in self.ticked)
            and isinstance(self.groups_off, dict)
            and all(_are_names(groups) for groups in self.groups_off.values())
        ):
            raise TypeError("a record holds counts, points, and names of parts; this one was changed by hand")


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
