"""The mistake of a right time that is counted in another unit than the one asked for."""

from __future__ import annotations

from grader.answer_key.key import Formula, Misconception, times


def seconds_for_ms(right: Formula, reread: str) -> Misconception:
    return Misconception(
        "seconds_for_ms",
        times(right, 1e-3),
        "The time is right, but counted in seconds. The question asks for milliseconds.",
        reread,
        in_other_unit=True,
    )


def ms_for_seconds(right: Formula, reread: str) -> Misconception:
    return Misconception(
        "ms_for_seconds",
        times(right, 1e3),
        "The time is right, but counted in milliseconds. The question asks for seconds.",
        reread,
        in_other_unit=True,
    )
