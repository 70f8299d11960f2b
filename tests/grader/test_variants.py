"""The key of a question in variants: what is right moves with the claim, and so does what each wrong option is told."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from grader.answer_key import KEY
from grader.answer_key.bank_kinds import SAME, claim
from grader.answer_key.key import ChoiceKey, Key
from grader.answer_key.solutions import reference_inputs, wrong_inputs
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import EXERCISES, Exercise

from tests.variants import ways_to_ask

VARIED = [exercise for exercise in EXERCISES.values() if exercise.draw.variants]
CLAIMS = [exercise for exercise in VARIED if exercise.id.startswith("TF")]
WAYS = [(exercise, learner, numbers["variant"]) for exercise in VARIED for learner, numbers in ways_to_ask(exercise)]
every_claim = pytest.mark.parametrize("exercise", CLAIMS, ids=lambda exercise: exercise.id)
every_way = pytest.mark.parametrize(
    ("exercise", "learner"), [way[:2] for way in WAYS], ids=[f"{way[0].id}-{way[2]}" for way in WAYS]
)


def on(exercise: Exercise, part: str, learner: str) -> ChoiceKey:
    key = KEY[exercise.id].parts[part]
    assert isinstance(key, ChoiceKey)
    return key.on(exercise.numbers(learner))


def learner_asked(exercise: Exercise, variant: str) -> str:
    return next(learner for learner, numbers in ways_to_ask(exercise) if numbers["variant"] == variant)


@every_way
def test_right_earns_all_and_each_wrong_option_is_told_its_own_mistake(exercise: Exercise, learner: str) -> None:
    right = reference_inputs(exercise, learner)
    verdict = KEY[exercise.id].grade(right, learner)
    assert (verdict.score, verdict.diagnoses) == (exercise.points, ())
    wrong = wrong_inputs(exercise, learner)
    assert len(wrong) == sum(len(part.options) - 1 for part in exercise.parts), "every other option is a mistake"
    for one in wrong:
        part = KEY[exercise.id].grade({**right, one.part: one.written}, learner).parts[one.part]
        assert (part.score, part.diagnoses, part.message) == (0, (one.name,), one.sentence)
    for name in exercise.part_by_name:
        told = [trap.sentence for trap in on(exercise, name, learner).traps.values()]
        assert len(set(told)) == len(told), "two options are told the same"


@every_claim
def test_a_verdict_that_is_right_on_the_negated_claim_is_wrong_on_the_course_s(exercise: Exercise) -> None:
    negated = reference_inputs(exercise, learner_asked(exercise, "negated"))["verdict"]
    there = KEY[exercise.id].grade({"verdict": negated}, learner_asked(exercise, "negated")).parts["verdict"]
    here = KEY[exercise.id].grade({"verdict": negated}).parts["verdict"]
    assert (there.score, here.score) == (1, 0)
    assert here.diagnoses == (("claim_believed",) if negated == "T" else ("claim_refused",))


@every_claim
def test_practice_shows_two_claims_within_four_draws_and_grades_each(exercise: Exercise) -> None:
    draws = [f"ada#{number}" for number in range(1, 5)]
    assert len({exercise.numbers(draw)["text"] for draw in draws}) >= 2
    for draw in draws:
        assert KEY[exercise.id].grade(reference_inputs(exercise, draw), draw).score == exercise.points


def test_the_truth_of_the_claims_is_not_always_the_same() -> None:
    """Somebody who always writes "F" is right on the course's own claims but for one; in practice that does not pay."""
    verdicts = [reference_inputs(exercise, learner)["verdict"] for exercise, learner, _ in WAYS if exercise in CLAIMS]
    assert 1 / 3 < verdicts.count("T") / len(verdicts) < 2 / 3


@pytest.mark.parametrize(
    ("exercise_id", "variant", "part", "right"),
    [
        ("TF3", "four_times", "verdict", "true"),
        ("TF3", "nine_times", "verdict", "false"),
        ("TF8", "negated", "verdict", "false"),
        ("TF2", "w8a16", "reason", "waits_for_arithmetic"),
        ("SC1", "prefill", "answer", "arithmetic"),
        ("SC5", "decode", "answer", "int4_weights"),
        ("EC5", "busy", "outcome", "much_more"),
        ("EC6", "full", "outcome", "two_slots"),
        ("EC7", "maximum", "outcome", "same_as_contiguous"),
    ],
)
def test_what_is_right_in_a_variant(exercise_id: str, variant: str, part: str, right: str) -> None:
    exercise = EXERCISES[exercise_id]
    assert on(exercise, part, learner_asked(exercise, variant)).right == right


@given(st.sampled_from(VARIED), st.from_regex(r"[a-z0-9]{1,8}(#[0-9]{1,4})?", fullmatch=True), st.data())
def test_whoever_asks_and_whatever_the_draw_one_option_is_right(exercise: Exercise, who: str, data: Any) -> None:
    for part in exercise.parts:
        letter = data.draw(st.sampled_from(part.all_letters))
        chosen = exercise.lettered_options(part, who)[letter].name
        verdict = KEY[exercise.id].grade({part.name: letter}, who).parts[part.name]
        assert (verdict.state == "right") == (chosen == on(exercise, part.name, who).right)
        assert len(verdict.diagnoses) == (verdict.state != "right")


@every_way
def test_a_sentence_names_no_number_format_that_the_variant_does_not(exercise: Exercise, learner: str) -> None:
    """W4A16 in an answer about W8A16 would be the sentence of another variant."""
    recipe = re.compile(r"\bW\d+A\d+\b")
    for name, part in exercise.part_by_name.items():
        shown = [option.text for option in exercise.lettered_options(part, learner).values()]
        asked = set(recipe.findall(" ".join([exercise.numbers(learner)["text"], *shown])))
        for trap in on(exercise, name, learner).traps.values():
            assert set(recipe.findall(trap.sentence)) <= asked


def test_a_key_that_forgets_a_variant_or_names_one_that_is_not_there_is_refused() -> None:
    traps = {
        option.name: ("a_mistake", "A sentence.")
        for option in EXERCISES["TF1"].parts[1].options
        if option.name != "layout"
    }
    for variants in (None, {"negated": SAME}, {"negated": SAME, "a_sixteenth": SAME, "other": SAME}):
        with pytest.raises(ValueError, match="the key of TF1 has to say of each variant what it changes"):
            claim(EXERCISES["TF1"], "layout", "A sentence.", traps, "A heading", variants=variants)
    answer = KEY["SC1"].parts["answer"]
    assert isinstance(answer, ChoiceKey)
    with pytest.raises(ValueError, match="SC1.answer: the exercise has no variant training"):
        Key(EXERCISES["SC1"], {"answer": dataclasses.replace(answer, variants={"training": answer})})
    with pytest.raises(ValueError, match="SC1.answer: each wrong option needs its own trap"):
        Key(EXERCISES["SC1"], {"answer": dataclasses.replace(answer, variants={"prefill": ChoiceKey("memory", {})})})
