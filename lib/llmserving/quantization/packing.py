"""Two 4-bit codes a byte. The order is part of the format: read in another, a model loads and emits garbage.

linear  the first code of a pair lies in the low nibble: codes 1, 2 are the byte 0x21. GPTQ, GGUF's nibbles and most others.
awq     of each eight codes, those with the indices 0, 2, 4, 6, 1, 3, 5, 7 are packed in the linear order: AWQ's kernels
        unpack the even ones and the odd ones with one mask each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.quantization.arrays import Array, dtype_name, is_tensor, namespace, real_array

ORDERS = {"linear": (0, 1, 2, 3, 4, 5, 6, 7), "awq": (0, 2, 4, 6, 1, 3, 5, 7)}


@dataclass(frozen=True, eq=False)
class PackedInt4:
    """Bytes uint8 [..., columns / 2], and what it takes to read them: the order, and whether codes go below 0."""

    data: Array
    order: str
    signed: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the codes."""
        return (*self.data.shape[:-1], 2 * self.data.shape[-1])

    def unpack(self) -> Array:
        """The codes, one a byte: int8 where `signed`, else uint8."""
        return unpack_int4(self.data, self.order, signed=self.signed)


def pack_int4(codes: Any, order: str = "linear") -> PackedInt4:
    """Codes [..., columns] as bytes: 0 to 15 of an unsigned dtype, -8 to 7 of a signed one (two's complement).

    ValueError where columns are odd (for "awq", not a multiple of 8) or a code needs more than 4 bits: nothing is
    cut off or padded silently.
    """
    array = real_array("codes", codes, "a tensor of 4-bit codes")
    kind = dtype_name(array)
    if not kind.startswith(("int", "uint")):
        raise TypeError(f"codes is a tensor of 4-bit codes, which are integers, but got one of dtype {kind}")
    unit = _unit(order)
    if not array.shape or array.shape[-1] % unit:
        raise ValueError(f"order {order!r} packs {unit} columns together, but codes has shape {tuple(array.shape)}")
    signed = kind.startswith("int")
    low, high = (-8, 7) if signed else (0, 15)
    if int(array.min()) < low or int(array.max()) > high:
        advice = ""
        if signed and int(array.min()) >= 0 and int(array.max()) <= 15:
            write = "codes.to(torch.uint8)" if is_tensor(array) else "codes.astype('uint8')"
            advice = f"; codes of 0 to 15 are of an unsigned dtype: write {write}"
        found = f"{int(array.min())} to {int(array.max())}"
        raise ValueError(f"a 4-bit code of dtype {kind} is {low} to {high}, but codes has {found}{advice}")
    xp = namespace(array)
    nibbles = (
        xp.asarray(array, dtype=xp.uint8)
        if not signed
        else xp.asarray(xp.where(array < 0, array + 16, array), dtype=xp.uint8)
    )
    nibbles = _permuted(nibbles, ORDERS[order])
    return PackedInt4(nibbles[..., ::2] | (nibbles[..., 1::2] << 4), order, signed)


def unpack_int4(data: Any, order: str, *, signed: bool) -> Array:
    """The codes [..., columns] of the bytes uint8 [..., columns / 2]."""
    array = real_array("data", data, "a tensor of bytes")
    if dtype_name(array) != "uint8":
        raise TypeError(f"data is a tensor of bytes, uint8, but got one of dtype {dtype_name(array)}")
    if not array.shape or 2 * array.shape[-1] % _unit(order):
        raise ValueError(
            f"order {order!r} packs {_unit(order)} columns together, but data has shape {tuple(array.shape)}"
        )
    xp = namespace(array)
    nibbles = xp.empty((*array.shape[:-1], 2 * array.shape[-1]), dtype=xp.uint8, device=array.device)
    nibbles[..., ::2] = array & 15
    nibbles[..., 1::2] = array >> 4
    inverse = tuple(ORDERS[order].index(place) for place in range(8))
    nibbles = _permuted(nibbles, inverse)
    if not signed:
        return nibbles
    # Of a signed nibble the top bit counts -8: 15 is -1.
    return xp.asarray(nibbles ^ 8, dtype=xp.int8) - 8


def _unit(order: Any) -> int:
    if arguments.text("order", order) not in ORDERS:
        raise ValueError(f"order {arguments.shown(order)} is not known; choose one of {', '.join(ORDERS)}")
    return 2 if order == "linear" else 8


def _permuted(nibbles: Array, places: tuple[int, ...]) -> Array:
    """`nibbles` with the columns of each eight in the order `places`."""
    if places == tuple(range(8)):
        return nibbles
    return nibbles.reshape(*nibbles.shape[:-1], -1, 8)[..., list(places)].reshape(nibbles.shape)
