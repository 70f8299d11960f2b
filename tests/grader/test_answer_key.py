"""The key: right is right however it is written, every named mistake is named, and no message tells the answer."""

from __future__ import annotations

import functools
import html
import math
import random
import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from grader.answer_key import KEY, Key, grade, reference_answers
from grader.answer_key.key import ChainKey, ChoiceKey, ValueKey
from grader.answer_key.solutions import number_forms, other_inputs, reference_inputs, stands_in, wrong_inputs
from grader.answer_key.written_units import number_in_unit_of
from grader.selftest.as_run import as_answers
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import EXERCISES, Exercise, collect
from llmserving.exercises.exercise import Part
from llmserving.exercises.statement import statement_markdown
from llmserving.exercises.verdict import PartVerdict
from llmserving.hardware import GPUS

from tests.mistakes import mistakes_of
from tests.variants import ways_to_ask

LEARNERS = ["default", *(f"learner-{number}" for number in range(20))]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


def graded(exercise: Exercise, learner: str, parts: dict[str, Any]) -> Any:
    return KEY[exercise.id].grade(as_answers(exercise, parts), learner)


@functools.cache
def graded_mistakes(exercise_id: str, learner: str) -> list[tuple[Any, Any]]:
    """Each named mistake, and the verdict on its part where all else is right."""
    exercise = EXERCISES[exercise_id]
    right = reference_inputs(exercise, learner)
    return [
        (wrong, graded(exercise, learner, {**right, wrong.part: wrong.written}).parts[wrong.part])
        for wrong in wrong_inputs(exercise, learner)
    ]


def learners_of(exercise: Exercise) -> list[str]:
    """Code is tried on many inputs as it is, so a few draws of it are many."""
    return LEARNERS[:3] if exercise.lab else LEARNERS


@every_exercise
def test_the_right_answer_earns_every_point_in_two_forms(exercise: Exercise) -> None:
    for learner in learners_of(exercise):
        plain, otherwise = reference_inputs(exercise, learner), other_inputs(exercise, learner)
        assert all(plain[name] != otherwise[name] for name in plain)
        for parts in (plain, otherwise):
            verdict = graded(exercise, learner, parts)
            assert (verdict.score, verdict.diagnoses, verdict.message) == (exercise.points, (), "Right."), parts


@every_exercise
def test_an_untouched_exercise_scores_nothing_and_says_why(exercise: Exercise) -> None:
    for namespace in ({}, {part.variable: ... for part in exercise.parts}):
        verdict = grade({exercise.id: collect(exercise.id, namespace)})[exercise.id]
        assert verdict.score == 0
        assert {part.state for part in verdict.parts.values()} == {"open"}
        assert "answer cell" in verdict.message or "Nothing was recorded" in verdict.message


@every_exercise
def test_each_named_mistake_fails_with_its_own_name_and_sentence(exercise: Exercise) -> None:
    for learner in learners_of(exercise):
        for wrong, part in graded_mistakes(exercise.id, learner):
            assert wrong.name in part.diagnoses, (learner, wrong)
            assert wrong.sentence in part.message
            assert part.reread
            if exercise.part_by_name[wrong.part].kind in ("chain", "function", "object"):
                assert part.score < part.points
            else:
                assert (part.score, part.state) == (0, "wrong")


@every_exercise
def test_each_named_mistake_can_be_told_on_some_draw(exercise: Exercise) -> None:
    """A mistake that gives the right number everywhere would be no mistake."""
    seen = {
        (wrong.part, wrong.name)
        for learner in learners_of(exercise)
        for wrong, _ in graded_mistakes(exercise.id, learner)
    }
    for name, key in KEY[exercise.id].parts.items():
        assert {(name, mistake.name) for mistake in mistakes_of(key)} <= seen


@every_exercise
def test_each_named_mistake_stands_alone_on_some_draw(exercise: Exercise) -> None:
    """Two that always give the same number are one diagnosis; two that always came together would have to be merged."""
    alone = set()
    for learner in learners_of(exercise):
        for wrong, part in graded_mistakes(exercise.id, learner):
            if part.diagnoses == (wrong.name,):
                alone.add((wrong.part, wrong.name))
    for name, key in KEY[exercise.id].parts.items():
        if not isinstance(key, ChoiceKey | ChainKey):
            assert {(name, mistake.name) for mistake in key.misconceptions} <= alone


def test_mistakes_that_coincide_on_the_course_s_numbers_are_both_named() -> None:
    verdict = KEY["L2.1"].grade(2**30 / 1e9 / 32)
    assert verdict.diagnoses == ("one_layer", "d_head_for_d_model")
    assert "one of 2 mistakes that give the same number here" in verdict.message
    n = EXERCISES["L2.1"].numbers("learner-0")
    right = reference_answers(EXERCISES["L2.1"], "learner-0")["kv_gb"]
    assert KEY["L2.1"].grade(right / n["L"], "learner-0").diagnoses == ("one_layer",)


@pytest.mark.parametrize("answer", [1.07, 1.0737, "1 GiB", "1.07GB", "1073741824 bytes", "1_073.74 MB", 1.073741824,
                                    np.float64(1.073741824), np.float32(1.0737), Fraction(2**30, 10**9), "1.074"])  # fmt: skip
def test_forms_of_the_right_size(answer: Any) -> None:
    assert KEY["L2.1"].grade(answer).score == 2


@pytest.mark.parametrize(
    ("exercise_id", "answer", "diagnosis"),
    [
        ("L2.1", 0.537, "keys_or_values_only"),
        ("L2.1", 0.53687, "keys_or_values_only"),
        ("L2.1", 2.147, "fp32_for_fp16"),
        ("L2.1", 1.0, "gib_for_gb"),
        ("L2.1", "1.07 GiB", "gb_labelled_gib"),
        ("L2.1", 8.59, "bits_for_bytes"),
        ("L2.1", 1073.7, "mb_for_gb"),
        ("L2.1", 1024, "mib_for_gb"),
        ("L2.1", 1073741824, "bytes_for_gb"),
        ("L2.1", 1.1, "rounded_too_far"),
        ("L2.1", -1.07, "negative"),
        ("L2.2", 38, "rounded_up"),
        ("L2.2", 37.25, "not_floored"),
        ("L2.2", 37.3, "not_floored"),
        ("L2.2", 40, "gib_for_gb"),
        ("L2.2", 74, "keys_or_values_only"),
        ("L2.2", 18, "fp32_for_fp16"),
        ("L2.2", 4, "bits_for_bytes"),
        ("L2.3", [26, 13, 13, 4], "int4_as_one_byte"),
        ("L2.3", [52, 13, 6.5, 4], "fp32_for_fp16"),
        ("L2.3", [24.2, 13, 6.5, 4], "gib_for_gb"),
        ("L2.3", [26, 13, 6.5, 0.25], "ratio_inverted"),
        ("L2.3", [26, 13, 6.5, 2], "shrink_of_int8"),
        ("L2.3", [26, 13, 6.5, 0.75], "share_saved"),
        ("L2.3", [26, 13, 6.5, 19.5], "gigabytes_saved"),
        ("EC8", 0, "empty_at_first_token"),
        ("EC8", 262_144, "keys_or_values_only"),
        ("L3.1", [0.0586, 8, 8, 15, 0.0625], "used_for_wasted"),
        ("L3.1", [16.07, 8, 8, 15, 0.0625], "divided_by_used"),
        ("L3.1", [0.941, 7, 8, 15, 0.0625], "floor_of_blocks"),
        ("L3.1", [0.941, 7.5, 8, 15, 0.0625], "not_rounded"),
        ("L3.1", [0.941, 8, 15, 15, 0.0625], "worst_case_for_this"),
        ("L3.1", [0.941, 8, 8, 16, 0.0625], "block_size_itself"),
        ("L3.1", [0.941, 8, 8, 8, 0.0625], "this_case_for_worst"),
        ("L3.1", [0.941, 8, 8, 15, 0.0667], "divided_by_used"),
        ("L3.1", [0.941, 8, 8, 15, 0.0039], "divided_by_max_len"),
        ("L3.1", [0.941, 8, 8, 15, "0.39 %"], "divided_by_max_len"),
        ("L3.1", [0.9, 8, 8, 15, 0.0625], "rounded_too_far"),
        ("L3.2", {"int4_step": 0.09375}, "levels_for_gaps"),
        ("L3.2", {"int8_step": 0.00709}, "absmax_scale"),
        ("L3.2", {"int4_step": 0.1286}, "absmax_scale"),
        ("L3.2", {"int4_step": -0.1}, "ends_swapped"),
        ("L3.2", {"ratio": 2}, "ratio_of_bits"),
        ("L3.2", {"ratio": 16}, "ratio_of_levels"),
        ("L3.2", {"ratio": 0.0588}, "ratio_inverted"),
        ("L3.2", {"int4_ceiling": 0.1}, "whole_step"),
        ("L3.3", {"lever": "W4A16"}, None),
        ("L3.3", {"read_ms": "0.01275 ms"}, "seconds_for_ms"),
        ("L3.3", {"compute_ms": 683}, "one_flop_a_weight"),
        ("L5.1A", {"reserved_share": 0.029}, "used_for_wasted"),
        ("L5.1A", {"blocks": 3}, "floor_of_blocks"),
        ("L5.1A", {"blocks": 3.75}, "not_rounded"),
        ("L5.1A", {"empty": 15}, "worst_case_for_this"),
        ("L5.1A", {"empty": 1988}, "waste_of_reservation"),
        ("L5.1A", {"blocks_share": 0.0667}, "divided_by_used"),
        ("L5.1A", {"times": 34.1}, "tail_forgotten"),
        ("L5.1A", {"times": 31}, "more_for_as_many"),
        ("L5.1A", {"times": "1/32"}, "inverted"),
        ("L5.1B", {"beyond": 59_600}, "not_divided_by_ridge"),
        ("L5.1B", {"beyond": 295}, "ridge_itself"),
        ("L5.1B", {"beyond": 25.2}, "one_prompt"),
        ("L5.1B", {"fp16_s": 2.05}, "one_flop_a_weight"),
        ("L5.1B", {"fp16_s": "4096"}, "ms_for_seconds"),
        ("L5.1B", {"int8_s": 4.1}, "as_before"),
        ("L5.1B", {"int8_s": 8.19}, "slower_in_int8"),
        ("L5.1B", {"freed_gb": 51}, "freed_by_int4"),
        ("L5.1B", {"freed_gb": 39.9}, "cache_shrinks_with_weights"),
        ("L5.1B", {"freed_gb": "34 GiB"}, "gb_labelled_gib"),
        ("L5.1B", {"tail_mb": 23.6}, "worst_case_for_this"),
        ("L5.1B", {"tail_mb": 1.18}, "one_document"),
        ("L5.1B", {"tail_mb": 0.00944}, "gb_for_mb"),
        ("SC3", 16, "ratio_of_levels"),
        ("EC1", 15, "worst_case_for_this"),
        ("EC2", 0, "tie_costs_nothing"),
        ("EC2", -0.02, "below_for_off"),
        ("EC3", [52, 9.4], "not_clipped"),
        ("EC3", [4, -0.2], "wraps_around"),
        ("EC4", [-30, -7], "nothing_lost"),
        ("EC4", [5, 0], "zero_point_for_end"),
    ],
)
def test_mistakes_on_the_course_s_numbers(exercise_id: str, answer: Any, diagnosis: str) -> None:
    verdict = KEY[exercise_id].grade(answer)
    assert verdict.score < verdict.points
    assert diagnosis is None or diagnosis in verdict.diagnoses


@pytest.mark.parametrize("share", [0.941, 0.94, 94.1, "94.1 %", "94.1%", "94 percent", 0.94140625, "0.9414"])
def test_forms_of_the_right_share(share: Any) -> None:
    assert KEY["L3.1"].grade({"reserved_share": share}).parts["reserved_share"].state == "right"


@pytest.mark.parametrize("share", ["0.941 %", 941, 0.938, "94.1 GB", True])
def test_what_is_no_form_of_it(share: Any) -> None:
    assert KEY["L3.1"].grade({"reserved_share": share}).parts["reserved_share"].score == 0


def test_a_budget_in_gib_against_sizes_in_gb_is_named_in_either_direction() -> None:
    found = {number: KEY["L2.2"].grade(number).parts["requests"] for number in (34, 40)}
    assert found[34].diagnoses == ("budget_in_gib",), "40 GB are 37.25 GiB, and over 1.0737 that is 34.7"
    assert found[40].diagnoses == ("gib_for_gb",)
    assert "but the request's size was left in GB" in found[34].message


def test_what_was_rounded_twice_is_told_that_it_is_close() -> None:
    right = reference_answers(EXERCISES["LAB5A.1"], "default")["stall_s"]
    assert f"{right:.5g}" == "1.0646", "which is 1.06, or 1.065, and from that 1.07"

    def verdict(number: float) -> PartVerdict:
        return KEY["LAB5A.1"].grade({"stall_s": number}).parts["stall_s"]

    assert [verdict(number).state for number in (1.06, 1.065, right)] == ["right"] * 3
    assert verdict(1.07).diagnoses == ("rounded_on_the_way",)
    assert verdict(1.07).message.startswith("`1.07` is close, but its third significant figure is off")
    assert verdict(1.1).diagnoses == ("rounded_too_far",)
    assert verdict(1.08).diagnoses == (), "more than a rounding off"
    assert KEY["L2.2"].grade(38.2).diagnoses != ("rounded_on_the_way",), "a count is exact"


def test_a_share_rounded_too_far_is_told_how_far_is_asked() -> None:
    assert "asked for to within 0.002" in KEY["L3.1"].grade({"blocks_share": 0.06}).message


@pytest.mark.parametrize("written", ["5.9 %", 5.9, 0.059, "5.86 %", "120/2048"])
def test_a_mistaken_share_is_named_as_a_fraction_and_out_of_a_hundred(written: Any) -> None:
    assert KEY["L3.1"].grade({"reserved_share": written}).parts["reserved_share"].diagnoses == ("used_for_wasted",)


def test_a_share_in_percent_that_is_rounded_too_far_is_told_so() -> None:
    exercise, n = EXERCISES["L3.1"], EXERCISES["L3.1"].numbers("default")
    assert n["used"] == 120, "of 128 slots: 6.25 %"
    assert KEY[exercise.id].grade({"blocks_share": "6 %"}).parts["blocks_share"].diagnoses == ("rounded_too_far",)


def test_slots_in_the_place_of_their_share_are_told_as_that() -> None:
    parts = KEY["L3.1"].grade({"reserved_share": 1928, "empty": 8, "blocks_share": 8}).parts
    assert parts["empty"].state == "right"
    for name in ("reserved_share", "blocks_share"):
        assert parts[name].diagnoses == ("slots_for_share",)


def test_a_code_counted_from_the_value_zero_is_told_as_that() -> None:
    assert KEY["EC3"].grade({"code": 10}).parts["code"].diagnoses == ("zero_point_not_added",)
    assert KEY["EC4"].grade({"code": -5}).parts["code"].diagnoses == ("zero_point_not_added",)


def test_the_weights_of_a_prefill_fit_on_the_gpu_that_it_names() -> None:
    drawn = [EXERCISES["L3.3"].numbers(learner) for learner in ("default", *(f"learner-{n}" for n in range(200)))]
    assert len({n["gpu"] for n in drawn}) == 4
    for n in drawn:
        assert 2e9 * n["billions"] < 0.9 * GPUS[n["gpu"]].memory_bytes, f"{n['billions']} billion in FP16 on {n['gpu']}"


def test_a_time_may_carry_its_unit() -> None:
    assert KEY["L3.3"].grade({"read_ms": "12.75 ms"}).parts["read_ms"].state == "right"
    assert KEY["L3.3"].grade({"read_ms": "0.01275 s"}).parts["read_ms"].state == "right"
    assert KEY["L3.3"].grade({"read_ms": "12750 us"}).parts["read_ms"].state == "right"
    assert "seconds_for_ms" in KEY["L3.3"].grade({"read_ms": "0.01275"}).diagnoses
    assert KEY["L3.3"].grade({"read_ms": "12.75 s"}).parts["read_ms"].score == 0


@pytest.mark.parametrize(
    ("exercise_id", "part", "answer", "sentence"),
    [
        ("L3.3", "compute_ms", "1365 us", "The number is right in ms, but you wrote µs, and 1 ms is 1,000 µs."),
        ("L3.3", "read_ms", "12.75 s", "The number is right in ms, but you wrote s, and 1 s is 1,000 ms."),
        ("L5.1B", "fp16_s", "4.096 ms", "The number is right in s, but you wrote ms, and 1 s is 1,000 ms."),
        ("L5.1B", "fp16_s", "4096 us", "The number is right in ms, but you wrote µs, and 1 ms is 1,000 µs."),
        ("LAB5A.1", "stall_s", "1.0646 ms", "The number is right in s, but you wrote ms, and 1 s is 1,000 ms."),
        ("L2.1", "kv_gb", "1.07 MB", "The number is right in GB, but you wrote MB, and 1 GB is 1,000 MB."),
        ("L2.1", "kv_gb", "1.07 TB", "The number is right in GB, but you wrote TB, and 1 TB is 1,000 GB."),
        ("L2.1", "kv_gb", "1024 MB", "The number is right in MiB, but you wrote MB, and 1 MiB is 1.049 MB."),
        ("EC8", "kv_bytes", "512 KB", "The number is right in KiB, but you wrote KB, and 1 KiB is 1.024 KB."),
        ("EC8", "kv_bytes", "512 kB", "The number is right in KiB, but you wrote KB, and 1 KiB is 1.024 KB."),
        ("EC8", "kv_bytes", "0.5 MB", "The number is right in MiB, but you wrote MB, and 1 MiB is 1.049 MB."),
        ("EC8", "kv_bytes", "524.288 KiB", "The number is right in KB, but you wrote KiB, and 1 KiB is 1.024 KB."),
        ("L4.1", "headroom_gb", "0.313 TB", "The number is right in GB, but you wrote TB, and 1 TB is 1,000 GB."),
    ],
)
def test_a_unit_that_does_not_fit_its_number_is_named(exercise_id: str, part: str, answer: str, sentence: str) -> None:
    verdict = KEY[exercise_id].grade({part: answer}).parts[part]
    assert (verdict.score, verdict.diagnoses) == (0, ("wrong_unit",))
    assert verdict.message == f"`{answer}`: {sentence}"


@pytest.mark.parametrize(
    ("exercise_id", "part", "answer", "diagnosis"),
    [
        ("L3.3", "compute_ms", "1.365", "seconds_for_ms"),
        ("L3.3", "compute_ms", "1.365 ms", "seconds_for_ms"),
        ("LAB5A.1", "stall_s", 1064.6, "ms_for_seconds"),
        ("L2.1", "kv_gb", "1073.7 GB", "mb_for_gb"),
        ("EC8", "kv_bytes", 512, "kib_for_bytes"),
    ],
)
def test_a_number_without_a_unit_of_its_own_is_told_in_what_it_counts(
    exercise_id: str, part: str, answer: Any, diagnosis: str
) -> None:
    assert KEY[exercise_id].grade({part: answer}).parts[part].diagnoses == (diagnosis,)


def test_milliseconds_are_converted_where_seconds_are_asked() -> None:
    in_seconds = Part("time", "time", "value", "the time", (), quantity="real", unit="s")
    assert number_in_unit_of(in_seconds, {"number": 12.75, "unit": "ms"}) == 0.01275
    assert number_in_unit_of(in_seconds, {"number": 12.75, "unit": None}) == 12.75


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("L3.1", {"reserved_share": "1928/2048", "blocks_share": "8/128"}),
        ("L3.2", {"ratio": "255/15"}),
        ("SC3", {"ratio": "255/15"}),
        ("L2.3", {"shrink": "26/6.5"}),
        ("EC1", {"empty": "none"}),
    ],
)
def test_a_right_answer_may_be_a_fraction_or_a_word(exercise_id: str, answer: dict[str, Any]) -> None:
    parts = KEY[exercise_id].grade(answer).parts
    for name in answer.keys() & parts.keys():
        assert parts[name].state == "right", parts[name].message


def test_a_code_that_is_not_whole_is_told_so() -> None:
    part = KEY["EC3"].grade({"code": 14.3}).parts["code"]
    assert (part.score, part.diagnoses) == (0, ("not_whole",))
    assert "`EC3_code` is 14.3, but the question asks for a whole number." in part.message


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_wrong_lever_is_answered_with_its_numbers_on_the_learner_s_scenario(learner: str) -> None:
    exercise = EXERCISES["L3.3"]
    letter = {o.name: c for c, o in exercise.lettered_options(exercise.part_by_name["lever"], learner).items()}
    n = exercise.numbers(learner)

    def told(lever: str) -> str:
        return graded(exercise, learner, {"lever": letter[lever]}).parts["lever"].message  # type: ignore[no-any-return]

    assert f"reads {1.5 * n['billions']:.3g} GB less a pass" in told("w4a16")
    assert f"{n['tokens']:,} tokens for each weight" in told("continuous_batching")
    assert f"{n['length']:,} tokens each" in told("paged_attention")


@pytest.mark.parametrize("learner", LEARNERS)
def test_each_wrong_lever_of_level_5_is_answered_with_its_own_numbers(learner: str) -> None:
    def told(name: str, part: str, option: str) -> str:
        exercise = EXERCISES[name]
        letter = {o.name: c for c, o in exercise.lettered_options(exercise.part_by_name[part], learner).items()}
        return graded(exercise, learner, {part: letter[option]}).parts[part].message  # type: ignore[no-any-return]

    n = EXERCISES["L5.1A"].numbers(learner)
    reservation_gb = n["max_len"] * n["slot_kb"] / 1e6
    for lever, bytes_saved in (("w4a16", 1.5), ("w8a8", 1)):
        saved = bytes_saved * n["billions"]
        assert f"save {saved:g} GB of a bucket that is not the full one" in told("L5.1A", "lever", lever)
        assert f"room for {math.floor(saved / reservation_gb)} more chats" in told("L5.1A", "lever", lever)
    beside = told("L5.1A", "lever", "continuous_batching")
    assert "helps beside the cure" in beside
    assert "memory that is reserved and empty" in beside
    assert f"Here {n['running']} chats" in beside
    assert f"{n['running'] * n['used']:,} tokens together" in told("L5.1A", "cause", "tokens")
    assert f"{n['weights_gb']:g} of {n['memory_gb']:g} GB" in told("L5.1A", "bucket", "weights")
    n = EXERCISES["L5.1B"].numbers(learner)
    assert f"set {1.5 * n['billions']:g} GB free" in told("L5.1B", "lever", "w4a16")
    assert f"{n['length']:,} tokens from the start" in told("L5.1B", "lever", "paged_attention")
    assert f"{n['prompts']} documents of {n['length']:,} tokens" in told("L5.1B", "lever", "continuous_batching")
    assert f"serves {n['tokens']:,} tokens" in told("L5.1B", "wall", "bandwidth")


def test_what_w4a16_saves_of_a_long_pass_is_a_small_share_on_every_draw() -> None:
    for learner in LEARNERS:
        exercise = EXERCISES["L5.1B"]
        letter = {o.name: c for c, o in exercise.lettered_options(exercise.part_by_name["lever"], learner).items()}
        told = graded(exercise, learner, {"lever": letter["w4a16"]}).parts["lever"].message
        (share,) = re.findall(r"takes ([\d.]+) % of the time", told)
        assert 0 < float(share) < 4


def test_half_the_size_is_told_that_keys_and_values_are_both_stored() -> None:
    assert "where the cache keeps both for every token" in KEY["L2.1"].grade(0.537).message


def test_a_forgotten_batch_is_told_where_the_batch_is_above_one() -> None:
    n = EXERCISES["L2.1"].numbers("learner-1")
    right = reference_answers(EXERCISES["L2.1"], "learner-1")["kv_gb"]
    assert KEY["L2.1"].grade(right / n["B"], "learner-1").diagnoses == ("batch_forgotten",)


def test_one_rounding_too_far_is_told_as_that() -> None:
    assert "keeps 2 of the three significant figures" in KEY["L2.1"].grade(1.1).message


def test_an_unknown_number_is_not_given_a_name() -> None:
    verdict = KEY["L2.1"].grade(77.7)
    assert verdict.diagnoses == ()
    assert verdict.message == "`77.7` is not right, and not close to any mistake I know."


def test_counts_are_exact() -> None:
    assert [KEY["L2.2"].grade(count).score for count in (36, 37, 37.0, "37 requests", 38)] == [0, 2, 2, 2, 0]


def test_both_orders_of_the_argument_earn_it_and_links_in_place_count() -> None:
    exercise = EXERCISES["WH1"]
    letter = {option.name: letter for letter, option in exercise.lettered_options(exercise.parts[0], "default").items()}

    def score(*names: str) -> float:
        return KEY["WH1"].grade([letter[name] for name in names]).score

    assert score("shared", "prefill", "decode", "walls") == score("shared", "decode", "prefill", "walls") == 3
    assert score("shared", "prefill", "decode") == 3 * 3 / 4
    assert score("shared", "prefill", "decode", "precision") == 3 * 2 / 4
    assert score("quadratic", "precision", "no_weights") == 0
    assert KEY["WH1"].grade("ABCDEFG").score < 1


CHAINS = [(id, part.name) for id, exercise in EXERCISES.items() for part in exercise.parts if part.kind == "chain"]


def chain_verdict(exercise_id: str, part: str, names: Iterable[str]) -> Any:
    exercise = EXERCISES[exercise_id]
    lettered = exercise.lettered_options(exercise.part_by_name[part], "default")
    letter = {option.name: letter for letter, option in lettered.items()}
    return KEY[exercise_id].grade({part: [letter[name] for name in names]}).parts[part]


@pytest.mark.parametrize(
    ("exercise_id", "part", "names"),
    [
        ("WH1", "argument", "shared prefill decode walls"),
        ("WH1", "argument", "shared decode prefill walls"),
        ("WH2", "argument", "waits_for_weights quarter cheap_to_expand shorter"),
        ("WH2", "argument", "quarter waits_for_weights cheap_to_expand shorter"),
        ("WH3", "argument", "inside outside wrapped clipped"),
        ("WH3", "argument", "outside wrapped clipped inside"),
        ("WH4", "argument", "few_gaps stretches small_ones own_scale"),
        ("WH4", "argument", "stretches few_gaps small_ones own_scale"),
        ("ST1", "argument", "reads_less wins_decode and_expands loses_prefill"),
        ("ST1", "argument", "reads_less and_expands wins_decode loses_prefill"),
        ("L3.3", "argument", "many_tokens bytes_do_not_matter expands int8_rate"),
        ("L3.3", "argument", "many_tokens bytes_do_not_matter int8_rate expands"),
        ("L3.3", "argument", "many_tokens expands bytes_do_not_matter int8_rate"),
        ("L5.1A", "argument", "weights_stay at_once never_used as_tokens_come"),
        ("L5.1A", "argument", "at_once never_used weights_stay as_tokens_come"),
        ("L5.1B", "argument", "many_tokens waits_for_arithmetic int8_rate halves batch_grows"),
        ("L5.1B", "argument", "halves batch_grows many_tokens waits_for_arithmetic int8_rate"),
    ],
)
def test_sound_orders_of_an_argument_earn_it(exercise_id: str, part: str, names: str) -> None:
    verdict = chain_verdict(exercise_id, part, names.split())
    assert (verdict.score, verdict.message) == (verdict.points, "Right.")


@pytest.mark.parametrize(("exercise_id", "part"), CHAINS)
def test_an_order_is_right_exactly_where_each_link_stands_after_those_that_it_follows(
    exercise_id: str, part: str
) -> None:
    key = KEY[exercise_id].parts[part]
    assert isinstance(key, ChainKey)
    for names in permutations(key.follows):
        sound = all(
            names.index(earlier) < names.index(link) for link, needed in key.follows.items() for earlier in needed
        )
        verdict = chain_verdict(exercise_id, part, names)
        assert (verdict.state == "right") == sound, names
        assert (verdict.diagnoses == ("out_of_order",)) == (not sound), names


@pytest.mark.parametrize(("exercise_id", "part"), CHAINS)
def test_a_part_of_an_argument_in_a_sound_order_is_only_incomplete(exercise_id: str, part: str) -> None:
    key = KEY[exercise_id].parts[part]
    assert isinstance(key, ChainKey)
    for names in key.orders:
        for left_out in names:
            verdict = chain_verdict(exercise_id, part, [name for name in names if name != left_out])
            assert verdict.diagnoses == ("incomplete",)
            assert verdict.score == pytest.approx(verdict.points * (len(names) - 1) / len(names))


@pytest.mark.parametrize(("exercise_id", "part"), CHAINS)
def test_who_names_every_link_earns_nothing_in_the_luckiest_order_and_is_told_why(exercise_id: str, part: str) -> None:
    key = KEY[exercise_id].parts[part]
    assert isinstance(key, ChainKey)
    for names in key.orders:
        for everything in ((*names, *key.traps), (*key.traps, *names)):
            verdict = chain_verdict(exercise_id, part, everything)
            assert (verdict.score, verdict.state, verdict.diagnoses) == (0, "wrong", ("every_link",))
            assert "You named every link; an argument leaves the wrong ones out." in verdict.message
        verdict = chain_verdict(exercise_id, part, [*names[1:], *key.traps])
        assert (verdict.score, verdict.state) == (0, "wrong")
        assert "You named every wrong link" in verdict.message


@pytest.mark.parametrize(("exercise_id", "part"), CHAINS)
def test_a_wrong_link_too_many_costs_one_link(exercise_id: str, part: str) -> None:
    key = KEY[exercise_id].parts[part]
    assert isinstance(key, ChainKey)
    names, one = key.orders[0], next(iter(key.traps))
    verdict = chain_verdict(exercise_id, part, [*names, one])
    assert verdict.score == pytest.approx(verdict.points * (len(names) - 1) / len(names))
    assert (verdict.state, verdict.diagnoses) == ("partly", (key.traps[one].name,))


@pytest.mark.parametrize(("exercise_id", "part"), CHAINS)
def test_letters_drawn_blindly_earn_little_however_many_they_are(exercise_id: str, part: str) -> None:
    names = [option.name for option in EXERCISES[exercise_id].part_by_name[part].options]
    rng, mean = random.Random(exercise_id), {}
    for many in range(1, len(names) + 1):
        earned = [chain_verdict(exercise_id, part, rng.sample(names, many)) for _ in range(100)]
        mean[many] = sum(one.score / one.points for one in earned) / len(earned)
    assert max(mean.values()) < 0.25, mean
    assert mean[len(names) - 1] <= mean[1], "nearly all of them are worth no more than one"


def test_links_that_follow_each_other_or_nothing_known_are_refused() -> None:
    with pytest.raises(ValueError, match="each link stands after those that it must follow"):
        ChainKey({"a": ("b",), "b": ()}, {}, "")
    with pytest.raises(ValueError, match="each link stands after those that it must follow"):
        ChainKey({"a": (), "b": ("c",)}, {}, "")


@every_exercise
def test_choosing_every_letter_is_worth_nothing(exercise: Exercise) -> None:
    for part in exercise.parts:
        if part.kind == "choice":
            assert graded(exercise, "default", {part.name: "ABCD"}).score == 0


@every_exercise
def test_no_message_for_a_wrong_answer_holds_the_right_one(exercise: Exercise) -> None:
    """Numbers that the statement gives, and the numbering of two mistakes, tell nothing."""
    for learner in learners_of(exercise):
        given_text = statement_markdown(exercise, learner)
        right = reference_inputs(exercise, learner)
        for wrong, part in graded_mistakes(exercise.id, learner):
            message = re.sub(r"`[^`]*`|\(\d\)|one of \d mistakes", "", part.message)
            key = KEY[exercise.id].parts[wrong.part]
            if isinstance(key, ValueKey):
                told = {form for form in number_forms(right[wrong.part]) if stands_in(form, message)}
                assert not {form for form in told if not stands_in(form, given_text)}, message
            elif isinstance(key, ChoiceKey):
                option = exercise.lettered_options(exercise.part_by_name[wrong.part], learner)[right[wrong.part]]
                assert option.text not in message
                assert exercise.part_by_name[wrong.part].letters or not re.search(
                    rf"(option|letter|answer) {right[wrong.part]}\b", message
                )


def test_that_scan_can_fail() -> None:
    assert stands_in("1.07", "the size is 1.07 GB")
    assert stands_in("37", "it is 37.")
    assert not stands_in("7", "7.4 % and 10^7 and INT7")


@every_exercise
def test_every_sentence_is_a_plain_sentence(exercise: Exercise) -> None:
    for key in KEY[exercise.id].parts.values():
        for mistake in (mistakes := mistakes_of(key)):
            assert mistake.sentence.endswith(".")
            assert not set("<>{}!") & set(mistake.sentence)
            assert html.escape(mistake.sentence, quote=False) == mistake.sentence
        unique = len({mistake.name for mistake in mistakes}) == len(mistakes)
        assert unique or isinstance(key, ChoiceKey | ChainKey)


plain = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.integers(-(10**320), 10**320)
)
json_data = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "number", "unit", "written", "letter", "letters", "fault"]), inner)
    ),
)
part_data = json_data | st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["value", "choice", "chain", "function", "object", "measurement", "fault", "", None]),
        "number": plain | st.sampled_from([1e299, 5e-324, -0.0, 10**305, 1e-310]),
        "unit": st.sampled_from(["GB", "GiB", "TB", "TiB", "bytes", "x", None, 3]) | json_data,
        "written": st.text() | plain,
        "letter": st.sampled_from(["A", "B", "T", "F", "AB", "", "z", 1]) | json_data,
        "letters": st.lists(st.sampled_from("ABCDEFGZ")) | json_data,
        "fault": st.sampled_from(["nan", "type", "no such fault", "unit"]) | json_data,
    }
)


@given(st.data())
def test_hostile_data_costs_its_part_and_never_raises(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from(sorted(KEY)), min_size=1, max_size=3, unique=True))
    collected = {
        name: data.draw(
            json_data
            | st.fixed_dictionaries(
                {"parts": json_data | st.fixed_dictionaries({part.name: part_data for part in EXERCISES[name].parts})}
            )
        )
        for name in ids
    }
    for name, verdict in grade(collected, data.draw(st.sampled_from(LEARNERS))).items():
        assert verdict.points == EXERCISES[name].points
        assert 0 <= verdict.score <= verdict.points
        assert not math.isnan(verdict.score)
        assert len(verdict.message) < 4000
        for part in verdict.parts.values():
            assert 0 <= part.score <= part.points
            assert part.message


@given(st.sampled_from(["L2.1", "L2.2", "L2.3", "EC8"]), st.floats() | st.integers(), st.sampled_from(LEARNERS))
def test_any_number_gets_a_verdict(exercise_id: str, number: float, learner: str) -> None:
    exercise = EXERCISES[exercise_id]
    verdict = KEY[exercise_id].grade({part.name: number for part in exercise.parts}, learner)
    assert 0 <= verdict.score <= verdict.points


SOUND: dict[str, dict[str, Any]] = {
    "L2.1": {"kind": "value", "number": 1.07, "unit": "GB", "written": "1.07 GB"},
    "SC1": {"kind": "choice", "letter": "B"},
    "WH1": {"kind": "chain", "letters": ["C", "G", "E", "A"]},
}
BENT_FIELDS: dict[tuple[str, str], list[Any]] = {
    ("L2.1", "number"): [math.nan, math.inf, 10**400, True, "1.07", None, [1.07], {"number": 1.07}, 1 + 0j],
    ("L2.1", "unit"): [[], {}, 7, True],
    ("L2.1", "written"): [None, 1.07, "1" * 10_000, ["1.07"]],
    ("L2.1", "kind"): ["choice", "chain", "fault", None, [], "right"],
    ("SC1", "letter"): ["AB", "", "b", "Z", 1, None, ["B"], {}],
    ("WH1", "letters"): ["CGEA", ["C", "C"], [["C"]], [{}], [3], None, {"C": 1}, ["CG"]],
}
BENT = [(*place, value) for place, values in BENT_FIELDS.items() for value in values]


@pytest.mark.parametrize(("exercise_id", "key", "value"), BENT, ids=[f"{b[0]}-{b[1]}-{b[2]!r:.20}" for b in BENT])
def test_data_that_no_collect_could_have_made_scores_nothing(exercise_id: str, key: str, value: Any) -> None:
    [part] = EXERCISES[exercise_id].parts
    sound = grade({exercise_id: {"parts": {part.name: SOUND[exercise_id]}}})[exercise_id]
    bent = grade({exercise_id: {"parts": {part.name: {**SOUND[exercise_id], key: value}}}})[exercise_id]
    assert sound.score == sound.points
    assert (bent.score, bent.parts[part.name].state) == (0, "unreadable")
    assert "could not be read" in bent.message


def test_an_id_without_a_key_is_refused() -> None:
    with pytest.raises(KeyError, match=r"there is no key for L9\.9"):
        grade({"L9.9": {}})


def _lengths() -> dict[str, tuple[int, list[int]]]:
    """Of each choice with options of its own, written as sentences, in each of its variants: how long the right one is,
    and how long the others."""
    found = {}
    for exercise in EXERCISES.values():
        for part in exercise.parts:
            key = KEY[exercise.id].parts[part.name]
            shared = sum(other.options == part.options for other in exercise.parts) > 1
            if isinstance(key, ChoiceKey) and part.letters is None and not shared:
                for learner, numbers in ways_to_ask(exercise):
                    options = exercise.lettered_options(part, learner).values()
                    length = {option.name: len(option.text) for option in options}
                    name = f"{exercise.id} {numbers.get('variant', '')}".strip()
                    found[name] = (length.pop(key.on(numbers).right), list(length.values()))
    return found


def _tell_by_length(lengths: dict[str, tuple[int, list[int]]]) -> list[str]:
    """What somebody who looks only at the lengths of options could go by."""
    longest = [name for name, (right, others) in lengths.items() if right >= max(others)]
    shortest = [name for name, (right, others) in lengths.items() if right <= min(others)]
    usual = {name: sum(others) / len(others) for name, (_, others) in lengths.items()}
    apart = [
        name for name, (right, _) in lengths.items() if usual[name] > 20 and not 3 / 4 < right / usual[name] < 4 / 3
    ]
    told = [f"{len(names)} right options are the {word}" for word, names in (("longest", longest), ("shortest", shortest))
            if 3 * len(names) > len(lengths)]  # fmt: skip
    return [*told, *(f"the right option of {name} stands out" for name in apart)]


def test_the_length_of_an_option_does_not_tell_that_it_is_right() -> None:
    lengths = _lengths()
    assert len(lengths) > 50
    assert _tell_by_length(lengths) == []


def test_right_options_that_are_the_longest_or_the_shortest_are_noticed() -> None:
    long = {name: (max(others) + 1, others) for name, (_, others) in _lengths().items()}
    short = {name: (min(others) - 1, others) for name, (_, others) in _lengths().items()}
    assert f"{len(long)} right options are the longest" in _tell_by_length(long)
    assert f"{len(short)} right options are the shortest" in _tell_by_length(short)
    assert _tell_by_length({"SE1": (90, [40, 50, 60]), "SE2": (50, [40, 50, 60]), "SE3": (50, [40, 50, 60])}) == [
        "the right option of SE1 stands out"
    ]


def test_a_key_that_forgets_an_option_is_refused() -> None:
    with pytest.raises(ValueError, match="each wrong option needs its own trap"):
        Key(EXERCISES["SC1"], {"answer": ChoiceKey("memory", {})})
    with pytest.raises(ValueError, match="the exercise has others"):
        Key(EXERCISES["SC1"], {})
    assert isinstance(KEY["WH1"].parts["argument"], ChainKey)


def test_a_time_halved_like_the_bits_is_told_where_the_peak_is_not_twice_as_high() -> None:
    names = [f"learner-{number}" for number in range(100)]
    draws = [(name, EXERCISES["L5.1B"].numbers(name)) for name in names]
    who = next(who for who, n in draws if n["int8_tops"] > 3 * n["fp16_tflops"])
    half = reference_inputs(EXERCISES["L5.1B"], who)["fp16_s"] / 2
    assert graded(EXERCISES["L5.1B"], who, {"int8_s": half}).parts["int8_s"].diagnoses == ("halved_like_the_bits",)
