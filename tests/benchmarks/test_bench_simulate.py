"""How long a simulation of 1,000 requests takes: `make bench` times it; `make test` runs 100 once, for the results."""

from __future__ import annotations

import pytest
from llmserving.scheduling import simulate, synthetic_workload
from pytest_benchmark.fixture import BenchmarkFixture

EVENTS = {
    100: {"static": 400, "continuous": 409, "chunked": 646},
    1000: {"static": 4000, "continuous": 4354, "chunked": 6589},
}


@pytest.mark.parametrize("step_by_step", [False, True], ids=["fast", "step by step"])
@pytest.mark.parametrize("policy", ["static", "continuous", "chunked"])
def test_simulate_many_requests(benchmark: BenchmarkFixture, policy: str, step_by_step: bool) -> None:
    requests = 1000 if benchmark.enabled else 100
    workload = synthetic_workload(requests)

    def run() -> object:
        return simulate(workload, policy, step_by_step=step_by_step)

    events, summary = benchmark.pedantic(run, rounds=1 if step_by_step else 5)
    assert (len(summary.served), len(events)) == (requests, EVENTS[requests][policy])
