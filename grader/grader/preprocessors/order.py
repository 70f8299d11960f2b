"""Order: released cells stand as released, whatever was moved; cells of the learner's own stay with what they stood by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.preprocessors.cells import NBGRADER, runs, source_of
from grader.preprocessors.names import may_set_anything, names_set, names_used


@dataclass(frozen=True)
class Own:
    """A cell of the learner's own. follows: how many released cells stand up to the one it followed, in the release's
    order; before: those of them, by rank, that it stood before.
    """

    cell: Any
    follows: int
    before: Sequence[int]
    sets: frozenset[str]
    uses: frozenset[str]
    may_set_anything: bool

    def feeds(self, uses: set[str] | frozenset[str]) -> bool:
        return self.may_set_anything or not self.sets.isdisjoint(uses)


def in_release_order(cells: Sequence[Any], released: Sequence[Any]) -> bool:
    """Whether those of `released` that are among `cells` stand there in the same order."""
    ranks = {cell["id"]: rank for rank, cell in enumerate(released)}
    found = [ranks[cell["id"]] for cell in cells if cell["id"] in ranks]
    return found == sorted(found)


def put_in_order(cells: Sequence[Any], released: Sequence[Any], latest: Mapping[str, str]) -> list[Any]:
    """`released` in its order, and the other cells of `cells` among them, each after the released cell it followed.

    latest: id of a cell of the learner's own -> id of the released cell that it has to run before.

    Where released cells had been moved, following one is not enough: a cell of the learner's own still runs before every
    answer that it stood before, since the answer may use it, and after the released cells whose names it uses. Where
    both cannot be had (it uses the first answer and stood before it), only answers that use its names hold it back.
    """
    ranks = {cell["id"]: rank for rank, cell in enumerate(released)}
    own = _own(cells, ranks)
    ends = [ranks[latest[one.cell["id"]]] if one.cell["id"] in latest else len(released) for one in own]
    slots = [one.follows for one in own]
    if not in_release_order(cells, released):
        set_at = _set_at(released)
        for number, one in enumerate(own):
            slots[number], end = _slot_and_end(one, released, set_at)
            ends[number] = min(ends[number], end)
    # What a cell needs of an earlier one of the learner's own runs before it, and so no later than it has to.
    for later in range(len(own) - 1, -1, -1):
        for earlier in range(later):
            if ends[later] < ends[earlier] and own[earlier].feeds(own[later].uses):
                ends[earlier] = ends[later]
    for later in range(len(own)):
        needed = [slots[one] for one in range(later) if slots[one] > slots[later] and own[one].feeds(own[later].uses)]
        slots[later] = min(max([slots[later], *needed]), ends[later])
    arranged = []
    for rank in range(len(released) + 1):
        arranged += [one.cell for one, slot in zip(own, slots, strict=True) if slot == rank]
        arranged += released[rank : rank + 1]
    return arranged


def _own(cells: Sequence[Any], ranks: Mapping[str, int]) -> list[Own]:
    follows, own = 0, []
    places = [(place, ranks[cell["id"]]) for place, cell in enumerate(cells) if cell["id"] in ranks]
    for place, cell in enumerate(cells):
        if cell["id"] in ranks:
            follows = ranks[cell["id"]] + 1
            continue
        before = [rank for other, rank in places if other > place]
        source = source_of(cell) if cell.get("cell_type") == "code" else ""
        uses, sets = frozenset(names_used(source)), frozenset(names_set(source))
        own.append(Own(cell, follows, before, sets, uses, may_set_anything(source)))
    return own


def _set_at(released: Sequence[Any]) -> dict[str, int]:
    """Name -> rank of the first released cell that sets it when grading, which runs no live cells."""
    set_at: dict[str, int] = {}
    for rank, cell in enumerate(released):
        for name in names_set(source_of(cell)) if runs(cell) else ():
            set_at.setdefault(name, rank)
    return set_at


def _slot_and_end(one: Own, released: Sequence[Any], set_at: Mapping[str, int]) -> tuple[int, int]:
    """The rank of the released cell that it goes before, and the highest that it may."""
    start = max((set_at[name] + 1 for name in one.uses - one.sets if name in set_at), default=0)
    answers = [rank for rank in one.before if released[rank].metadata.get(NBGRADER, {}).get("solution")]
    end = min(answers, default=len(released))
    if start > end:
        end = min((rank for rank in answers if one.feeds(names_used(source_of(released[rank])))), default=len(released))
    return min(max(one.follows, start), end), end
