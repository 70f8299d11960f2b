"""The questions of level 2's lab: a log that is read, factors that are foretold, and reasons, each with its own mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from grader.answer_key import KEY, reference_answers
from grader.selftest.as_run import run_cell
from llmserving import MODELS
from llmserving.cache_readings import LOG_OF, read
from llmserving.engine_logs import ENGINE_LOGS
from llmserving.exercises import EXERCISES

LEARNERS = ["default", *(f"learner-{number}" for number in range(12))]
HEAD = "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n"


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_log_alone_gives_the_heads_that_its_model_s_config_says(learner: str) -> None:
    numbers = EXERCISES["LAB2.2"].numbers(learner)
    right = reference_answers(EXERCISES["LAB2.2"], learner)
    assert right["heads"] == MODELS[numbers["model"]].kv_heads
    reading = read(ENGINE_LOGS[numbers["log"]])
    assert abs(right["token_bytes"] / float(reading.middle) - 1) < 0.005


def test_what_is_asked_is_in_no_table_of_the_lab() -> None:
    shown = {ENGINE_LOGS[log_id].model.name for log_id in LOG_OF.values()} | {"gemma-2b"}
    for learner in LEARNERS:
        factors = EXERCISES["LAB2.3"].numbers(learner)
        asked = {EXERCISES["LAB2.2"].numbers(learner)["model"], factors["grouped"], factors["mla"]}
        assert not asked & shown
        right = reference_answers(EXERCISES["LAB2.3"], learner)
        assert right["grouped"] != 4
        assert round(right["latent"], 2) != 7.11  # what the card of LAB2.1 says of the table's models


@pytest.mark.parametrize(
    ("exercise_id", "answer", "diagnosis"),
    [
        ("LAB2.2", [53_400, 4], "gb_for_gib"),
        ("LAB2.2", [57_300, 28], "query_heads"),
        ("LAB2.2", [57_341, 57_341 / (28 * 512)], "not_rounded"),
        ("LAB2.2", [57_300, 8], "key_and_value_apart"),
        ("LAB2.2", [57_300, 7], "group_size"),
        ("LAB2.3", [0.125, 16, 56.9], "ratio_inverted"),
        ("LAB2.3", [16, 16, 56.9], "doubled_again"),
        ("LAB2.3", [8, 1, 56.9], "no_change"),
        ("LAB2.3", [8, 16, 28.4], "latent_doubled"),
        ("LAB2.3", [8, 16, 128], "query_heads_for_factor"),
    ],
)
def test_mistakes_on_the_course_s_numbers(exercise_id: str, answer: Any, diagnosis: str) -> None:
    verdict = KEY[exercise_id].grade(answer)
    assert verdict.diagnoses == (diagnosis,)


def test_heads_that_follow_from_a_wrong_size_are_followed_through() -> None:
    verdict = KEY["LAB2.2"].grade([57_341 / 2, 2])
    assert [part.state for part in verdict.parts.values()] == ["wrong", "followed_through"]


def test_the_formula_of_multi_head_is_told_by_how_much_each_model_is_off() -> None:
    made = run_cell(f"{HEAD}    return 2 * layers * query_heads * head_dim * bits // 8")
    verdict = KEY["LAB2.1"].grade(made["kv_bytes_per_token"])
    assert verdict.score == 1
    assert set(verdict.diagnoses) == {"query_heads_for_kv_heads", "latent_ignored"}
    assert verdict.message.startswith("Right: multi-head. Not yet: grouped-query, multi-query, latent.")
    assert "4 times too much for Llama-3.1-8B, which has 32 query heads and 8 KV heads." in verdict.message
    assert "7.11 times too much for DeepSeek-V2-Lite." in verdict.message


def test_a_repair_a_kind_earns_a_point_a_kind() -> None:
    for body, score in (
        ("2 * layers * query_heads * head_dim * bits // 8", 1),
        ("2 * layers * kv_heads * head_dim * bits // 8", 3),
        ("layers * (latent_dim or 2 * kv_heads * head_dim) * bits // 8", 4),
    ):
        assert KEY["LAB2.1"].grade(run_cell(f"{HEAD}    return {body}")["kv_bytes_per_token"]).score == score
