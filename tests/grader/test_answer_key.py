"""The key: right is right however it is written, every named mistake is named, and no message tells the answer."""

from __future__ import annotations

import html
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from grader.answer_key import KEY, Key, grade, reference_answers
from grader.answer_key.key import ChainKey, ChoiceKey, ValueKey
from grader.answer_key.solutions import number_forms, other_inputs, reference_inputs, stands_in, wrong_inputs
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import EXERCISES, Exercise, collect
from llmserving.exercises.statement import statement_markdown

LEARNERS = ["default", *(f"learner-{number}" for number in range(20))]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


def graded(exercise: Exercise, learner: str, parts: dict[str, Any]) -> Any:
    return KEY[exercise.id].grade(parts, learner)


@every_exercise
def test_the_right_answer_earns_every_point_in_two_forms(exercise: Exercise) -> None:
    for learner in LEARNERS:
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
        assert "answer cell" in verdict.message


@every_exercise
def test_each_named_mistake_fails_with_its_own_name_and_sentence(exercise: Exercise) -> None:
    for learner in LEARNERS:
        right = reference_inputs(exercise, learner)
        for wrong in wrong_inputs(exercise, learner):
            part = graded(exercise, learner, {**right, wrong.part: wrong.written}).parts[wrong.part]
            assert wrong.name in part.diagnoses, (learner, wrong)
            assert wrong.sentence in part.message
            assert part.reread
            if exercise.part_by_name[wrong.part].kind == "chain":
                assert part.score < part.points
            else:
                assert (part.score, part.state) == (0, "wrong")


@every_exercise
def test_each_named_mistake_can_be_told_on_some_draw(exercise: Exercise) -> None:
    """A mistake that gives the right number everywhere would be no mistake."""
    seen = {(wrong.part, wrong.name) for learner in LEARNERS for wrong in wrong_inputs(exercise, learner)}
    for name, key in KEY[exercise.id].parts.items():
        mistakes = key.misconceptions if isinstance(key, ValueKey) else key.traps.values()
        assert {(name, mistake.name) for mistake in mistakes} <= seen


@every_exercise
def test_each_named_mistake_stands_alone_on_some_draw(exercise: Exercise) -> None:
    """Two that always give the same number are one diagnosis; two that always came together would have to be merged."""
    alone = set()
    for learner in LEARNERS:
        right = reference_inputs(exercise, learner)
        for wrong in wrong_inputs(exercise, learner):
            part = graded(exercise, learner, {**right, wrong.part: wrong.written}).parts[wrong.part]
            if part.diagnoses == (wrong.name,):
                alone.add((wrong.part, wrong.name))
    for name, key in KEY[exercise.id].parts.items():
        if isinstance(key, ValueKey):
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
        ("SC3", 16, "ratio_of_levels"),
        ("EC1", 15, "worst_case_for_this"),
        ("EC2", 0, "tie_costs_nothing"),
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


def test_a_share_rounded_too_far_is_told_how_far_is_asked() -> None:
    assert "asked for to within 0.002" in KEY["L3.1"].grade({"blocks_share": 0.06}).message


def test_a_time_may_carry_its_unit() -> None:
    assert KEY["L3.3"].grade({"read_ms": "12.75 ms"}).parts["read_ms"].state == "right"
    assert "carries the unit 's'" in KEY["L3.3"].grade({"read_ms": "0.01275 s"}).message


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


@every_exercise
def test_choosing_every_letter_is_worth_nothing(exercise: Exercise) -> None:
    for part in exercise.parts:
        if part.kind == "choice":
            assert graded(exercise, "default", {part.name: "ABCD"}).score == 0


@every_exercise
def test_no_message_for_a_wrong_answer_holds_the_right_one(exercise: Exercise) -> None:
    """Numbers that the statement gives, and the numbering of two mistakes, tell nothing."""
    for learner in LEARNERS:
        given_text = statement_markdown(exercise, learner)
        right = reference_inputs(exercise, learner)
        for wrong in wrong_inputs(exercise, learner):
            part = graded(exercise, learner, {**right, wrong.part: wrong.written}).parts[wrong.part]
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
        mistakes = key.misconceptions if isinstance(key, ValueKey) else tuple(key.traps.values())
        for mistake in mistakes:
            assert mistake.sentence.endswith(".")
            assert not set("<>{}!") & set(mistake.sentence)
            assert html.escape(mistake.sentence, quote=False) == mistake.sentence
        assert len({mistake.name for mistake in mistakes}) == len(mistakes) or not isinstance(key, ValueKey)


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
        "kind": st.sampled_from(["value", "choice", "chain", "fault", "", None]),
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


def test_a_key_that_forgets_an_option_is_refused() -> None:
    with pytest.raises(ValueError, match="each wrong option needs its own trap"):
        Key(EXERCISES["SC1"], {"answer": ChoiceKey("memory", {})})
    with pytest.raises(ValueError, match="the exercise has others"):
        Key(EXERCISES["SC1"], {})
    assert isinstance(KEY["WH1"].parts["argument"], ChainKey)
