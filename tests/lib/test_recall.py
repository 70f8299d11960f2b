"""Recall: earlier questions come back, those first that were not sure, and how it went is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from grader.answer_key.solutions import reference_inputs, wrong_inputs
from llmserving import another, check, recall, status
from llmserving.exercises import EXERCISES, learner, session
from llmserving.exercises.attempts import AFTER_TRIES, FIRST_TIME, Record
from llmserving.exercises.course import LEVELS
from llmserving.exercises.progress import PROGRESS_FILE, Progress
from llmserving.exercises.recalling import SHORT_MINUTES, choose, end_of_level
from llmserving.exercises.standing import closed_ids

pytestmark = pytest.mark.usefixtures("own_folder")

L1, L2, L3 = LEVELS[:3]


def asked(shown: object) -> list[str]:
    """The practice draws that the cards ask, as in "SC6#1"."""
    return re.findall(r'check\("([^"]+)"', repr(shown))


def answer(name: str, *, right: bool) -> str:
    """Answer a draw such as "SC6#1"; what the card says."""
    exercise = EXERCISES[name.split("#")[0]]
    drawn = f"default#{name.split('#')[1]}" if "#" in name else "default"
    given = reference_inputs(exercise, drawn)
    if not right:
        wrong = wrong_inputs(exercise, drawn)[0]
        given[wrong.part] = wrong.written
    return check(name, given).cards[0].text()


def solve(level: Any, *, but: str = "") -> None:
    for exercise in level.exercises:
        if exercise.id != but:
            answer(exercise.id, right=True)


def record(exercise_id: str) -> Record:
    return learner.PROGRESS.record(exercise_id)


def test_one_exercise_is_asked_as_a_fresh_draw_that_check_answers() -> None:
    told = repr(recall("SC6"))
    assert told.startswith("SC6#1 · recall from L2")
    assert 'Answer with check("SC6#1", ...). If you get it right at once, move on.' in told
    assert "Right at once: move on." in answer("SC6#1", right=True)
    assert (record("SC6").recalled, record("SC6").recalled_right) == (1, 1)
    assert (record("SC6").attempts, record("SC6").best, record("SC6").solved) == (0, 0, None), "like practice"


def test_a_recall_that_is_off_names_the_mistake_and_where_its_heading_stands() -> None:
    recall("SC6")
    told = answer("SC6#1", right=False)
    assert "Reread 'Bytes a weight'." in told
    assert "A recall, and not yet: that heading stands in L2/weights." in told
    assert (record("SC6").recalled, record("SC6").recalled_right) == (1, 0)


@pytest.mark.parametrize("exercise", [one for one in EXERCISES.values() if one.has_practice], ids=lambda one: one.id)
def test_every_exercise_can_be_recalled_and_a_mistake_leads_back_to_its_notebook(exercise: Any) -> None:
    [name] = asked(recall(exercise.id))
    told = answer(name, right=False)
    assert "Reread '" in told
    assert f"that heading stands in {exercise.notebook}." in told


def test_labs_are_never_recalled_nor_keep_a_level_from_its_end() -> None:
    assert "LAB2.1 is not asked again: code is tried on many inputs as it is" in repr(recall("LAB2.1"))
    assert record("LAB2.1") == Record()
    everything = {name: Record(1, one.points, FIRST_TIME, turn=9) for name, one in EXERCISES.items() if not one.lab}
    for level in LEVELS:
        assert not choose(level, {**everything, "LAB2.1": Record(3), "LAB3A.1": Record(3)}, "default").lab  # type: ignore[union-attr]
        done = set(everything) - {next(level.exercises).id}
        assert f"the last open exercise of {level.name}" in str(end_of_level(done, set(everything)))
    assert end_of_level(set(everything), {*everything, "LAB2.1"}) is None


def test_an_answer_near_no_known_mistake_is_sent_to_a_heading_too() -> None:
    [name] = asked(recall("EC8"))
    told = check(name, 987_654_321).cards[0].text()
    assert "not close to any mistake I know. Reread 'The six factors'." in told


def test_the_question_stays_the_same_until_it_is_answered() -> None:
    first = repr(recall("SC6"))
    assert repr(recall("SC6")) == first
    check("SC6#1", ...)
    check("SC6#1", "no letter")
    assert repr(recall("SC6")) == first, "what cannot be read is no answer"
    answer("SC6#1", right=False)
    assert asked(recall("SC6")) == ["SC6#2"]


def test_only_the_first_answer_to_what_was_asked_counts() -> None:
    recall("SC6")
    another("SC6")
    answer("SC6#2", right=True)
    check("SC6#01", "A")
    answer("SC6", right=False)
    assert record("SC6").recalled == 0, "another draw and the exercise itself are no recall"
    answer("SC6#1", right=False)
    assert "A recall" not in answer("SC6#1", right=True)
    assert (record("SC6").recalled, record("SC6").recalled_right) == (1, 0)


def test_the_draw_of_the_placement_is_never_taken_for_a_recall() -> None:
    answer("SC6#0", right=True)
    assert record("SC6").recalled == 0


def test_a_group_and_several_names_are_asked_together_each_once() -> None:
    assert asked(recall("L1.cache", "SE1", "SC6")) == ["TF3#1", "SE1#1", "SE2#1", "SC6#1"]


def test_a_level_asks_one_short_exercise_of_each_level_before_it() -> None:
    names = [name.split("#")[0] for name in asked(recall("L3"))]
    assert [EXERCISES[name].level for name in names] == ["L1", "L2"]
    assert all(EXERCISES[name].minutes <= SHORT_MINUTES for name in names)
    assert asked(recall("L3")) == [f"{name}#1" for name in names], "the same until answered"
    everything = " ".join(asked(recall(LEVELS[-1].name)))
    for level in LEVELS[:-1]:
        assert any(exercise.id + "#" in everything for exercise in level.exercises)


def test_the_first_level_has_nothing_before_it() -> None:
    assert repr(recall("L1")).startswith("L1 has no earlier level yet")
    assert repr(recall()) == repr(recall("L1")), "nothing was tried, so the level reached is the first"


def test_without_a_name_it_is_the_furthest_level_that_was_tried() -> None:
    answer("L3.1", right=False)
    answer("SC1", right=True)
    assert asked(recall()) == asked(recall("L3"))


def test_what_was_not_right_first_time_comes_first_and_then_what_is_longest_ago() -> None:
    ids = [exercise.id for exercise in L1.exercises if exercise.minutes <= SHORT_MINUTES]
    records = {name: Record(1, 1.0, FIRST_TIME, turn=turn) for turn, name in enumerate(ids, 1)}
    assert choose(L1, records, "default").id == ids[0]  # type: ignore[union-attr]
    records[ids[3]] = Record(2, 1.0, AFTER_TRIES, turn=99)
    assert choose(L1, records, "default").id == ids[3]  # type: ignore[union-attr]
    records[ids[2]] = Record(1, turn=98)
    assert choose(L1, records, "default").id == ids[2], "of two that were not sure, the longest ago"  # type: ignore[union-attr]
    del records[ids[2]]
    records[ids[3]].recalled = records[ids[3]].recalled_right = 2
    assert choose(L1, records, "default").id == ids[0], "sure again; and what is new is no recall yet"  # type: ignore[union-attr]


def test_recall_goes_round_a_level_and_comes_back_to_what_was_off() -> None:
    solve(L1)
    seen = []
    for _ in range(4):
        [name] = asked(recall("L2"))
        seen.append(name.split("#")[0])
        answer(name, right=True)
    assert len(set(seen)) == 4
    [name] = asked(recall("L2"))
    answer(name, right=False)
    assert asked(recall("L2")) == [name.replace("#1", "#2")]


def test_who_chooses_is_the_learner_s_seed_where_the_records_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {choose(L3, {}, f"learner-{number}").id for number in range(20)}  # type: ignore[union-attr]
    assert len(chosen) > 3
    assert choose(L3, {}, "ada") is choose(L3, {}, "ada")


def test_the_outcome_is_kept_and_told_in_a_word(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recall("SC6")
    answer("SC6#1", right=True)
    kept = json.loads((own_folder / PROGRESS_FILE).read_text())["exercises"]["SC6"]
    assert (kept["recalled"], kept["recalled_right"], kept["recall_draw"]) == (1, 1, 0)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    assert re.search(r"\n  L2 Application .* 1 of 1 right\n", repr(status()))
    assert asked(recall("SC6")) == ["SC6#2"]


def test_without_the_key_a_recall_has_no_verdict_and_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "answer_key", lambda: None)
    recall("SC6")
    told = check("SC6#1", "A").cards[0].text()
    assert "practice has no verdict" in told
    assert "A recall" not in told
    assert record("SC6").recalled == 0
    assert asked(recall("SC6")) == ["SC6#2"], "answered, so another one comes"


def test_the_last_open_exercise_of_a_level_is_told_once_with_the_call_to_make() -> None:
    solve(L2, but="SC6")
    assert "last open exercise" not in answer("SC6", right=False)
    told = answer("SC6", right=True)
    assert 'That was the last open exercise of L2. recall("L2") asks one question of each level before it.' in told
    assert "last open exercise" not in answer("SC6", right=True)
    assert "last open exercise" not in answer("SC6", right=False)


def test_the_end_of_the_first_level_leads_to_the_second() -> None:
    solve(L1, but="SC1")
    told = answer("SC1", right=True)
    assert "That was the last open exercise of L1. L2 begins in L2/kv_size." in told
    assert "recall(" not in told


def test_points_that_were_carried_on_close_a_level_too(answers: dict[str, Any]) -> None:
    solve(L2, but="L2.2")
    answers |= {"L2_1_kv_gb": 0.537, "L2_2_requests": 74}
    assert "That was the last open exercise of L2." in check("L2.2").cards[0].text()


def test_grading_is_not_told_of_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    solve(L2, but="SC6")
    assert "last open exercise" not in answer("SC6", right=True)


def test_what_is_closed_is_looked_up_once_and_only_where_records_are_kept(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[int] = []

    def counted(records: Mapping[str, Record]) -> set[str]:
        looked_up.append(len(records))
        return closed_ids(records)

    monkeypatch.setattr(learner, "closed_ids", counted)
    answer("SC6", right=False)
    assert looked_up == [], "a wrong answer closes nothing"
    answer("SC6", right=True)
    assert len(looked_up) == 1
    (own_folder / PROGRESS_FILE).unlink()
    own_folder.rmdir()
    answer("SC6", right=True)
    assert len(looked_up) == 1


def test_what_goes_on_from_another_exercise_is_no_recall() -> None:
    for name in ("zoe", "ada", "bob", "default"):
        for level in LEVELS:
            assert not choose(level, {}, name).builds_on  # type: ignore[union-attr]


def test_practice_of_what_goes_on_from_another_says_what_that_one_says() -> None:
    told = repr(another("L4.3"))
    numbers = EXERCISES["L4.1"].numbers("default#1")
    assert "What L4.1 says: A GPU of" in told
    assert f"{numbers['billions']} billion parameters" in told
    assert "What L4.2 says:" in told
