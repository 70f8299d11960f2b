"""solution and own_words from the learner's chair: closed before an honest attempt, and in a class until it is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grader.selftest.as_run import run_cell
from llmserving import another, check, hint, own_words, solution
from llmserving.exercises import EXERCISES, learner, session
from llmserving.exercises.checklist import Checklists
from llmserving.exercises.opening import solutions_file
from llmserving.exercises.progress import PROGRESS_FILE, Progress
from llmserving.exercises.worked import Worked

STEPS = "2 × 1 × 2,048 × 32 × 4,096 × 2 bytes"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a learner works, with no key's say yet: no folder made by `grader learn`."""
    (tmp_path / session.RECORDS_FOLDER).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.LEARNER_VARIABLE, raising=False)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    return tmp_path


@pytest.fixture
def alone(folder: Path) -> Path:
    """A folder as `make lab` prepares it, for self-study."""
    (folder / session.RECORDS_FOLDER / session.LEARNER_FILE).write_text('{"learner": "default"}')
    return folder


def hand_out(folder: Path, **exercises: Any) -> None:
    rows = {"level": "L2", "learner": "ada", "exercises": exercises}
    (folder / solutions_file("L2")).write_text(json.dumps(rows), encoding="utf-8")


FROM_THE_INSTRUCTOR = Worked({"kv_gb": "the steps that the instructor has opened"}).as_json()


def test_it_opens_when_the_exercise_is_solved(alone: Path) -> None:
    check("L2.1", 1.07)
    told = repr(solution("L2.1"))
    assert told.startswith("L2.1 · worked solution\n")
    assert f"{STEPS} = 1,073,741,824 bytes = 1.074 GB" in told
    assert "To reread: 'The six factors' in L2/kv_size." in told


def test_it_opens_after_two_tries_with_different_answers(alone: Path) -> None:
    assert "opens when it is solved, or after two checks of different answers" in repr(solution("L2.1"))
    check("L2.1", 0.537)
    assert "one more try: L2.1 opens after a check of another answer" in repr(solution("L2.1"))
    check("L2.1", 0.5)
    assert STEPS in repr(solution("L2.1"))


def test_code_is_shown_after_two_tries_that_were_written_differently(alone: Path) -> None:
    name = "kv_bytes_per_token"
    head = f"def {name}(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):"
    first, second = (run_cell(f"{head}\n    return {wrong}")[name] for wrong in ("layers", "bits"))
    check("LAB2.1", first)
    check("LAB2.1", first)
    assert "one more try: LAB2.1 opens after a check of another answer" in repr(solution("LAB2.1"))
    check("LAB2.1", second)
    assert "      return layers * elements * bits // 8" in repr(solution("LAB2.1"))


def test_the_verdict_says_when_it_has_opened(alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invitation = 'The worked solution is open: solution("L2.1").'
    check("L2.1", 0.537)
    assert invitation not in capsys.readouterr().out
    check("L2.1", 0.5)
    assert invitation in capsys.readouterr().out
    check("L2.1", 1.07)
    assert invitation not in capsys.readouterr().out


def test_in_a_class_the_verdict_says_so_only_once_the_file_is_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for answer in (1, 2, 3):
        check("L2.1", answer)
    assert "solution(" not in capsys.readouterr().out
    hand_out(folder, **{"L2.1": FROM_THE_INSTRUCTOR})
    check("L2.1", 4)
    assert 'solution("L2.1")' in capsys.readouterr().out


@pytest.mark.parametrize("again", [0.537, "0.537", "0.537 GB"])
def test_the_same_answer_twice_is_one_try(alone: Path, again: Any) -> None:
    check("L2.1", 0.537)
    check("L2.1", again)
    assert "one more try" in repr(solution("L2.1"))


def test_hints_and_answers_that_cannot_be_read_open_nothing(alone: Path) -> None:
    for _ in range(4):
        hint("L2.1")
    for written in (..., "about a gigabyte", None):
        check("L2.1", written)
    assert STEPS not in repr(solution("L2.1"))
    assert "two checks" in repr(solution("L2.1"))


def test_a_try_answers_every_part(alone: Path) -> None:
    check("L2.3", {"fp16_gb": 1})
    check("L2.3", {"fp16_gb": 2})
    missing = "; in the last check there was no answer that can be read for L2_3_int8_gb, L2_3_int4_gb, L2_3_shrink."
    assert f"with every part answered{missing}" in repr(solution("L2.3"))
    check("L2.3", 1, 2, 3, 4)
    check("L2.3", 1, 2, 3, 5)
    assert "13,000,000,000 weights" in repr(solution("L2.3"))


def test_a_part_that_is_never_read_is_named_until_it_is(alone: Path) -> None:
    parts = EXERCISES["L2.3"].parts
    for size in range(1, 5):
        check("L2.3", size, 2, "T", 4)
    assert [part.variable for part in parts if part.variable in repr(solution("L2.3"))] == ["L2_3_int4_gb"]
    check("L2.3", 1, 2, 3, 4)
    said = repr(solution("L2.3"))
    assert said.endswith("one more try: L2.3 opens after a check of another answer, with every part answered.")
    check("L2.3", "a", "b", "c", "d")
    assert repr(solution("L2.3")) == said, "where nothing could be read, the check has named each"


def test_full_points_that_were_carried_on_open_it(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "namespace", lambda: {"L2_1_kv_gb": 0.537, "L2_2_requests": 74})
    assert check("L2.2") == 2.0
    assert "40 GB / 1.074 GB = 37.25" in repr(solution("L2.2"))


def test_practice_opens_nothing_and_has_no_solution_of_its_own(alone: Path) -> None:
    another("L2.1")
    check("L2.1#1", 1)
    check("L2.1#1", 2)
    assert "two checks" in repr(solution("L2.1"))
    assert "the steps are those of solution('L2.1')" in repr(solution("L2.1#1"))


def test_of_a_group_each_exercise_opens_by_itself(alone: Path) -> None:
    check("SE1", "A")
    check("SE1", "B")
    told = repr(solution("L1.cache"))
    assert "SE1 · worked solution\n" in told
    assert "SE2 · worked solution · closed" in told


def test_the_numbers_and_letters_are_the_learner_s(alone: Path) -> None:
    (alone / session.RECORDS_FOLDER / session.LEARNER_FILE).write_text('{"learner": "ada"}')
    check("L2.1", 1)
    check("L2.1", 2)
    told = repr(solution("L2.1"))
    answer = told.split(" = ")[-1].split("\n")[0]
    assert check("L2.1", answer) == 2.0
    assert STEPS not in told


def test_tries_survive_the_kernel_and_old_records_without_them_load(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = alone / session.RECORDS_FOLDER / PROGRESS_FILE
    path.write_text('{"exercises": {"L2.1": {"attempts": 3, "best": 0.0, "solved": null}}}')
    check("L2.1", 1)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    check("L2.1", 2)
    assert STEPS in repr(solution("L2.1"))
    assert "could not be read" not in repr(learner.status())


@pytest.mark.parametrize("calls", [solution, own_words])
def test_a_call_that_makes_no_sense_gets_a_sentence(alone: Path, calls: Any) -> None:
    assert "there is no exercise 'L9.9'" in repr(calls("L9.9"))
    assert f"{calls.__name__} needs a name in its brackets; write {calls.__name__}(" in repr(calls())


def test_a_class_stays_closed_though_the_key_is_installed(folder: Path) -> None:
    check("L2.1", 1.07)
    told = repr(solution("L2.1"))
    assert (
        "closed here. In a class it opens when solutions_L2.json from your instructor lies beside this notebook" in told
    )
    assert STEPS not in told


def test_while_grading_it_stays_closed_also_in_a_self_study_folder(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    check("L2.1", 1.07)
    assert STEPS not in repr(solution("L2.1"))


def test_in_a_class_without_the_key_the_instructor_s_file_opens_it_after_two_recorded_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "answer_key", lambda: None)
    hand_out(folder, **{"L2.1": FROM_THE_INSTRUCTOR})
    check("L2.1", 1.07)
    assert "one more try" in repr(solution("L2.1"))
    check("L2.1", 1.08)
    assert "the steps that the instructor has opened" in repr(solution("L2.1"))
    assert "In the numbers and letters of ada." in repr(solution("L2.1")), "whose file this is"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"exercises": {}}',
        '{"exercises": {"L2.1": 3}}',
        '{"exercises": {"L2.1": {"steps": [1]}}}',
    ],
)
def test_a_file_of_solutions_that_cannot_be_read_is_a_sentence(folder: Path, text: str) -> None:
    (folder / solutions_file("L2")).write_text(text)
    check("L2.1", 1.07)
    assert "solutions_L2.json beside this notebook holds no solution of L2.1 that can be read" in repr(solution("L2.1"))


def test_a_key_that_is_missing_or_broken_is_a_sentence(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("L2.1", 1.07)
    monkeypatch.setattr(session, "answer_key", lambda: None)
    assert "written by the answer key, and none is installed here" in repr(solution("L2.1"))

    def broken() -> None:
        raise ImportError("half of it")

    monkeypatch.setattr(session, "answer_key", broken)
    assert "cannot be loaded (ImportError: half of it)" in repr(solution("L2.1"))


def test_a_part_that_the_file_does_not_know_is_left_out(folder: Path) -> None:
    hand_out(folder, **{"L2.3": Worked({"fp16_gb": "its steps", "gone": "x"}).as_json()})
    check("L2.3", 1, 2, 3, 4)
    check("L2.3", 1, 2, 3, 5)
    assert (
        repr(solution("L2.3"))
        == "L2.3 · worked solution\n  In the numbers and letters of ada.\n  L2_3_fp16_gb its steps"
    )


def tried(*names: str) -> None:
    for name in names:
        check(name, "AB")
        check(name, "BA")


def test_the_checklist_of_reasons_opens_after_an_attempt_at_the_argument(alone: Path) -> None:
    assert "WH1 · in your own words · closed" in repr(own_words("WH1"))
    tried("WH1")
    shown = own_words("WH1")
    assert isinstance(shown, Checklists)
    assert "[ ] a pass reads every weight once" in repr(shown)
    assert "[ ] a pass reads every weight once" in shown._repr_mimebundle_()["text/html"]


def test_what_is_ticked_is_kept_and_counted_in_words(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried("WH1")
    shown = own_words("WH1")
    first, _, last = shown.boxes["WH1"]
    last.value = first.value = True
    assert any("2 of 3 ticked" in str(child.value) for child in shown.children)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    again = own_words("WH1")
    assert [box.value for box in again.boxes["WH1"]] == [True, False, True]
    assert repr(again).count("[x]") == 2
    again.boxes["WH1"][0].value = False
    assert repr(again).count("[x]") == 1
    assert learner.PROGRESS.record("WH1").ticked == [2]


def test_a_group_shows_every_argument_in_it_and_which_is_closed(alone: Path) -> None:
    tried("WH2")
    shown = own_words("L3.why")
    assert "WH2 · in your own words\n" in repr(shown)
    assert "ST1 · in your own words · closed" in repr(shown)
    tried("ST1")
    assert list(own_words("L3.why").boxes) == ["WH2", "ST1"]


def test_boxes_have_labels_and_the_count_is_announced(alone: Path) -> None:
    tried("WH1")
    shown = own_words("WH1")
    assert all(len(box.description) > 10 for box in shown.boxes["WH1"])
    assert any('role="status" aria-live="polite"' in str(child.value) for child in shown.children)


def test_where_widgets_are_not_installed_the_list_is_a_card(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    tried("WH1")
    monkeypatch.setitem(sys.modules, "llmserving.exercises.checklist", None)
    assert "[ ] in decode it serves one token a request" in repr(own_words("WH1"))


def test_an_exercise_without_an_argument_asks_for_no_own_words(alone: Path) -> None:
    assert "L2.1 asks for no reason in your own words" in repr(own_words("L2.1"))


def test_in_a_class_the_reasons_come_with_the_instructor_s_file(folder: Path) -> None:
    tried("WH1")
    assert "closed" in repr(own_words("WH1"))
    rows = {"exercises": {"WH1": Worked({}, reasons=("one reason", "another")).as_json()}}
    (folder / solutions_file("L1")).write_text(json.dumps(rows))
    assert "[ ] one reason" in repr(own_words("WH1"))
