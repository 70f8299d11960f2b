"""The clinic from the cell to the sentence: many settings are right, and a wrong one is answered with its own numbers."""

from __future__ import annotations

from typing import Any

import pytest
from grader.answer_key import KEY, grade, inputs
from grader.selftest.as_run import run_cell
from llmserving.clinic import LONG_PROMPTS, serve
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.verdict import PartVerdict

IDS = ("LAB5A.1", "LAB5A.2", "LAB5A.3")


def levers(exercise_id: str, returned: str) -> PartVerdict:
    source = f"def clinic_{exercise_id[-1]}():\n    return {returned}"
    return grade({exercise_id: collect(exercise_id, run_cell(source), inputs(exercise_id))})[exercise_id].parts[
        "levers"
    ]


@pytest.mark.parametrize(
    ("exercise_id", "settings"),
    [
        ("LAB5A.1", "{'policy': 'chunked', 'token_budget': 400}"),
        ("LAB5A.1", "dict(policy='chunked', token_budget=512, gpu='a100-80gb')"),
        ("LAB5A.2", "{'kv_dtype': 'int8', 'weight_dtype': 'int4'}"),
        ("LAB5A.3", "{'gpu': 'h200-141gb', 'weight_dtype': 'int8', 'policy': 'continuous'}"),
    ],
)
def test_any_levers_that_keep_every_promise_are_right(exercise_id: str, settings: str) -> None:
    assert (levers(exercise_id, settings).score, levers(exercise_id, settings).message) == (4, "Right.")


def test_a_wrong_lever_is_named_and_answered_with_its_own_numbers() -> None:
    part = levers("LAB5A.1", "{'weight_dtype': 'int4'}")
    assert (part.score, part.diagnoses) == (0, ("fewer_bytes_for_arithmetic",))
    outcome = serve(LONG_PROMPTS, {"weight_dtype": "int4"})
    assert part.message.endswith(f"Tried on the simulator: {outcome.explain()} Missed: time per token.")


@pytest.mark.parametrize(
    ("exercise_id", "settings", "diagnosis"),
    [
        ("LAB5A.1", "{'policy': 'chunked', 'token_budget': 4096}", "pieces_too_long"),
        ("LAB5A.1", "{'weight_dtype': 'int4', 'gpu': 'a100-80gb'}", None),
        ("LAB5A.1", "{'policy': 'chunked', 'token_budget': 240}", "pieces_too_short"),
        ("LAB5A.1", "{'max_num_seqs': 6}", "fewer_at_once"),
        ("LAB5A.2", "{'max_num_seqs': 300}", "more_at_once"),
        ("LAB5A.3", "{'policy': 'continuous', 'token_budget': 512}", None),
        ("LAB5A.1", "{'max_num_seqs': 128}", "nothing_moved"),
        ("LAB5A.3", "{}", "nothing_moved"),
    ],
)
def test_other_amounts_of_a_named_mistake_are_the_same_mistake(
    exercise_id: str, settings: str, diagnosis: str | None
) -> None:
    part = levers(exercise_id, settings)
    assert (part.score, part.diagnoses) == (0, (diagnosis,) if diagnosis else ())


@pytest.mark.parametrize(
    ("exercise_id", "settings", "diagnosis", "points"),
    [
        ("LAB5A.2", "{'kv_dtype': 'int8', 'max_num_seqs': 40}", "room_and_a_limit", 2),
        ("LAB5A.2", "{'max_num_seqs': 48}", "fewer_at_once", 2),
        ("LAB5A.3", "{'policy': 'continuous'}", "batching_for_one", 2),
        ("LAB5A.3", "{'gpus': 2}", "half_for_each", 2),
        ("LAB5A.3", "{'gpus': 4}", "bought_out", 0),
        ("LAB5A.1", "{'gpu': 'h100-80gb'}", "bought_out", 0),
        ("LAB5A.1", "{'policy': 'chunked'}", "pieces_too_long", 0),
    ],
)
def test_a_promise_mended_earns_its_share_where_none_is_broken_for_it(
    exercise_id: str, settings: str, diagnosis: str, points: float
) -> None:
    part = levers(exercise_id, settings)
    assert (part.score, part.state, part.diagnoses) == (points, "partly" if points else "wrong", (diagnosis,))
    share = "Of the 2 promises missed before, 1 is kept now and earns its share of the points."
    assert part.message.endswith(share) == bool(points)


def test_a_quotient_is_told_that_requests_come_whole() -> None:
    part = KEY["LAB5A.2"].grade({"held": 99.12}).parts["held"]
    assert part.diagnoses == ("not_rounded",)
    assert "only whole ones count" in part.message


def test_what_is_foretold_is_drawn_for_a_learner_and_the_case_stays() -> None:
    learners = [f"learner{number}" for number in range(30)]
    drawn = {name: [EXERCISES[name].numbers(learner) for learner in learners] for name in IDS}
    for name, (asked, values) in {
        "LAB5A.1": ("document", range(20_000, 28_000)),
        "LAB5A.2": ("grown", range(1_600, 3_201)),
        "LAB5A.3": ("bytes_each", (0.5, 1)),
    }.items():
        met = {numbers[asked] for numbers in drawn[name]}
        assert len(met) > 1
        assert all(value in values for value in met)
        course = EXERCISES[name].numbers("default")
        apart = {asked, "each"}
        assert all(
            {k: v for k, v in numbers.items() if k not in apart} == {k: v for k, v in course.items() if k not in apart}
            for numbers in drawn[name]
        )
    eight_bits = next(learner for learner in learners if EXERCISES["LAB5A.3"].numbers(learner)["bytes_each"] == 1)
    graded = KEY["LAB5A.3"].grade({"least_ms": 9.79}, eight_bits).parts["least_ms"]
    assert graded.state == "right"
    assert KEY["LAB5A.3"].grade({"least_ms": 4.9}, eight_bits).parts["least_ms"].diagnoses == ("half_a_byte_a_weight",)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            "{'gpus': 8}",
            "there is no lever 'gpus' to move here; those are policy, max_num_seqs, token_budget, weight_dtype, gpu.",
        ),
        ("{'max_num_seqs': float('nan')}", "max_num_seqs is a whole number from 4 to 512 here"),
        ("{('policy',): 'chunked'}", "settings name each lever by a text, such as 'policy'."),
        ("[1, 2]", "settings are a dict of levers"),
        ("'chunked'", "settings are a dict of levers"),
        ("None", "gave None. A function without `return` gives None"),
        ("1 / 0", "stopped with ZeroDivisionError"),
    ],
)
def test_what_is_no_setting_is_told_so_and_never_stops_grading(returned: str, said: str) -> None:
    part = levers("LAB5A.1", returned)
    assert part.score == 0
    assert said in part.message


def test_no_sentence_on_wrong_levers_tells_the_right_ones() -> None:
    for exercise_id, right in (("LAB5A.1", "token_budget"), ("LAB5A.2", "kv_dtype"), ("LAB5A.3", "'int4'")):
        assert right not in levers(exercise_id, "{'max_num_seqs': 64}").message


@pytest.mark.parametrize("exercise_id", IDS)
def test_a_tempting_lever_is_answered_with_what_the_simulator_makes_of_it(exercise_id: str) -> None:
    exercise = EXERCISES[exercise_id]
    part = exercise.part_by_name["lever"]
    right = KEY[exercise_id].parts["lever"].right  # type: ignore[union-attr]
    told: list[Any] = []
    for letter, option in exercise.lettered_options(part, "default").items():
        if option.name != right:
            told.append(KEY[exercise_id].grade({"lever": letter}).parts["lever"].message)
    assert len(told) == 3
    assert all("Tried on the simulator: 95 % wait at most" in message for message in told)
