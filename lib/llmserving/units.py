"""Bytes, seconds and rates: the one place that names their units and writes them down.

GB is the course's unit, 10**9 bytes. GiB is 2**30 bytes, 7.4 % more; engines log in GiB. The two are never mixed.
"""

from __future__ import annotations

import math
from decimal import Decimal

KB, MB, GB, TB = 10**3, 10**6, 10**9, 10**12
KiB, MiB, GiB, TiB = 2**10, 2**20, 2**30, 2**40

BYTES_PER_UNIT = {
    "bytes": 1, "KB": KB, "MB": MB, "GB": GB, "TB": TB, "KiB": KiB, "MiB": MiB, "GiB": GiB, "TiB": TiB,
}  # fmt: skip
NANOSECONDS_PER_UNIT = {"s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}


def format_bytes(num_bytes: float, unit: str | None = None) -> str:
    """`num_bytes` with three significant figures, in `unit` or in the largest decimal unit that leaves at least 1.

    >>> format_bytes(1_073_741_824)
    '1.07 GB'
    >>> format_bytes(1_073_741_824, "GiB")
    '1 GiB'
    """
    if unit is None:
        unit = next((name for name in ("TB", "GB", "MB", "KB") if abs(num_bytes) >= BYTES_PER_UNIT[name]), "bytes")
    if unit not in BYTES_PER_UNIT:
        raise ValueError(f"unit {unit!r} is not known; choose one of {', '.join(BYTES_PER_UNIT)}")
    return f"{format_number(num_bytes / BYTES_PER_UNIT[unit])} {unit}"


def format_seconds(seconds: float) -> str:
    """`seconds` with three significant figures in s, ms, µs or ns, whichever leaves at least 1.

    >>> format_seconds(0.0123)
    '12.3 ms'
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= scale:
            return f"{format_number(seconds / scale)} {unit}"
    return f"{format_number(seconds / 1e-9)} ns"


def format_rate(bytes_per_s: float) -> str:
    """A bandwidth, in decimal units as vendors quote it.

    >>> format_rate(3.35e12)
    '3.35 TB/s'
    """
    return f"{format_bytes(bytes_per_s)}/s"


def format_number(value: float, significant: int = 3) -> str:
    """`value` rounded to `significant` figures without an exponent or trailing zeros; integers keep all their digits.

    >>> format_number(53.687), format_number(1_073_741_824), format_number(0.0058824)
    ('53.7', '1,073,741,824', '0.00588')
    """
    if not math.isfinite(value):
        return str(value)
    if float(value).is_integer():
        return f"{int(value):,}"
    text = f"{Decimal(f'{value:.{significant - 1}e}'):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
