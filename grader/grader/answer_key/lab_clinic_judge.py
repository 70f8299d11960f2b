"""Levers are judged by what becomes of the case: the simulator serves it with them, and every promise is kept or not.

Who keeps some of the promises that were missed, and breaks none for it, has earned that share of the points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llmserving.clinic import Case, Outcome, serve
from llmserving.exercises.draws import Numbers

from grader.answer_key.lab_keys import Judged

MET, REFUSED = "met", "refused"


def judge_of(case: Case) -> Callable[[Any], Judged]:
    """What settings come to. Two that miss the same promises by moving the same levers the same way are one answer."""

    def judge(returned: Any) -> Judged:
        try:
            outcome = serve(case, _settings(returned))
        except (TypeError, ValueError) as refusal:
            return Judged(REFUSED, f"{str(refusal).splitlines()[0].rstrip('.')}.")
        if outcome.met:
            return Judged(MET, outcome.explain())
        seen = f"{', '.join(sorted(_moved(outcome)))} | {', '.join(outcome.missed)}"
        served = f"Tried on the simulator: {outcome.explain()} Missed: {', '.join(outcome.missed)}."
        before = serve(case).missed
        mended = [promise for promise in before if promise not in outcome.missed]
        if not mended or not set(outcome.missed) <= set(before):
            return Judged(seen, served)
        told = (
            f"Of the {len(before)} promises missed before, {len(mended)} is kept now and earns its share of the points."
        )
        return Judged(seen, f"{served} {told}", len(mended) / len(before))

    return judge


def served_with(case: Case, **settings: Any) -> Callable[[Numbers], str]:
    """For a trap: what becomes of the case with these levers."""
    return lambda numbers: f"Tried on the simulator: {serve(case, settings).explain()}"


def _settings(returned: Any) -> Any:
    """The dict that a function returned, from the plain data that stands for it."""
    if isinstance(returned, Mapping) and "dict" in returned:
        if not all(isinstance(lever, str) for lever, _ in returned["dict"]):
            raise TypeError("settings name each lever by a text, such as 'policy'")
        return dict(returned["dict"])
    return returned


def _moved(outcome: Outcome) -> Iterator[str]:
    """Which levers were moved, and of those that are counts only in which direction."""
    for lever, value in outcome.changes.items():
        if lever == "max_num_seqs":
            yield "more at once" if value > outcome.case.start[lever] else "fewer at once"
        elif lever in ("policy", "weight_dtype"):
            yield str(value)
        elif lever != "token_budget":
            yield lever
