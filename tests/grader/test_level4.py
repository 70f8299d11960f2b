"""Level 4: a small difference is judged by the learner's own accepted sizes, and later parts carry on from earlier ones."""

from __future__ import annotations

import math
from typing import Any

import pytest
from grader.answer_key import KEY, grade, reference_answers
from grader.answer_key.solutions import reference_inputs
from llmserving.exercises import EXERCISES, collect

IDS = ("L4.1", "L4.2", "L4.3")
LEARNERS = ["default", *(f"learner-{number}" for number in range(20))]
ANSWERS = {
    "L4_1_weights_gb": 26, "L4_1_one_gb": 3.36, "L4_1_kv_gb": 53.7, "L4_1_total_gb": 79.7, "L4_1_headroom_gb": 0.3,
    "L4_2_weights_gb": 6.5, "L4_2_total_gb": 60.2, "L4_2_fits": "T", "L4_2_headroom_gb": 19.8, "L4_3_extra": 5,
}  # fmt: skip


def verdicts(learner: str = "default", **variables: Any) -> dict[str, Any]:
    """Verdicts by part, such as "L4.1.total_gb", of the course's answers with some of them replaced."""
    given = {**ANSWERS, **variables} if learner == "default" else variables
    graded = grade({name: collect(name, given) for name in IDS}, learner)
    return {f"{name}.{part}": verdict for name, each in graded.items() for part, verdict in each.parts.items()}


def headroom(total: Any, left: Any) -> Any:
    return verdicts(L4_1_total_gb=total, L4_1_headroom_gb=left)["L4.1.headroom_gb"]


@pytest.mark.parametrize(
    ("total", "left"),
    [
        (79.7, 0.3),
        (79.7, 80 - 79.7),
        (79.7, "300 MB"),
        (79.69, 0.31),
        (79.687, 0.313),
        (79.687, 0.31),
        (79.687, 0.3129),
        ("79.687 GB", "0.31 GB"),
        (79.8, 0.2),
        (79.7, 0.313),
    ],
)
def test_what_is_left_is_simply_right_by_an_accepted_total(total: Any, left: Any) -> None:
    verdict = headroom(total, left)
    assert (verdict.state, verdict.message) == ("right", "Right.")


@pytest.mark.parametrize(
    ("total", "left", "diagnoses"),
    [
        (79.687, 0.3, ("rounded_too_far",)),
        (79.687, 0.2, ()),
        (79.7, 0.2, ()),
        (79.7, -0.3, ("sign_turned",)),
        (79.7, 0.003, ()),
        (79.7, 26.3, ("weights_not_deducted",)),
        (79.7, 54, ("cache_not_deducted",)),
        (79.7, 50.64, ("one_request",)),
        (79.7, 313, ("mb_for_gb",)),
        (79.7, -7.7, ("engine_s_share",)),
    ],
)
def test_what_no_accepted_total_leaves_is_wrong(total: Any, left: Any, diagnoses: tuple[str, ...]) -> None:
    verdict = headroom(total, left)
    assert (verdict.score, verdict.state, verdict.diagnoses) == (0, "wrong", diagnoses)


def test_a_difference_rounded_too_far_is_told_how_far_is_asked() -> None:
    assert "asked for to within 0.005" in headroom(79.687, 0.3).message


@pytest.mark.parametrize(("total", "left"), [(61, 19), (105.7, -25.7), (81.6, "-1.6 GB")])
def test_what_a_wrong_total_leaves_follows_through_below_zero_too(total: float, left: Any) -> None:
    found = verdicts(L4_1_total_gb=total, L4_1_headroom_gb=left)
    assert found["L4.1.total_gb"].score == 0
    assert found["L4.1.headroom_gb"].state == "followed_through"
    assert "worked correctly from your own earlier answer" in found["L4.1.headroom_gb"].message


@pytest.mark.parametrize("left", [2.3, 2.31, 2.313, "2.29 GB"])
def test_what_is_left_beside_a_wrong_total_may_come_from_what_was_written_or_from_what_was_rounded(left: Any) -> None:
    """77.687, a slip in the sum, written as 77.7: a calculator that still shows it gives 2.313."""
    found = verdicts(L4_1_total_gb=77.7, L4_1_headroom_gb=left)
    assert found["L4.1.total_gb"].state == "wrong"
    assert found["L4.1.headroom_gb"].state == "followed_through"


@pytest.mark.parametrize(("total", "left"), [(77.7, 2.4), (77.7, 2.2), (77.687, 2.3), (77.687, 2.35)])
def test_what_no_rounding_of_a_wrong_total_leaves_is_wrong(total: float, left: float) -> None:
    assert verdicts(L4_1_total_gb=total, L4_1_headroom_gb=left)["L4.1.headroom_gb"].score == 0


def test_what_is_left_may_come_from_a_size_that_was_rounded_on_the_way_and_a_total_that_was_not() -> None:
    """16 requests of 3.36 are 53.76, which with 26 makes 79.76: written 53.8 and 79.8, and 0.24 is left."""
    written: dict[str, Any] = {"L4_1_kv_gb": 53.8, "L4_1_total_gb": 79.8}
    for left in (0.24, 0.2, 0.31):
        assert verdicts(**written, L4_1_headroom_gb=left)["L4.1.headroom_gb"].state == "right"
    assert verdicts(**written, L4_1_headroom_gb=0.27)["L4.1.headroom_gb"].score == 0


def test_what_is_left_follows_two_roundings_of_wrong_sizes() -> None:
    """12.1 billion parameters are 24.2 GB, and 24.2 with 53.76 is 77.96: written 78.0, and 2.04 is left."""
    wrong: dict[str, Any] = {"L4_1_weights_gb": 24.2, "L4_1_kv_gb": 53.8, "L4_1_total_gb": 78.0}
    for left in (2.0, 2.04):
        assert verdicts(**wrong, L4_1_headroom_gb=left)["L4.1.headroom_gb"].state == "followed_through"


def test_a_total_that_was_only_carried_on_is_not_accepted_as_a_base() -> None:
    """Followed through, so that the card goes on to say that something earlier is to be mended."""
    found = verdicts(L4_1_weights_gb=13, L4_1_total_gb=66.7, L4_1_headroom_gb=13.3)
    assert [found[f"L4.1.{part}"].state for part in ("weights_gb", "total_gb", "headroom_gb")] == [
        "wrong", "followed_through", "followed_through",
    ]  # fmt: skip


def test_only_a_difference_may_be_below_zero() -> None:
    assert verdicts(L4_1_total_gb=-79.7)["L4.1.total_gb"].diagnoses == ("negative",)


@pytest.mark.parametrize("learner", LEARNERS)
def test_sizes_rounded_as_asked_earn_every_point(learner: str) -> None:
    """Rounded on the way, each from those before it, as with a pocket calculator."""
    n = EXERCISES["L4.1"].numbers(learner)
    right = reference_answers(EXERCISES["L4.1"], learner)

    def figures(number: float) -> float:
        return float(f"{number:.3g}")

    weights, one = figures(right["weights_gb"]), figures(right["one_gb"])
    kv = figures(right["kv_gb"])
    total = figures(weights + kv)
    int4_total = figures(weights / 4 + kv)
    left = figures(n["memory_gb"] - int4_total)
    found = verdicts(
        learner,
        L4_1_weights_gb=weights, L4_1_one_gb=one, L4_1_kv_gb=kv, L4_1_total_gb=total,
        L4_1_headroom_gb=round(n["memory_gb"] - total, 2), L4_2_weights_gb=weights / 4, L4_2_total_gb=int4_total,
        L4_2_fits="T", L4_2_headroom_gb=left, L4_3_extra=math.floor(left / one),
        L4_1_deploy=reference_inputs(EXERCISES["L4.1"], learner)["deploy"],
    )  # fmt: skip
    assert {name: verdict.state for name, verdict in found.items()} == dict.fromkeys(found, "right")


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_wrong_size_is_paid_for_once_through_all_three_exercises(learner: str) -> None:
    """A cache of keys alone: what follows from it is worked correctly, down to the last count."""
    n = EXERCISES["L4.1"].numbers(learner)
    weights, one = 2 * n["billions"], reference_answers(EXERCISES["L4.1"], learner)["one_gb"] / 2
    kv = n["B"] * one
    left = n["memory_gb"] - weights / 4 - kv
    found = verdicts(
        learner,
        L4_1_weights_gb=weights, L4_1_one_gb=one, L4_1_kv_gb=kv, L4_1_total_gb=weights + kv,
        L4_1_headroom_gb=n["memory_gb"] - weights - kv, L4_2_weights_gb=weights / 4, L4_2_total_gb=weights / 4 + kv,
        L4_2_fits="T", L4_2_headroom_gb=left, L4_3_extra=math.floor(left / one),
        L4_1_deploy=reference_inputs(EXERCISES["L4.1"], learner)["deploy"],
    )  # fmt: skip
    states = {name: verdict.state for name, verdict in found.items()}
    assert states.pop("L4.1.one_gb") == "wrong"
    assert found["L4.1.one_gb"].diagnoses == ("keys_or_values_only",)
    right = ("L4.1.weights_gb", "L4.1.deploy", "L4.2.weights_gb", "L4.2.fits")
    assert {states.pop(name) for name in right} == {"right"}
    assert set(states.values()) == {"followed_through"}


def letter(option: str, learner: str = "default") -> str:
    exercise = EXERCISES["L4.1"]
    lettered = exercise.lettered_options(exercise.part_by_name["deploy"], learner)
    return next(letter for letter, shown in lettered.items() if shown.name == option)


def test_a_choice_follows_a_wrong_total_past_the_memory() -> None:
    """Four bytes a weight: what does not fit by one's own numbers is not deployed, for that reason."""
    over: dict[str, Any] = {"L4_1_weights_gb": 52, "L4_1_total_gb": 105.7, "L4_1_deploy": letter("too_large")}
    deploy = verdicts(**over)["L4.1.deploy"]
    assert (deploy.state, deploy.score) == ("followed_through", 2)
    assert "by your own earlier answers" in deploy.message
    assert verdicts(L4_1_deploy=letter("too_large"))["L4.1.deploy"].diagnoses == ("over_by_formula",)
    assert verdicts(**over | {"L4_1_deploy": letter("by_formula")})["L4.1.deploy"].diagnoses == ("fits_by_formula",)


def test_whether_it_fits_follows_a_wrong_total_too() -> None:
    assert verdicts(L4_2_total_gb=113.9, L4_2_fits="F")["L4.2.fits"].state == "followed_through"
    assert verdicts(L4_2_fits="F")["L4.2.fits"].diagnoses == ("does_not_fit",)


@pytest.mark.parametrize("learner", LEARNERS)
def test_who_would_deploy_by_formula_is_told_what_an_engine_hands_out_of_this_memory(learner: str) -> None:
    n = EXERCISES["L4.1"].numbers(learner)
    told = KEY["L4.1"].grade({"deploy": letter("by_formula", learner)}, learner).parts["deploy"].message
    assert f"Of {n['memory_gb']} GB an engine with its usual settings hands out {0.9 * n['memory_gb']:.3g} GB" in told
    left = reference_answers(EXERCISES["L4.1"], learner)["headroom_gb"]
    assert f"{left:.2f}" not in told, "the headroom is asked for in the same exercise"


@pytest.mark.parametrize(
    ("variable", "answer", "diagnosis"),
    [
        ("L4_1_weights_gb", 13, "int8_for_fp16"),
        ("L4_1_one_gb", 1.68, "keys_or_values_only"),
        ("L4_1_one_gb", 53.7, "batch_for_one"),
        ("L4_1_kv_gb", 3.36, "batch_forgotten"),
        ("L4_1_kv_gb", 50, "gib_for_gb"),
        ("L4_1_total_gb", 53.7, "weights_forgotten"),
        ("L4_1_total_gb", 29.4, "one_request"),
        ("L4_2_weights_gb", 13, "int4_as_one_byte"),
        ("L4_2_total_gb", 19.9, "cache_shrinks_with_weights"),
        ("L4_2_total_gb", 79.7, "as_before"),
        ("L4_2_headroom_gb", 60.1, "cache_shrinks_with_weights"),
        ("L4_2_headroom_gb", 26.3, "weights_not_deducted"),
        ("L4_2_headroom_gb", 19.5, "saved_for_left"),
        ("L4_3_extra", 21, "total_for_extra"),
        ("L4_3_extra", 6, "rounded_up"),
        ("L4_3_extra", 5.9, "not_floored"),
        ("L4_3_extra", 7, "weights_not_deducted"),
        ("L4_3_extra", 23, "cache_shrinks_with_weights"),
        ("L4_3_extra", 0, "left_before_or_whole_batch"),
    ],
)
def test_mistakes_on_the_course_s_numbers(variable: str, answer: float, diagnosis: str) -> None:
    changed: dict[str, Any] = {variable: answer}
    exercise, part = variable[:4].replace("_", "."), variable[5:]
    verdict = verdicts(**changed)[f"{exercise}.{part}"]
    assert verdict.score == 0
    assert diagnosis in verdict.diagnoses


@pytest.mark.parametrize(
    ("exercise_id", "names"),
    [
        ("WH5", "little_waste larger_batch shared_read same_path"),
        ("WH5", "same_path little_waste larger_batch shared_read"),
        ("WH6", "splits_both streams_share ratio_stays adds_messages"),
        ("WH6", "splits_both adds_messages streams_share ratio_stays"),
    ],
)
def test_sound_orders_of_an_argument_earn_it(exercise_id: str, names: str) -> None:
    exercise = EXERCISES[exercise_id]
    lettered = {
        option.name: letter for letter, option in exercise.lettered_options(exercise.parts[0], "default").items()
    }
    assert KEY[exercise_id].grade([lettered[name] for name in names.split()]).score == exercise.points


def test_weights_of_four_bits_for_those_of_sixteen_are_told() -> None:
    weights = verdicts(L4_1_weights_gb=6.5)["L4.1.weights_gb"]
    assert (weights.score, weights.diagnoses) == (0, ("int4_for_fp16",))
