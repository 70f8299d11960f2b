"""A policy by its name, or anything with `schedule(engine)` and limits that can be held against its moves."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.scheduling.policies import POLICIES, Policy, check_preemption


def checked_policy(policy: Any) -> Policy:
    """The policy of that name, or the one that is given; TypeError or ValueError where it is none."""
    made: Policy = POLICIES[policy]() if isinstance(policy, str) and policy in POLICIES else policy
    if isinstance(policy, type) or not callable(getattr(made, "schedule", None)):
        advice = f", a class; write {policy.__name__}()" if isinstance(policy, type) else ""
        raise TypeError(
            f"policy is 'static', 'continuous' or 'chunked', or an object with a method schedule(engine), but got "
            f"{arguments.shown(policy)}{advice}"
        )
    for name, meaning in (
        ("max_num_seqs", "the requests that may run at once"),
        ("token_budget", "the tokens of all requests in a step"),
    ):
        if getattr(made, name, None) is not None:
            arguments.count(name, meaning, getattr(made, name))
    check_preemption(getattr(made, "preemption", "recompute"))
    return made
