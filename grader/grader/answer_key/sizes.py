"""Mistakes about bytes that any answer which is a size can hold: units of 2**30, bits, a wrong prefix."""

from __future__ import annotations

from llmserving.units import BYTES_PER_UNIT, GB, GiB

from grader.answer_key.key import Formula, Misconception, times

UNITS = "Units"


def gigabyte_mistakes(right: Formula) -> tuple[Misconception, ...]:
    """For a size asked for in GB."""
    return (
        Misconception(
            "gib_for_gb",
            times(right, GB / GiB),
            "That is the size in GiB, units of 2³⁰ bytes. A GB is 10⁹ bytes, so the number of GB is 7.4 % larger.",
            UNITS,
        ),
        Misconception(
            "gb_labelled_gib",
            times(right, GiB / GB),
            "The number would be right in GB, but it counts as GiB, units of 2³⁰ bytes: check the unit you wrote, or "
            "whether you converted the wrong way.",
            UNITS,
        ),
        bits_for_bytes(right),
        *_counted_in("GB", ("MB", "MiB", "KB", "bytes"), right),
    )


def megabyte_mistakes(right: Formula) -> tuple[Misconception, ...]:
    """For a size asked for in MB."""
    return (bits_for_bytes(right), *_counted_in("MB", ("GB", "MiB", "KB", "bytes"), right))


def _counted_in(asked: str, units: tuple[str, ...], right: Formula) -> tuple[Misconception, ...]:
    return tuple(
        Misconception(
            f"{unit.lower()}_for_{asked.lower()}",
            times(right, BYTES_PER_UNIT[asked] / BYTES_PER_UNIT[unit]),
            f"The size is right, but counted in {unit}. The question asks for {asked}.",
            UNITS,
            in_other_unit=True,
        )
        for unit in units
    )


def byte_mistakes(right: Formula) -> tuple[Misconception, ...]:
    """For a size asked for in bytes."""
    return (bits_for_bytes(right), *_counted_in("bytes", ("KB", "KiB", "MB", "MiB"), right))


def bits_for_bytes(right: Formula) -> Misconception:
    return Misconception(
        "bits_for_bytes",
        times(right, 8),
        "Eight times the right size: that counts bits, and a byte has 8 of them.",
        UNITS,
    )
