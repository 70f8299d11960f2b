"""What each recorded scheme costs beside the unquantized model, and which kind of scheme it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from llmserving.figures.palette import ACTIVATIONS, KV_CACHE, WEIGHTS, Fill
from llmserving.tinylm.record import BASE, Recorded
from llmserving.tinylm.surprise import Perplexity

GROUPS: tuple[tuple[str, tuple[str, ...], Fill], ...] = (
    ("8-bit weights", ("int8",), WEIGHTS),
    ("4-bit weights", ("int4", "gptq-int4", "awq-int4"), WEIGHTS),
    ("3-bit weights", ("int3", "gptq-int3", "awq-int3"), WEIGHTS),
    ("8 bits, activations too", ("w8a8", "smoothquant"), ACTIVATIONS),
    ("KV cache", ("kv-",), KV_CACHE),
)


@dataclass(frozen=True)
class Cost:
    """One scheme: its perplexity, over the base's on the same windows, and that ratio's 95 % interval."""

    scheme: str
    perplexity: float
    ratio: float
    low: float
    high: float
    base: float | None = None  # the unquantized model's, where both were measured now

    @property
    def live(self) -> bool:
        return self.base is not None


def costs(rows: Sequence[Recorded], live: Mapping[str, Perplexity]) -> list[Cost]:
    """Each scheme's cost, the live ones against the live base."""
    base = base_of(rows).measured
    if live and BASE not in live:
        raise ValueError(f"live needs {BASE!r} among its schemes, measured on the same windows, to compare them with")
    unknown = sorted(set(live) - {row.scheme for row in rows})
    if unknown:
        raise ValueError(
            f"live has {unknown[0]!r}, which is not among the rows: only a recorded scheme's place can be taken"
        )
    found = []
    for row in rows:
        if row.scheme != BASE:
            here = live.get(row.scheme)
            if here:
                found.append(Cost(row.scheme, here.perplexity, *here.ratio_to(live[BASE]), live[BASE].perplexity))
            else:
                found.append(Cost(row.scheme, row.perplexity, *row.measured.ratio_to(base)))
    return found


def base_of(rows: Sequence[Recorded]) -> Recorded:
    """The row of the unquantized model; ValueError for rows of more than one model or text, or without it."""
    if len({(row.model, row.text) for row in rows}) != 1:
        raise ValueError("rows are of one model on one text; choose with rows_of(model, text)")
    for row in rows:
        if row.scheme == BASE:
            return row
    raise ValueError(f"rows have no {BASE!r}, the unquantized model, to compare schemes with")


def grouped(found: Sequence[Cost]) -> list[tuple[str, Fill, list[Cost]]]:
    """The groups that have any, each with its name and fill, the dearest scheme first so that repairs are read downwards."""

    def place(cost: Cost) -> int:
        for index, (_, starts, _) in enumerate(GROUPS):
            if cost.scheme.startswith(starts):
                return index
        raise ValueError(
            f"{cost.scheme} is in none of the groups that are drawn: {', '.join(name for name, _, _ in GROUPS)}"
        )

    ordered = sorted(found, key=lambda cost: (place(cost), -cost.ratio))
    return [(GROUPS[index][0], GROUPS[index][2], list(group)) for index, group in groupby(ordered, place)]
