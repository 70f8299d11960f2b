"""How long a simulation of 1,000 requests takes: `make bench` times it; `make test` runs each once for its results."""

from __future__ import annotations

import pytest
from llmserving.scheduling import simulate, synthetic_workload
from pytest_benchmark.fixture import BenchmarkFixture

WORKLOAD = synthetic_workload(1000)
EVENTS = {"static": 4000, "continuous": 4354, "chunked": 6589}


@pytest.mark.parametrize("step_by_step", [False, True], ids=["fast", "step by step"])
@pytest.mark.parametrize("policy", EVENTS)
def test_simulate_1000_requests(benchmark: BenchmarkFixture, policy: str, step_by_step: bool) -> None:
    def run() -> object:
        return simulate(WORKLOAD, policy, step_by_step=step_by_step)

    events, summary = benchmark.pedantic(run, rounds=1 if step_by_step else 5)
    assert (len(summary.served), len(events)) == (1000, EVENTS[policy])
