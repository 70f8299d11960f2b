"""What became of a server with certain settings: its times against what was promised, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmserving.clinic.case import Case
from llmserving.units import format_number, format_seconds

FIRST_TOKEN, EACH_TOKEN, BUDGET, EVERYBODY = "first token", "time per token", "budget", "everybody served"


@dataclass(frozen=True)
class Outcome:
    """first_token_s, each_token_s: what 95 % of the requests stay within, on the simulator's clock."""

    case: Case
    settings: Mapping[str, Any]
    first_token_s: float
    each_token_s: float
    rejected: int
    preemptions: int
    mean_batch: float

    @property
    def dollars_an_hour(self) -> float:
        gpus: int = self.settings["gpus"]
        return self.case.prices[self.settings["gpu"]] * gpus

    @property
    def missed(self) -> tuple[str, ...]:
        """The promises that are not kept."""
        promised = self.case.promises
        held = {
            FIRST_TOKEN: self.first_token_s <= promised.first_token_s,
            EACH_TOKEN: self.each_token_s <= promised.each_token_s,
            BUDGET: self.dollars_an_hour <= promised.dollars_an_hour,
            EVERYBODY: not self.rejected,
        }
        return tuple(name for name, kept in held.items() if not kept)

    @property
    def met(self) -> bool:
        return not self.missed

    def keeps(self) -> str:
        """What the promises come to, in a few words: "misses budget"."""
        return f"misses {', '.join(self.missed)}" if self.missed else "keeps every promise"

    @property
    def changes(self) -> dict[str, Any]:
        """The levers that stand elsewhere than at the start."""
        return {lever: value for lever, value in self.settings.items() if value != self.case.start[lever]}

    def explain(self) -> str:
        """What the simulator says, in one sentence: each time and the cost, and what was promised."""
        promised = self.case.promises
        turned_away = f" {self.rejected:,} requests can never fit and are turned away." if self.rejected else ""
        return (
            f"95 % wait at most {format_seconds(self.first_token_s)} for the first token "
            f"({format_seconds(promised.first_token_s)} promised) and {format_seconds(self.each_token_s)} for each further one "
            f"({format_seconds(promised.each_token_s)} promised), for {format_number(self.dollars_an_hour)} dollars an hour "
            f"({format_number(promised.dollars_an_hour)} at most).{turned_away}"
        )


def promise_table(outcomes: Mapping[str, Outcome]) -> str:
    """One row each: the two times at p95, preemptions, the cost, and what is missed."""
    wide = max(map(len, ("simulated, p95", *outcomes)))
    lines = [f"{'simulated, p95':<{wide}}   first token   each token   preempted   dollars/h   missed"]
    for name, outcome in outcomes.items():
        lines.append(
            f"{name:<{wide}}   {format_seconds(outcome.first_token_s):>11}   {format_seconds(outcome.each_token_s):>10}   "
            f"{outcome.preemptions:>9,}   {format_number(outcome.dollars_an_hour):>9}   {', '.join(outcome.missed) or 'nothing'}"
        )
    return "\n".join(lines)
