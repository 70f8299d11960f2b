"""A later part worked correctly from an earlier wrong answer earns its points, and the card says so."""

from __future__ import annotations

import math
from typing import Any

import pytest
from grader.answer_key import KEY, grade, reference_answers
from hypothesis import given
from hypothesis import strategies as st
from llmserving import check
from llmserving.exercises import EXERCISES, collect, session

LEARNERS = ["default", *(f"learner-{number}" for number in range(20))]


def together(learner: str = "default", **variables: Any) -> dict[str, Any]:
    return grade({name: collect(name, variables) for name in ("L2.1", "L2.2")}, learner)


def test_requests_from_half_the_size_follow_through() -> None:
    verdicts = together(L2_1_kv_gb=0.537, L2_2_requests=74)
    assert verdicts["L2.1"].score == 0
    assert verdicts["L2.2"].score == verdicts["L2.2"].points == 2
    assert verdicts["L2.2"].parts["requests"].state == "followed_through"
    assert "worked correctly from your own earlier answer" in verdicts["L2.2"].message
    assert verdicts["L2.2"].diagnoses == ()


@pytest.mark.parametrize("learner", LEARNERS)
def test_any_wrong_size_is_followed_on_every_draw(learner: str) -> None:
    n = EXERCISES["L2.2"].numbers(learner)
    right = reference_answers(EXERCISES["L2.1"], learner)["kv_gb"]
    for factor in (0.5, 1.4, 3):
        fit = math.floor(n["budget_gb"] / (right * factor / n["B"]))
        verdicts = together(learner, L2_1_kv_gb=right * factor, L2_2_requests=fit)
        assert verdicts["L2.1"].score == 0
        assert verdicts["L2.2"].parts["requests"].state in ("followed_through", "right")
        off = together(learner, L2_1_kv_gb=right * factor, L2_2_requests=fit + 900)
        assert off["L2.2"].score == 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_size_rounded_as_asked_leads_to_the_right_count(learner: str) -> None:
    n = EXERCISES["L2.2"].numbers(learner)
    rounded = float(f"{reference_answers(EXERCISES['L2.1'], learner)['kv_gb']:.2e}")
    fit = math.floor(n["budget_gb"] / (rounded / n["B"]))
    verdicts = together(learner, L2_1_kv_gb=rounded, L2_2_requests=fit)
    assert [verdict.parts[name].state for verdict, name in zip(verdicts.values(), ("kv_gb", "requests"), strict=True)] == [
        "right", "right",
    ]  # fmt: skip


@pytest.mark.parametrize("requests", [56, 57])
def test_a_count_may_come_from_a_wrong_size_before_it_was_rounded(requests: int) -> None:
    """Of 0.702 GB 56.98 fit, and of 0.7015, which it may be rounded from, 57.02: either count is worked correctly."""
    verdict = together(L2_1_kv_gb=0.702, L2_2_requests=requests)["L2.2"]
    assert verdict.parts["requests"].state == "followed_through"


@pytest.mark.parametrize("requests", [55, 56.5, 58])
def test_a_count_that_no_rounding_leads_to_is_wrong(requests: float) -> None:
    assert together(L2_1_kv_gb=0.702, L2_2_requests=requests)["L2.2"].score == 0


def test_the_right_count_stays_right_after_a_wrong_size() -> None:
    assert together(L2_1_kv_gb=0.537, L2_2_requests=37)["L2.2"].parts["requests"].state == "right"


def test_a_mistake_in_the_later_part_is_told_even_when_it_carries_on() -> None:
    verdict = together(L2_1_kv_gb=0.537, L2_2_requests=75)["L2.2"]
    assert (verdict.score, verdict.diagnoses) == (0, ("rounded_up",))


def test_without_the_earlier_answer_the_reference_stands_in() -> None:
    assert grade({"L2.2": collect("L2.2", {"L2_2_requests": 37})})["L2.2"].score == 2
    assert grade({"L2.2": collect("L2.2", {"L2_2_requests": 74})})["L2.2"].diagnoses == ("keys_or_values_only",)


@pytest.mark.parametrize("earlier", [..., None, "nonsense", 0, -3, 1e-310, 1e299, float("nan")])
def test_an_earlier_answer_that_cannot_be_carried_on_changes_nothing(earlier: Any) -> None:
    assert together(L2_1_kv_gb=earlier, L2_2_requests=37)["L2.2"].score == 2
    assert together(L2_1_kv_gb=earlier, L2_2_requests=38)["L2.2"].diagnoses == ("rounded_up",)


def test_the_unit_that_was_written_is_carried_along() -> None:
    assert together(L2_1_kv_gb="512 MiB", L2_2_requests=74)["L2.2"].parts["requests"].state == "followed_through"


def test_within_an_exercise_later_parts_carry_on_from_the_first() -> None:
    verdict = KEY["L2.3"].grade([52, 26, 13, 4])
    assert [part.state for part in verdict.parts.values()] == ["wrong", "followed_through", "followed_through", "right"]
    assert verdict.score == 3


def test_a_shrink_worked_from_a_wrong_size_follows_through() -> None:
    verdict = KEY["L2.3"].grade([26, 13, 13, 2])
    assert verdict.parts["int4_gb"].diagnoses == ("int4_as_one_byte",)
    assert verdict.parts["shrink"].state == "followed_through"


def test_empty_slots_and_their_share_follow_from_a_wrong_number_of_blocks() -> None:
    parts = KEY["L3.1"].grade([0.941, 9, 24, 15, 24 / 144]).parts
    assert [part.state for part in parts.values()] == [
        "right",
        "wrong",
        "followed_through",
        "right",
        "followed_through",
    ]


def test_too_few_blocks_pay_for_no_negative_number_of_slots() -> None:
    parts = KEY["L3.1"].grade([0.941, 7, -8, 15, 0.0625]).parts
    assert [parts[name].score for name in ("blocks", "empty")] == [0, 0]


def test_ratio_and_ceilings_follow_from_wrong_steps() -> None:
    parts = KEY["L3.2"].grade({"int8_step": 0.00709, "int4_step": 0.1286, "ratio": 18.1, "int8_ceiling": 0.003545,
                               "int4_ceiling": 0.0643}).parts  # fmt: skip
    assert [parts[name].state for name in ("int8_step", "int4_step")] == ["wrong", "wrong"]
    assert parts["ratio"].diagnoses == ()
    assert parts["ratio"].state == "followed_through"
    assert [parts[name].state for name in ("int8_ceiling", "int4_ceiling")] == ["followed_through"] * 2


def test_the_slip_of_values_for_gaps_is_judged_by_the_step_of_int4_and_by_the_ratio() -> None:
    """1.5 / 256 is within rounding of 1.5 / 255, so INT8 cannot tell; the ratio of the slipped steps is no follow-through."""
    parts = (
        KEY["L3.2"].grade({"int8_step": 1.5 / 256, "int4_step": 1.5 / 16, "ratio": 16, "int4_ceiling": 1.5 / 32}).parts
    )
    assert parts["int8_step"].state == "right"
    assert parts["int4_step"].diagnoses == ("levels_for_gaps",)
    assert (parts["ratio"].state, parts["ratio"].diagnoses) == ("wrong", ("ratio_of_levels",))
    assert parts["int4_ceiling"].state == "followed_through"


def test_saving_and_int8_time_follow_from_wrong_times() -> None:
    parts = KEY["L3.3"].grade({"read_ms": 6.375, "saved_ms": 4.78, "compute_ms": 683, "w8a8_ms": 341}).parts
    assert [part.state for part in parts.values()][:4] == ["wrong", "followed_through", "wrong", "followed_through"]


def test_shares_and_chats_follow_from_a_wrong_number_of_blocks() -> None:
    parts = KEY["L5.1A"].grade({"blocks": 5, "empty": 20, "blocks_share": 0.25, "times": 25.6}).parts
    states = [parts[name].state for name in ("blocks", "empty", "blocks_share", "times")]
    assert states == ["wrong", *["followed_through"] * 3]


def test_the_int8_time_of_a_pass_follows_from_a_wrong_time_in_16_bits() -> None:
    parts = KEY["L5.1B"].grade({"fp16_s": 2.05, "int8_s": 1.02}).parts
    assert [parts[name].state for name in ("fp16_s", "int8_s")] == ["wrong", "followed_through"]


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_a_first_part_earns_nothing_from_what_comes_after(first: float, later: float) -> None:
    alone = KEY["L2.3"].grade({"fp16_gb": first}).parts["fp16_gb"]
    assert KEY["L2.3"].grade([first, later, later, later]).parts["fp16_gb"] == alone


def test_the_check_of_a_later_exercise_reads_the_earlier_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    monkeypatch.setattr(session, "namespace", lambda: {"L2_1_kv_gb": 0.537, "L2_2_requests": 74})
    assert check("L2.2") == 2.0
    told = capsys.readouterr().out
    assert "74 is worked correctly from your own earlier answer" in told
    assert "L2.1 ·" not in told, "only the exercise that was asked for gets a card"


@pytest.mark.parametrize("size", [41, 1e9, 1_073_741_824])
def test_a_size_so_wrong_that_nothing_fits_pays_for_no_zero(size: float) -> None:
    verdicts = together(L2_1_kv_gb=size, L2_2_requests=0)
    assert verdicts["L2.2"].score == 0
    assert verdicts["L2.2"].parts["requests"].state == "wrong"
