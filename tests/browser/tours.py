"""What a learner does once in each level: move a control of an explorer, and answer a check wrongly, then rightly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tour:
    """notebook: below notebooks/, without the ending. explorer: the id of its cell. control: the label of what is moved,
    by these keys. before, after: what the explorer's live region says. check: the id of the check; where it has several
    parts or exercises, all are answered.
    """

    notebook: str
    explorer: str
    control: str
    keys: tuple[str, ...]
    before: str
    after: str
    check: str


TOURS: Mapping[str, Tour] = {
    "L1": Tour(
        "L1/two_phases", "first-explorer", "S, tokens a request", ("ArrowRight",) * 4,
        before="Fits:", after="Does not fit:", check="SC1",
    ),
    "L2": Tour(
        "L2/kv_size", "factors-explorer", "B, requests", ("ArrowRight",) * 4,
        before="Fits:", after="Does not fit:", check="L2.2",
    ),
    "L3": Tour(
        "L3/recipes", "roofline-explorer", "Prompt tokens", ("ArrowLeft",) * 4,
        before="prefill is compute-bound", after="prefill is memory-bound", check="SE3",
    ),
    "L4": Tour(
        "L4/budget", "budget-explorer", "Requests", ("ArrowRight",),
        before="Fits:", after="Does not fit:", check="L4.1",
    ),
    "L5": Tour(
        "L5/clinic", "hbm-explorer", "B, requests", ("ArrowRight",) * 2,
        before="Fits:", after="Does not fit:", check="L5.1A",
    ),
}  # fmt: skip
