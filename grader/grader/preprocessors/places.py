"""Places: of a cell and its copies, which one stands where the release has it.

The id alone does not tell: where a copy has taken the id along, nbformat gives the later of the two a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Places:
    """sure: index in the release -> index in the notebook, of the released cells that are there once."""

    sure: Mapping[int, int]
    of_cell: Mapping[int, int]

    def agreeing(self, cell: Any, index: int) -> int:
        """How many of the other released cells stand on the side of `cell` where the release has them."""
        place = self.of_cell[id(cell)]
        return sum((other < place) == (at < index) for at, other in self.sure.items() if at != index)


def places_in(notebook: Any, found: Mapping[int, Sequence[Any]]) -> Places:
    of_cell = {id(cell): place for place, cell in enumerate(notebook.cells)}
    return Places({index: of_cell[id(cells[0])] for index, cells in found.items() if len(cells) == 1}, of_cell)


def best_placed(cells: Sequence[Any], index: int, places: Places, released_id: str | None) -> Any:
    """The one among its neighbours in the release; side by side with its copies, the one that has the released id."""
    return max(cells, key=lambda cell: (places.agreeing(cell, index), cell.get("id") == released_id))
