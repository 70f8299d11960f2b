"""The lines of an engine's log add up to what it says is left for the KV cache."""

from __future__ import annotations

import pytest
from llmserving import plan
from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.units import GiB

# A pipeline prints the lines of its first stage, and has as much cache as the last one.
ADDING_UP = [name for name, budget in ENGINE_BUDGETS.items() if budget.log.pipeline_parallel == 1]


@pytest.mark.parametrize("name", ADDING_UP)
def test_the_lines_add_up_to_the_printed_cache_with_the_graphs_left_out(name: str) -> None:
    budget = ENGINE_BUDGETS[name]
    assert abs(budget.left_gib - budget.printed_gib) < 0.025, "five lines, each rounded to two decimals"
    assert abs(budget.left_gib - budget.graphs_gib - budget.printed_gib) > 0.5


def test_a_pipeline_s_lines_do_not() -> None:
    [budget] = [budget for budget in ENGINE_BUDGETS.values() if budget.log.pipeline_parallel > 1]
    assert budget.left_gib - budget.printed_gib > 0.5


def test_a_budget_is_that_of_its_row() -> None:
    budget = ENGINE_BUDGETS["LLMD-33"]
    assert (budget.reported_gib, budget.utilization, budget.weights_gib) == (79.19, 0.95, 27.39)
    assert (budget.activations_gib, budget.other_gib, budget.graphs_gib) == (1.52, 0.25, 1.07)
    assert budget.log.model.name == "phi-4"
    assert budget.budget_gib == pytest.approx(75.2305)


def test_the_planner_comes_near_a_log_that_it_was_not_told() -> None:
    made = plan("phi-4", "h100-80gb", context=8192, requests=1, gpu_memory_utilization=0.95)
    assert made.kv_bytes_available / GiB == pytest.approx(ENGINE_BUDGETS["LLMD-33"].printed_gib, abs=0.2)
