"""Variants of a question: the course's own comes first, practice moves on, and every way to ask renders whole."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from llmserving.exercises import EXERCISES, Exercise
from llmserving.exercises.bank_kinds import in_variants
from llmserving.exercises.draws import variant
from llmserving.exercises.statement import fill, question_blocks

from tests.variants import ways_to_ask

VARIED = [exercise for exercise in EXERCISES.values() if exercise.draw.variants]
CLAIMS = [exercise for exercise in VARIED if exercise.id.startswith("TF")]
every_varied = pytest.mark.parametrize("exercise", VARIED, ids=lambda exercise: exercise.id)


def asked(exercise: Exercise, learner: str) -> str:
    return "\n".join(question_blocks(exercise, learner))


def test_every_claim_error_and_card_of_the_bank_has_variants() -> None:
    """SC3 is a number and draws its bits; so do the edge cases that ask for a number."""
    due = {name for name in EXERCISES if re.match("TF|SE|SC", name)} - {"SC3"} | {"EC5", "EC6", "EC7"}
    assert due <= {exercise.id for exercise in VARIED}
    assert all("negated" in {way["variant"] for _, way in ways_to_ask(claim)} for claim in CLAIMS)


@every_varied
def test_the_default_learner_is_asked_the_course_s_own_question(exercise: Exercise) -> None:
    assert exercise.numbers("default")["variant"] == "course"
    assert exercise.numbers("default") is exercise.draw.course


@every_varied
@pytest.mark.parametrize("learner", ["default", "ada", "grace", "student-17"])
def test_no_two_draws_in_a_row_ask_the_same(exercise: Exercise, learner: str) -> None:
    drawn = [exercise.numbers(learner), *(exercise.numbers(f"{learner}#{number}") for number in range(1, 12))]
    assert all(one["variant"] != other["variant"] for one, other in pairwise(drawn))
    ways = len(exercise.draw.variants) + 1
    assert len({str(numbers) for numbers in drawn[:ways]}) == ways, "each way comes before one comes again"


def test_an_id_that_only_looks_like_practice_gets_its_own_question() -> None:
    exercise = EXERCISES["TF1"]
    assert exercise.numbers("ada#") == exercise.numbers("ada#three") == exercise.numbers("ada")


@every_varied
def test_learners_of_a_class_meet_different_variants(exercise: Exercise) -> None:
    met = {exercise.numbers(f"learner-{number}")["variant"] for number in range(40)}
    assert met == {numbers["variant"] for _, numbers in ways_to_ask(exercise)}


@every_varied
def test_each_variant_asks_something_else_and_is_filled_in_whole(exercise: Exercise) -> None:
    ways = ways_to_ask(exercise)
    assert len({numbers["variant"] for _, numbers in ways}) == len(ways)
    assert len({numbers["text"] for _, numbers in ways}) == len(ways)
    for learner, numbers in ways:
        shown = asked(exercise, learner)
        assert numbers["text"] in shown
        hints = [fill(hint, exercise, learner) for part in exercise.parts for hint in part.all_hints]
        assert not re.search(r"[{}]", "\n".join([shown, *hints]))
        for part in exercise.parts:
            texts = [option.text for option in exercise.lettered_options(part, learner).values()]
            assert len(set(texts)) == len(texts), "two options read the same"


def test_the_words_of_a_variant_stand_in_the_options_too() -> None:
    assert "31 slots, in its last block only" in asked(EXERCISES["SC2"], "default#1")
    assert "`block_size` - 1, in its last block only" in asked(EXERCISES["SC2"], "default")


def test_a_variant_that_brings_no_word_of_its_own_takes_the_course_s() -> None:
    draw = in_variants("X1", "One?", {"bits": 4}, (variant("other", "Another?"), variant("wider", "One?", bits=8)))
    assert [draw.numbers(f"default#{number}")["bits"] for number in range(4)] == [4, 4, 8, 4]
