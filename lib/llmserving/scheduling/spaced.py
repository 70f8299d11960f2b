"""A handful of requests at even distances, with answers of different lengths: small enough to be looked at one by one."""

from __future__ import annotations

import numbers
from typing import Any

from llmserving import arguments
from llmserving.scheduling.request import Request, Workload

# How far each answer lies on the way from the shortest to the longest: the first is long, so that others end before it.
PLACES = (1.0, 0.0, 0.25, 0.75, 0.1, 0.5)


def spaced_workload(spacing_s: Any, shortest: Any, longest: Any, prompt_tokens: Any = 64) -> Workload:
    """Six requests, `spacing_s` seconds apart, all at once if that is 0, with answers of `shortest` to `longest` tokens."""
    zero = isinstance(spacing_s, numbers.Real) and not isinstance(spacing_s, bool) and spacing_s == 0
    spacing = 0.0 if zero else float(arguments.amount("spacing_s", "the seconds between two arrivals", spacing_s))
    least = arguments.count("shortest", "the tokens of the shortest answer", shortest)
    most = arguments.count("longest", "the tokens of the longest answer", longest)
    if most < least:
        raise ValueError(f"the longest answer has {most:,} tokens, fewer than the shortest with {least:,}")
    return Workload(
        (
            Request(number, number * spacing, prompt_tokens, least + round(place * (most - least)))
            for number, place in enumerate(PLACES)
        ),
        "six requests",
    )
