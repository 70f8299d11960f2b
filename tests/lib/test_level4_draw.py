"""The draw of level 4 keeps the point: it fits by a hair, and the count of newcomers outlasts rounding."""

from __future__ import annotations

import math

import pytest
from llmserving import GB, kv_bytes, weight_bytes
from llmserving.exercises import EXERCISES

LEARNERS = [f"learner-{number}" for number in range(200)]


def test_the_default_draw_is_the_course_s_own_numbers() -> None:
    n = EXERCISES["L4.1"].numbers("default")
    assert {name: n[name] for name in ("memory_gb", "parameters", "L", "d_model", "S", "B", "p")} == {
        "memory_gb": 80, "parameters": 13 * 10**9, "L": 40, "d_model": 5120, "S": 4096, "B": 16, "p": 2,
    }  # fmt: skip


def test_the_three_exercises_share_one_draw_of_many() -> None:
    drawn = {str(EXERCISES["L4.1"].numbers(learner)) for learner in LEARNERS}
    assert len(drawn) > 50
    for later in ("L4.2", "L4.3"):
        assert EXERCISES[later].draw is EXERCISES["L4.1"].draw


@pytest.mark.parametrize("learner", LEARNERS)
def test_other_draws_keep_the_point(learner: str) -> None:
    n = EXERCISES["L4.1"].numbers(learner)
    one = kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"]) / GB
    kv, fp16, int4 = n["B"] * one, weight_bytes(n["parameters"], 16) / GB, weight_bytes(n["parameters"], 4) / GB
    left = n["memory_gb"] - fp16 - kv
    assert n["B"] > 1, "a forgotten batch must show"
    assert n["n_head"] != n["L"], "one layer and one head must be two mistakes"
    assert 0.1 < left < 1, "it fits barely by formula"
    assert left < one, "and not one more request would fit"
    assert float(f"{fp16 + kv:.3g}") < n["memory_gb"], "a total of three figures leaves something too"
    more = (n["memory_gb"] - int4 - kv) / one
    assert more > 2, "with INT4 weights it fits, with room for some more"
    assert len({math.floor(more), round(more), math.ceil(more)}) == 2
    assert 0.1 < more % 1 < 0.9, "the fraction separates floor from ceil"
    assert abs(more % 1 - 0.5) > 0.05, "and does not leave rounding on an edge"
    for headroom in (0.995, 1, 1.005):
        for size in (0.995, 1, 1.005):
            assert math.floor(more * headroom / size) == math.floor(more), "sizes rounded by 0.5 % give the same count"


def test_some_draws_round_up_and_some_round_down() -> None:
    fractions = []
    for learner in LEARNERS:
        n = EXERCISES["L4.3"].numbers(learner)
        one = kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"])
        fractions.append((n["memory_gb"] * GB - weight_bytes(n["parameters"], 4)) / one % 1)
    assert any(fraction > 0.5 for fraction in fractions)
    assert any(fraction < 0.5 for fraction in fractions)
