"""What a quantizer does to each of a few values, and the words for it: what the picture of its grid draws and says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmserving.quantization.affine import dequantize, quantize
from llmserving.quantization.arrays import as_numpy, real_array
from llmserving.quantization.errors import ROUNDING
from llmserving.units import format_number

MOST_VALUES, MOST_NAMED = 200, 8


@dataclass(frozen=True)
class Point:
    """One value and what comes back for it; `half_steps` is the error over scale / 2."""

    value: float
    back: float
    half_steps: float

    @property
    def clipped(self) -> bool:
        return abs(self.half_steps) > 1 + ROUNDING


def points_of(values: Any, scale: Any, zero_point: Any, bits: Any, mode: str = "asymmetric") -> list[Point]:
    """Each value with what comes back for it, ascending."""
    array = real_array("values", values).reshape(-1)
    if len(array) > MOST_VALUES:
        raise ValueError(f"values has {len(array)} of them; draw at most {MOST_VALUES}, such as values[:{MOST_VALUES}]")
    back = as_numpy(dequantize(quantize(array, scale, zero_point, bits, mode), scale, zero_point))
    half = float(scale) / 2
    pairs = sorted(zip(as_numpy(array).tolist(), back.tolist(), strict=True))
    return [Point(value, found, (found - value) / half) for value, found in pairs]


def short(value: float) -> str:
    """`value` with three significant figures, in powers of ten where it is far from 1."""
    return format_number(value) if value == 0 or 1e-4 <= abs(value) < 1e6 else f"{value:.3g}"


def summary(points: Sequence[Point], scale: float) -> str:
    """The step, how many values are clipped, and the error furthest beyond half a step."""
    worst = max(points, key=lambda point: abs(point.half_steps))
    error = short(abs(worst.back - worst.value))
    clipped = sum(point.clipped for point in points)
    words = f"{clipped} of {len(points)} clipped (open triangles)" if clipped else f"none of {len(points)} clipped"
    return f"step {short(scale)}: {words}; the largest error is {error}, half a step {short(scale / 2)}"


def alt_text(
    points: Sequence[Point],
    grid: Sequence[float],
    scale: float,
    zero_point: float,
    bits: int,
    mode: str,
    title: str | None,
) -> str:
    """What the picture shows, in sentences; of many values, only the clipped ones are named."""
    words = (
        f"Number line of the {len(grid)} values of {bits} bits, {mode}, from {short(grid[0])} to "
        f"{short(grid[-1])}, zero-point {short(zero_point)}. {summary(points, scale).capitalize()}."
    )
    named = [point for point in points if point.clipped] if len(points) > MOST_NAMED else list(points)
    for point in named[:MOST_NAMED]:
        how = " clipped" if point.clipped else ""
        words += f" {short(point.value)} comes back{how} as {short(point.back)}."
    return f"{title}. {words}" if title else words
