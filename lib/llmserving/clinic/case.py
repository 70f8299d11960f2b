"""A server in trouble: what it serves, on what, what was promised, what it may cost, and which levers there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llmserving.clinic.levers import LEVERS, Offered, checked_settings
from llmserving.scheduling.request import Workload
from llmserving.units import format_number, format_seconds


@dataclass(frozen=True)
class Promises:
    """What 95 % of the requests stay within (a service level objective, SLO), and what an hour may cost."""

    first_token_s: float
    each_token_s: float
    dollars_an_hour: float


@dataclass(frozen=True, eq=False)
class Case:
    """requests: draws the workload, when it is first asked for. start: every lever, as the server runs now. offered: the
    values that may be chosen instead.

    prices: dollars an hour for one GPU. link_bytes_per_s: what a GPU sends to others where several split the layers.
    """

    title: str
    model: str
    requests: Callable[[], Workload]
    start: Mapping[str, Any]
    offered: Offered
    prices: Mapping[str, float]
    link_bytes_per_s: float
    promises: Promises

    def __post_init__(self) -> None:
        if set(self.start) != set(LEVERS):
            raise ValueError(f"the start of {self.title!r} sets {sorted(self.start)}, and should set {sorted(LEVERS)}")
        checked_settings(self.start, self.offered, {lever: self.start[lever] for lever in self.offered})

    @cached_property
    def workload(self) -> Workload:
        return self.requests()

    def settings(self, changes: Any) -> dict[str, Any]:
        """All levers, with these changes from the start; TypeError or ValueError for one that is not offered."""
        settings = checked_settings(self.start, self.offered, changes)
        budget, most = settings["token_budget"], settings["max_num_seqs"]
        if settings["policy"] != "chunked":
            if "token_budget" in changes:
                raise ValueError(
                    f"token_budget is a lever of the policy 'chunked', but here it is {settings['policy']!r}"
                )
        elif budget < most:
            raise ValueError(
                f"token_budget is {budget}, less than max_num_seqs, {most}: in a full batch each request needs one token a step"
            )
        return settings

    def explain(self) -> str:
        """What it serves, on what, what was promised, and each lever that may be moved, with where it stands."""
        workload, promised = self.workload, self.promises
        lines = [
            f"{len(workload):,} requests: {workload.name}; {self.model} on {self.start['gpu']}",
            f"prompts of {_lengths(workload.prompt_tokens)} tokens, answers of {_lengths(workload.output_tokens)}",
            f"promised for 95 %: first token within {format_seconds(promised.first_token_s)}, each further one within "
            f"{format_seconds(promised.each_token_s)}; at most {format_number(promised.dollars_an_hour)} dollars an hour",
            "",
            "lever           stands at       may be",
        ]
        for lever, values in self.offered.items():
            choices = f"{values[0]} to {values[-1]}" if isinstance(values, range) else " · ".join(map(str, values))
            lines.append(f"{lever:<14}  {self.start[lever]!s:<14}  {choices}")
        cards = map(str, self.offered.get("gpu", (self.start["gpu"],)))
        prices = ", ".join(f"{card} {format_number(self.prices[card])}" for card in cards)
        return "\n".join([*lines, "", f"dollars an hour for one GPU: {prices}"])


def _lengths(tokens: NDArray[np.int64]) -> str:
    """The middle and the longest: "446 (at most 27,812)"."""
    return f"{int(np.median(tokens)):,} (at most {int(tokens.max()):,})"
