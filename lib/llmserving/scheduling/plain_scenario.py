"""A scenario as plain JSON, and back: what crosses to the process in which a learner's scheduler runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import Scenario

_LIMITS = ("num_blocks", "block_size", "max_num_seqs", "token_budget")


def plain_scenario(scenario: Scenario) -> dict[str, Any]:
    """Each request is [id, arrival_s, prompt_tokens, output_tokens]."""
    requests = [[one.id, one.arrival_s, one.prompt_tokens, one.output_tokens] for one in scenario.workload]
    return {"title": scenario.title, "requests": requests, **{name: getattr(scenario, name) for name in _LIMITS}}


def scenario_of(plain: Mapping[str, Any]) -> Scenario:
    workload = Workload((Request(*row) for row in plain["requests"]), plain["title"])
    return Scenario(plain["title"], workload, *(plain[name] for name in _LIMITS))
