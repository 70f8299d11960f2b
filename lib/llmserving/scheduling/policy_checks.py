"""A policy by its name, or anything with `schedule(engine)` and limits that can be held against its moves."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.paging.learners_code import bug, pass_stop_on
from llmserving.paging.slips import refuse_deferred
from llmserving.scheduling.policies import POLICIES, check_preemption
from llmserving.scheduling.policy import Policy

LIMITS = {"max_num_seqs": "the requests that may run at once", "token_budget": "the tokens of all requests in a step"}


def checked_policy(policy: Any) -> Policy:
    """The policy of that name, or the one that is given, made if it is a class or a function of no arguments.

    TypeError or ValueError where it is none, LearnersBug where its code goes wrong.
    """
    made, shown = policy, arguments.shown(policy)
    refuse_deferred(policy, ("schedule",))
    if isinstance(policy, str) and policy in POLICIES:
        made = POLICIES[policy]()
    elif isinstance(policy, type) or (callable(policy) and not hasattr(policy, "schedule")):
        name = getattr(policy, "__name__", "the function")
        try:
            made = policy()
        except BaseException as error:
            pass_stop_on(error)
            raise bug(f"{name}()", error, caller="the engine") from None
        shown = f"{arguments.shown(made)} from {name}()"
    if not callable(_read(made, "schedule")):
        raise TypeError(
            "policy is 'static', 'dynamic', 'continuous' or 'chunked', or an object with a method schedule(engine), or a class "
            f"or a function that makes one, but got {shown}"
        )
    for name in LIMITS:
        limit_of(made, name)
    preemption = _read(made, "preemption")
    check_preemption("recompute" if preemption is None else preemption)
    return made  # type: ignore[no-any-return]


def limit_of(policy: Any, name: str) -> int | None:
    """`max_num_seqs` or `token_budget` of a policy, None where it has none."""
    limit = _read(policy, name)
    return None if limit is None else arguments.count(name, LIMITS[name], limit)


def _read(policy: Any, name: str) -> Any:
    """An attribute, which may be a property of the learner's that goes wrong; None where there is none."""
    try:
        return getattr(policy, name)
    except BaseException as error:
        pass_stop_on(error)
        if isinstance(error, AttributeError) and not hasattr(type(policy), name):
            return None
        raise bug(name, error, caller="the engine") from None
