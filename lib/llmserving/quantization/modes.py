"""Which codes a quantizer of so many bits has, by mode: the three conventions that libraries share under two names.

asymmetric      codes 0 … 2^b - 1, the step is the range over 2^b - 1, and a zero-point is the code of 0
symmetric       codes -(2^(b-1) - 1) … 2^(b-1) - 1, the step is absmax/(2^(b-1) - 1): as many codes below 0 as above
symmetric-full  codes -2^(b-1) … 2^(b-1) - 1, the step is absmax/((2^b - 1)/2), as torchao and torch's observers have it:
                finer, and the largest positive value is rounded down by half a step
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments

MODES = ("asymmetric", "symmetric", "symmetric-full")
FEWEST_BITS, MOST_BITS = 2, 8


@dataclass(frozen=True)
class CodeRange:
    """The codes `low` to `high`, both included, and `steps`: how many steps the range or the absmax is cut into."""

    low: int
    high: int
    steps: float

    @property
    def dtype(self) -> str:
        """The integers that hold a code, one a byte."""
        return "int8" if self.low < 0 else "uint8"


def code_range(bits: Any, mode: Any = "asymmetric") -> CodeRange:
    """The codes of `bits` bits in `mode`; TypeError or ValueError where there is no such quantizer."""
    bits, mode = checked_bits(bits), checked_mode(mode)
    half = 2 ** (bits - 1)
    if mode == "asymmetric":
        return CodeRange(0, 2 * half - 1, 2 * half - 1)
    if mode == "symmetric":
        return CodeRange(1 - half, half - 1, half - 1)
    return CodeRange(-half, half - 1, (2 * half - 1) / 2)


def checked_bits(bits: Any) -> int:
    """`bits` if it is a whole number from 2 to 8."""
    number = arguments.count("bits", "the number of bits of a code", bits, at_least=FEWEST_BITS)
    if number > MOST_BITS:
        raise ValueError(
            f"bits is the number of bits of a code, at most {MOST_BITS} here, but got {arguments.shown(bits)}"
        )
    return number


def checked_mode(mode: Any) -> str:
    """`mode` if it is the name of one."""
    if arguments.text("mode", mode) not in MODES:
        raise ValueError(f"mode {arguments.shown(mode)} is not known; choose one of {', '.join(MODES)}")
    return str(mode)
