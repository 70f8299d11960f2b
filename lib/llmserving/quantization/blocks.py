"""Which elements share a scale, and how to walk through them in pieces that stay in the processor's cache.

A scale has as many axes as the tensor, and the length of each divides the tensor's: [1, 1] is one scale for all,
[rows, 1] one a row, [rows, columns / group_size] one a group. A number stands for all, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.quantization.arrays import Array

# 256 KB of float32: a piece and its buffer stay in a core's second-level cache, so that memory is read once and written
# once, whatever the number of passes.
PIECE_ELEMENTS = 2**16

Index = tuple[slice, ...]


@dataclass(frozen=True)
class Blocks:
    """A tensor's shape and its scale's, as `shape` and `scale_shape` of as few axes as tell them apart.

    `scale_shape` broadcasts against `shape`: along each axis it has the same length or 1.
    """

    shape: tuple[int, ...]
    scale_shape: tuple[int, ...]

    @property
    def shared_axes(self) -> tuple[int, ...]:
        """The axes along which elements share a scale."""
        return tuple(axis for axis, length in enumerate(self.scale_shape) if length == 1)

    def pieces(self, room: int = PIECE_ELEMENTS) -> Iterator[tuple[Index, Index]]:
        """Where a piece of at most about `room` elements lies in the tensor, and where its scales lie."""
        yield from _pieces(self.shape, self.scale_shape, room)


def blocks_of(shape: tuple[int, ...], scale_shape: tuple[int, ...], name: str = "scale") -> Blocks:
    """The blocks that a scale of that shape cuts a tensor into; ValueError where it does not fit."""
    shape, scale_shape = tuple(shape), tuple(scale_shape)
    if math.prod(scale_shape) == 1:
        scale_shape = (1,) * len(shape)
    fits = len(shape) == len(scale_shape) and all(n % m == 0 for n, m in zip(shape, scale_shape, strict=True))
    if not fits:
        raise ValueError(
            f"{name} has shape {scale_shape}, which does not fit a tensor of shape {shape}: it needs as many axes, each "
            f"of a length that divides the tensor's, such as {(*shape[:-1], 1)} for one a row"
        )
    axes: list[tuple[int, bool]] = []  # lengths, and whether the elements along it share a scale
    for n, m in zip(shape, scale_shape, strict=True):
        for length, shared in ((m, False), (n // m, True)):
            if length > 1 and axes and axes[-1][1] == shared:
                axes[-1] = (axes[-1][0] * length, shared)
            elif length > 1:
                axes.append((length, shared))
    axes = axes or [(1, True)]
    return Blocks(tuple(n for n, _ in axes), tuple(1 if shared else n for n, shared in axes))


def scale_shape(shape: tuple[int, ...], axis: Any = None, group_size: Any = None) -> tuple[int, ...]:
    """The shape of the scales: one for the whole tensor, one for each index of `axis`, or one a group of columns.

    Groups are of `group_size` neighbours along the last axis.
    """
    shape = tuple(shape)
    if axis is not None and group_size is not None:
        raise ValueError("axis gives one scale for each of its indices, group_size one for each group; choose one")
    if axis is not None:
        kept = _checked_axis(shape, axis)
        return tuple(n if index == kept else 1 for index, n in enumerate(shape))
    if group_size is None:
        return (1,) * len(shape)
    size = arguments.count("group_size", "the number of neighbours that share a scale", group_size)
    if not shape:
        raise ValueError(f"group_size is {size}, but a number alone has no columns to group")
    if shape[-1] % size:
        divisors = [n for n in (32, 64, 128, 16, 8) if shape[-1] % n == 0]
        advice = f"; {', '.join(map(str, divisors))} would" if divisors else ""
        raise ValueError(f"group_size {size} does not divide the {shape[-1]} columns of shape {shape}{advice}")
    return (*shape[:-1], shape[-1] // size)


def expand(scale: Array, shape: tuple[int, ...]) -> Array:
    """Each element's own scale, [shape]: the slow way, for reports and for the tests."""
    for axis, (n, m) in enumerate(zip(shape, scale.shape, strict=True)):
        scale = scale.repeat(n // m, axis)
    return scale


def _checked_axis(shape: tuple[int, ...], axis: Any) -> int:
    number = arguments.count("axis", "the axis whose every index has a scale", axis, at_least=-len(shape))
    if number >= len(shape):
        raise ValueError(f"axis {number} is not one of the {len(shape)} axes of shape {shape}")
    return number % len(shape)


def _pieces(shape: tuple[int, ...], scale_shape: tuple[int, ...], room: int) -> Iterator[tuple[Index, Index]]:
    whole = slice(None)
    rest = math.prod(shape[1:])
    if rest > room:
        for row in range(shape[0]):
            here = slice(row, row + 1)
            for index, scale_index in _pieces(shape[1:], scale_shape[1:], room):
                yield (here, *index), (whole if scale_shape[0] == 1 else here, *scale_index)
        return
    rows = max(1, room // rest)
    for start in range(0, shape[0], rows):
        here = slice(start, start + rows)
        yield (here,), (whole if scale_shape[0] == 1 else here,)
