"""Level 5: wrong numbers on the course's own servers, each told which mistake it looks like."""

from __future__ import annotations

import pytest
from grader.answer_key import KEY


@pytest.mark.parametrize(
    ("exercise", "part", "given", "mistake"),
    [
        ("L5.1A", "times", 416, "chats_for_times"),  # 32 times the 13 chats of now
        ("L5.1B", "fp16_s", 0.0203, "reading_for_arithmetic"),  # 68 GB at 3.35 TB/s
        ("L5.1B", "int8_s", 0.01015, "reading_for_arithmetic"),  # 34 GB at 3.35 TB/s
    ],
)
def test_a_number_that_answers_another_question_is_told_which(
    exercise: str, part: str, given: float, mistake: str
) -> None:
    judged = KEY[exercise].grade({part: given}).parts[part]
    assert (judged.score, judged.diagnoses) == (0, (mistake,))


def test_past_the_ridge_of_int8_is_not_called_the_ridge_itself() -> None:
    beyond = KEY["L5.1B"].grade({"beyond": 100.9}).parts["beyond"]
    assert beyond.diagnoses == ("one_flop_a_weight", "int8_peak")
    assert "divides by the ridge point of INT8" in beyond.message
    assert KEY["L5.1B"].grade({"beyond": 295.4}).parts["beyond"].diagnoses == ("ridge_itself",)
