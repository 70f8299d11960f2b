"""check, hint, another and status from the learner's chair: a plain score, a card, and never a traceback."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import llmserving
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from llmserving import another, check, hint, own_words, placement, recall, solution, status
from llmserving.exercises import EXERCISES, GROUPS, collect, learner, session
from llmserving.exercises.attempts import Record
from llmserving.exercises.card import VERDICT_MIME
from llmserving.exercises.catalogue import id_meant
from llmserving.exercises.missing_names import CALLS
from llmserving.exercises.progress import Progress
from traitlets.config import Config


@pytest.fixture(autouse=True)
def _fresh_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".llmserving").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.LEARNER_VARIABLE, raising=False)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(learner, "PROGRESS", Progress())


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the learner's cells have set."""
    names: dict[str, Any] = {}
    monkeypatch.setattr(session, "namespace", lambda: names)
    return names


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "answer_key", lambda: None)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A real IPython, in this process; it takes over __main__ and the display hook, so both are put back."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    InteractiveShell.clear_instance()
    config = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"ipython_dir": str(tmp_path / "ipython")}}
    )
    yield InteractiveShell.instance(config=config)
    InteractiveShell.clear_instance()


def _row_of(level: str) -> list[str]:
    """What status says of a level, behind its name and title: first time, later, carried on, open, points."""
    line = next(line for line in repr(status()).splitlines() if line.startswith(f"  {level} "))
    return line.split()[2:]


def _option(exercise_id: str, letter: str) -> str:
    exercise = EXERCISES[exercise_id]
    return exercise.lettered_options(exercise.parts[-1], "default")[letter].name


def test_a_score_is_a_plain_float_and_the_card_is_printed(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers["L2_1_kv_gb"] = 1.07
    score = check("L2.1")
    assert isinstance(score, float)
    assert (score, repr(score)) == (2.0, "2.0")
    shown = capsys.readouterr()
    assert shown.out == "✓ L2.1 · right · 2 of 2 points\n"
    assert shown.err == ""


def test_a_wrong_answer_is_told_which_mistake_it_looks_like(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers["L2_1_kv_gb"] = 0.537
    assert check("L2.1") == 0.0
    told = capsys.readouterr().out
    assert "✗ L2.1 · not yet · 0 of 2 points" in told
    assert "Either it counts keys or values alone, where the cache keeps both" in told
    assert "Reread 'The six factors'." in told


def test_an_answer_may_be_given_in_the_call() -> None:
    assert check("L2.1", 1.07) == 2.0
    assert check("L2.3", 26, 13, 6.5, 4) == 4.0
    assert check("L2.3", [26, 13, 6.5, 2]) == 3.0
    assert check("L2.3", {"fp16_gb": "26 GB"}) == 1.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: check("L9.9"), "there is no exercise 'L9.9'; did you mean"),
        (lambda: check("l2.9"), "there is no exercise 'l2.9'; did you mean L"),
        (lambda: check(" "), "there is no exercise ' '; ids are such as L2.1"),
        (lambda: check(2.1), "an exercise is named by text such as 'L2.1', but got 2.1"),
        (lambda: check(["L2.1"]), "named by text such as 'L2.1'"),
        (lambda: check("L2.3", 26, 13), "L2.3 has 4 parts (fp16_gb, int8_gb, int4_gb, shrink), but got 2 answers"),
        (lambda: check("L2.3", [26]), "shrink), but got 1 answer"),
        (lambda: check("L2.3", []), "shrink), but got no answers"),
        (
            lambda: check("L2"),
            "L2 is a level; name one of its exercises, such as L2.1, L2.2, L2.3; status() lists them all",
        ),
        (lambda: hint(" l5 "), "L5 is a level; name one of its exercises, such as L5.1A, L5.1B; status()"),
        (lambda: check(None), "an exercise is named by text such as 'L2.1', but got None"),
        (lambda: check("L2.1", {"size": 1}), "L2.1 has no part size; its parts are kv_gb"),
        (lambda: check("L1.cache", "F", "A", "A", "A"), "one exercise at a time: one of TF3, SE1, SE2"),
        (lambda: (another("L2.1"), check("L2.1#1"))[1], "a practice draw takes its answer in the call"),
        (lambda: check("L2.1", 1.07, learner="../ada"), "a learner id is 1 to 64 letters"),
        (lambda: check("L2.1", 1.07, learner=7), "a learner id is"),  # type: ignore[arg-type]
        (lambda: hint("L9"), "there is no exercise 'L9'"),
        (lambda: another("L9"), "there is no exercise 'L9'"),
        (lambda: another("L2.1#2"), "ask for another('L2.1'), without the #"),
        (lambda: recall("L2.1#2"), "ask for recall('L2.1'), without the #"),
        (lambda: recall("SC99"), "there is no exercise 'SC99'; did you mean"),
        (lambda: recall("l9"), "there is no level 'l9'; there is L1, L2"),
        (lambda: recall("L2", ["SC6"]), "named by text such as 'L2.1', but got ['SC6']"),
        (lambda: placement(learner="../ada"), "a learner id is 1 to 64 letters"),
    ],
)
def test_a_call_that_makes_no_sense_gets_a_sentence(
    call: Callable[[], object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = call()
    assert said in capsys.readouterr().out + repr(result)
    assert not isinstance(result, float) or result == 0.0


USAGE = {
    "check": 'check("L2.1"), or check("L2.1", 1.07) with the answer itself',
    "hint": 'hint("L2.1")',
    "another": 'another("L2.1")',
    "recall": 'recall("L3"), or recall("SC6") for that one',
    "status": "status()",
    "placement": "placement()",
    "solution": 'solution("L2.1")',
    "own_words": 'own_words("WH1")',
    "record": 'record("L1.lab.predicted", tokens_per_s=40)',
}


def test_of_every_call_it_is_known_how_it_is_written() -> None:
    assert sorted(USAGE) == sorted(CALLS)


@pytest.mark.parametrize(
    ("name", "given", "named", "wrong"),
    [
        *((name, (), {"nmae": 1}, "has no argument nmae") for name in USAGE if name != "record"),
        ("check", ("L2.1",), {"answers": 1.07}, "has no argument answers"),
        ("check", ("L2.1", 1.07), {"leaner": "ada"}, "has no argument leaner"),
        ("recall", (), {"ids": "L3"}, "has no argument ids"),
        *((name, ("L2.1",), {}, "got 'L2.1', which is one too many") for name in ("status", "placement")),
        *(
            (name, ("L2.1", "b", "c"), {}, "got 'b', which is one too many")
            for name in ("hint", "another", "solution", "own_words")
        ),
        ("record", ("L1.lab.phases", [1, 2]), {"tokens": 3}, "got [1, 2], which is one too many"),
        *(
            (name, (), {}, "needs a name in its brackets")
            for name in ("check", "hint", "another", "solution", "own_words")
        ),
        ("check", (), {"learner": "ada"}, "needs a name in its brackets"),
        ("record", (), {"tokens_per_s": 40}, "needs a name in its brackets"),
        ("hint", ("L2.1",), {"exercise_id": "L2.1"}, "got exercise_id twice"),
        ("check", ("L2.1", 1.07), {"exercise_id": "L2.1"}, "got exercise_id twice"),
        ("record", ("L1.lab.phases",), {"name": "ada"}, "got name twice"),
    ],
)
def test_a_call_with_arguments_that_it_has_not_says_which_and_how_it_is_written(
    name: str, given: tuple[Any, ...], named: dict[str, Any], wrong: str, tmp_path: Path
) -> None:
    [card] = getattr(llmserving, name)(*given, **named).cards
    done = {"check": "checked", "record": "recorded"}.get(name)
    assert card.heading == (f"Nothing was {done}" if done else "Nothing to show")
    assert card.text().splitlines()[1:] == [f"  {name} {wrong}; write {USAGE[name]}"]
    assert [path.name for path in tmp_path.rglob("*")] == [".llmserving"], "and nothing is kept"


def test_what_a_call_takes_can_be_asked_as_of_any_function() -> None:
    takes = "(exercise_id: 'Any' = None, *answers: 'Any', learner: 'str | None' = None) -> 'Score'"
    assert str(inspect.signature(check)) == takes
    assert all(getattr(llmserving, name).__doc__ for name in CALLS)


def test_a_name_in_small_letters_or_between_spaces_is_the_exercise_that_it_can_only_mean(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [*EXERCISES, *GROUPS]
    assert all(id_meant(f" {name.lower()} ") == name for name in names), "no two ids differ in case alone"
    answers["L2_1_kv_gb"] = 1.07
    assert check(" l2.1 ") == check("L2.1") == 2.0
    assert "L2.1 · right" in capsys.readouterr().out
    assert repr(another("l2.1")).startswith("L2.1#1 · practice")
    assert check(" l2.1#1 ", 1.07).cards[0].heading.startswith("L2.1#1 · ")
    assert [card.heading[:3] for card in check("l1.CACHE").cards] == ["TF3", "SE1", "SE2"]
    for told, heading in (
        (hint("l2.1\n"), "L2.1 · hint"),
        (recall("sc6"), "SC6#1 · recall from L2"),
        (recall(" l2 "), "recall from L1"),
        (solution("l2.1"), "L2.1 · worked solution"),
        (own_words("wh1"), "WH1 · in your own words"),
    ):
        assert heading in repr(told)
    assert "ask for another('L2.1'), without the #" in repr(another("l2.1#1"))
    assert collect("l2.1", answers)["exercise"] == "L2.1"


def test_a_learner_id_in_the_environment_that_names_no_folder_gets_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [*tmp_path.parent.rglob("*")]
    for named in ("../etc", "/etc", "a/b", "a\\b", "..", ".", " ", "x" * 65):
        monkeypatch.setenv(session.LEARNER_VARIABLE, named)
        said = (
            "LLMSERVING_LEARNER of this kernel's environment names nobody: a learner id is 1 to 64 letters, digits or "
        )
        assert check("L2.1", 1.07) == 0.0
        assert said in capsys.readouterr().out
        for call in (hint, another, solution, own_words):
            assert said in repr(call("L2.1"))
        for told in (status(), recall(), placement()):
            assert [card.heading for card in told.cards] == ["Nothing to show"]
            assert said in repr(told)
    assert [*tmp_path.parent.rglob("*")] == before, "nothing is kept, neither here nor elsewhere"


def test_a_learner_variable_that_is_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(session.LEARNER_VARIABLE, "")
    assert check("L2.1", 1.07) == 2.0
    assert _row_of("L2")[0] == "1"


def test_a_group_is_checked_at_once_with_a_card_for_each_id(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers |= {"TF3_verdict": "F"}
    assert check("L1.cache") == 1.0
    told = capsys.readouterr().out
    assert [f"{name} ·" in told for name in GROUPS["L1.cache"]] == [True, True, True]
    assert "TF3_reason is not set. Run the answer cell, then this one." in told


def test_what_the_learner_wrote_is_escaped(answers: dict[str, Any]) -> None:
    answers["L2_1_kv_gb"] = "<script>alert(1)</script>"
    page = check("L2.1")._repr_mimebundle_()["text/html"]
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    answers["L2_1_kv_gb"] = '1 <img src=x onerror="alert(1)">'
    assert "<img" not in check("L2.1")._repr_mimebundle_()["text/html"]


@given(st.text(max_size=60))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_of_the_learner_s_becomes_a_tag(text: str) -> None:
    for name in ("L2.1", "SC1", "WH1"):
        page = check(name, f"<i {text}")._repr_mimebundle_()["text/html"]
        assert "<i " not in page


def test_in_ipython_the_value_is_a_number_for_nbgrader_and_a_card_for_the_reader(shell: InteractiveShell) -> None:
    with capture_output() as seen:
        ran = shell.run_cell("L2_1_kv_gb = 0.537\nfrom llmserving import check\ncheck('L2.1')")
    assert ran.success
    assert shell.display_formatter is not None
    bundle, _ = shell.display_formatter.format(ran.result)
    assert bundle["text/plain"] == "0.0"
    assert "<strong>✗ L2.1 · not yet" in bundle["text/html"]
    assert bundle[VERDICT_MIME]["L2.1"] == {
        "score": 0.0, "points": 2, "diagnoses": ["keys_or_values_only"], "states": {"kv_gb": "wrong"},
    }  # fmt: skip
    assert seen.stderr == ""


def test_in_ipython_a_name_that_was_deleted_is_told_apart(shell: InteractiveShell) -> None:
    with capture_output() as seen:
        shell.run_cell("L2_1_kv_gb = 1.07", store_history=True)
        shell.run_cell("del L2_1_kv_gb", store_history=True)
        shell.run_cell("from llmserving import check\ncheck('L2.1')", store_history=True)
    assert "was named in a cell that ran, but it is not set now" in seen.stdout


def test_hints_come_in_order_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    told = [repr(hint("L2.1")) for _ in range(4)]
    assert [f"Hint {n} of 3" in text for n, text in enumerate(told[:3], 1)] == [True] * 3
    assert "a key and a value of 4,096 numbers, 2 bytes each" in told[1]
    assert "There is no further hint for L2_1_kv_gb; the last one was: A similar case" in told[3]


def test_parts_with_the_same_hints_show_them_once() -> None:
    told = [repr(hint("L1.1")) for _ in range(3)]
    assert "Hint 1 of 2 for L1_1_a" in told[0]
    assert "Hint 2 of 2 for L1_1_a" in told[1]
    assert "There is no further hint for L1_1_a" in told[2]
    assert "L1_1_b" not in told[2]


def test_hints_are_for_the_part_that_failed(answers: dict[str, Any]) -> None:
    answers |= {"L2_3_fp16_gb": 26, "L2_3_int8_gb": 13, "L2_3_int4_gb": 6.5, "L2_3_shrink": 2}
    check("L2.3")
    assert "Hint 1 of 2 for L2_3_shrink: Divide what was read before by what is read now." in repr(hint("L2.3"))


def _multi_head(layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: Any = None) -> int:
    return 2 * layers * query_heads * head_dim * bits // 8


def _without_latent(
    layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: Any = None
) -> int:
    return 2 * layers * kv_heads * head_dim * bits // 8


def test_hints_on_code_are_for_the_groups_that_failed(answers: dict[str, Any]) -> None:
    assert "Hint 1 of 3 for kv_bytes_per_token: Take one layer first" in repr(hint("LAB2.1"))
    answers["kv_bytes_per_token"] = _multi_head
    check("LAB2.1")
    told = [repr(hint("LAB2.1")) for _ in range(3)]
    assert "Hint 1 of 2 for kv_bytes_per_token, grouped-query: The query heads of one group" in told[0]
    assert "Hint 2 of 2 for kv_bytes_per_token, grouped-query: A similar case" in told[1]
    assert "Hint 1 of 2 for kv_bytes_per_token, multi-query" in told[2]
    answers["kv_bytes_per_token"] = _without_latent
    check("LAB2.1")
    told = [repr(hint("LAB2.1")) for _ in range(3)]
    assert "Hint 1 of 2 for kv_bytes_per_token, latent: A latent takes the place" in told[0]
    assert "There is no further hint for kv_bytes_per_token, latent; the last one was: A similar case" in told[2]


def test_hints_on_code_are_the_first_ones_where_all_of_it_fails(answers: dict[str, Any]) -> None:
    answers["kv_bytes_per_token"] = lambda layers, query_heads, kv_heads, head_dim, bits, latent_dim=None: 1
    check("LAB2.1")
    assert "for kv_bytes_per_token: " in repr(hint("LAB2.1"))


def test_a_hint_goes_to_what_failed_before_what_was_left_open(answers: dict[str, Any]) -> None:
    answers |= {"L2_3_int4_gb": 13}
    check("L2.3")
    assert "for L2_3_int4_gb" in repr(hint("L2.3"))
    answers |= {"SE1": next(letter for letter in "ABCD" if _option("SE1", letter) == "square")}
    check("L1.cache")
    assert repr(hint("L1.cache")).startswith("SE1 · hint")


def test_a_wrong_answer_that_looks_like_no_known_mistake_gets_the_next_hint(
    answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers["L2_1_kv_gb"] = 77.7
    check("L2.1")
    told = capsys.readouterr().out
    assert "not close to any mistake I know. Hint 1 of 3" in told
    assert told.endswith("Reread 'The six factors'.\n")


def test_a_hint_of_a_group_is_for_the_first_exercise_that_is_open() -> None:
    check("TF3", "F", *(letter for letter in "ABCD" if EXERCISES["TF3"].lettered_options(
        EXERCISES["TF3"].parts[1], "default")[letter].name == "linear"))  # fmt: skip
    assert repr(hint("L1.cache")).startswith("SE1 · hint")


def test_practice_has_fresh_numbers_its_own_check_and_no_record(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = repr(another("L2.1")), repr(another("L2.1"))
    assert 'Answer with check("L2.1#1", ...).' in first
    assert 'Answer with check("L2.1#2", ...).' in second
    n = EXERCISES["L2.1"].numbers("default#2")
    assert f"B = {n['B']}" in second
    right = 2 * n["B"] * n["S"] * n["L"] * n["d_model"] * n["p"] / 1e9
    assert check("L2.1#2", right) == 2.0
    assert check("L2.1", 5) == 0.0
    assert "L2.1 (tried)" in repr(status())


@pytest.mark.parametrize(
    ("shown", "asked", "were"),
    [(0, "999", "none of TF3 was yet"), (1, "2", "only TF3#1 was"), (3, "4", "TF3#1 to TF3#3 were"),
     (3, "0", "TF3#1 to TF3#3 were"), (3, "01", "TF3#1 to TF3#3 were")],
)  # fmt: skip
def test_a_draw_that_was_never_shown_is_not_graded_and_what_was_shown_is_named(
    shown: int, asked: str, were: str
) -> None:
    for _ in range(shown):
        another("TF3")
    before = repr(status())
    told = check(f"TF3#{asked}", "F", "A").cards[0].text()
    assert told == f'Nothing was checked\n  TF3#{asked} was never shown; {were}. another("TF3") makes one'
    assert check(f"TF3#{asked}").cards[0].text() == told
    assert repr(status()) == before


def test_what_recall_has_shown_and_what_an_earlier_kernel_has_shown_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    recall("TF3")
    another("TF3")
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    for draw in (1, 2):
        assert check(f"TF3#{draw}", "F", "A").cards[0].heading.startswith(f"TF3#{draw} ")


@pytest.mark.parametrize("nothing_kept", ["no folder", "records off"])
def test_where_nothing_is_kept_any_draw_may_have_been_shown_before_the_kernel_was_started_anew(
    nothing_kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if nothing_kept == "no folder":
        (tmp_path / ".llmserving").rmdir()
    else:
        monkeypatch.setenv(session.RECORDS_VARIABLE, "off")
    for draw in (1, 2):
        assert check(f"TF3#{draw}", "F", "A").cards[0].heading.startswith(f"TF3#{draw} ")
    assert "TF3#0 was never shown" in check("TF3#0", "F", "A").cards[0].text()


def test_an_exercise_without_practice_has_no_draw_to_check() -> None:
    assert "LAB2.1 has no practice" in check("LAB2.1#1", len).cards[0].text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SE1", "There are 2 wordings, which take turns; only the letters are shuffled anew."),
        ("TF3", "There are 4 wordings, which take turns; only the letters are shuffled anew."),
        ("WH1", "It has no other wording; only the letters are shuffled anew."),
    ],
)
def test_practice_says_how_often_it_differs_where_words_are_all_that_varies(name: str, said: str) -> None:
    assert said in repr(another(name))
    assert "wording" not in repr(another("L2.1"))


def test_practice_goes_on_where_the_last_session_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "L2.1#1" in repr(another("L2.1"))
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    assert "L2.1#2" in repr(another("L2.1"))


def test_practice_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    learner.PROGRESS._store("L2.1", Record(practice=123_455))
    assert 'check("L2.1#123456", ...)' in repr(another("L2.1"))
    assert check("L2.1#123456", 1e9).cards[0].heading.startswith("L2.1#123456 · not yet")


def test_status_tells_first_time_after_hints_after_tries_and_open() -> None:
    check("L2.1", 1.07)
    hint("L2.2")
    check("L2.2", 37)
    check("EC8", 0)
    check("EC8", 524_288)
    check("L2.3", 26, 0, 0, 0)
    told = repr(status())
    assert told.startswith("3 of ")
    assert _row_of("L2")[:7] == ["1", "2", "0", "2", "6", "of", "10"]
    assert re.search(r"L2/weights +L2.3 \(tried\), SC6\n", told)


def test_without_the_key_faults_are_told_and_the_rest_is_recorded(
    no_key: None, answers: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answers |= {"L2_3_fp16_gb": 26, "L2_3_int8_gb": "13 Gb", "L2_3_int4_gb": ...}
    score = check("L2.3")
    assert repr(score) == "0.0"
    told = capsys.readouterr().out
    assert told.startswith("L2.3 · recorded")
    assert "L2_3_fp16_gb Recorded, graded later." in told
    assert "carries the unit Gb, which reads as bits" in told
    assert "L2_3_int4_gb still holds ..." in told
    assert "L2_3_shrink is not set" in told
    assert "0 of 4" not in told


def test_without_the_key_right_and_wrong_look_the_same(no_key: None, capsys: pytest.CaptureFixture[str]) -> None:
    check("L2.1", 1.07)
    right = capsys.readouterr().out
    check("L2.1", 0.537)
    assert capsys.readouterr().out == right
    assert "Hint 1 of 3" in repr(hint("L2.1"))
    assert "L2.1#1" in repr(another("L2.1"))


def test_a_grader_that_gives_too_much_is_clamped(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmserving.exercises import PartVerdict, Verdict

    class Generous:
        @staticmethod
        def grade(data: Mapping[str, Any], learner: str) -> dict[str, Verdict]:
            return {"L2.1": Verdict("L2.1", {"kv_gb": PartVerdict(99.0, 2.0, "right", "Right.")})}

    monkeypatch.setattr(session, "answer_key", lambda: Generous)
    assert check("L2.1", 1) == 2.0


def test_in_a_plain_script_the_main_module_s_names_are_read() -> None:
    script = "from llmserving import check\nL2_1_kv_gb = 1.07\nprint(check('L2.1'))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "✓ L2.1 · right · 2 of 2 points\n2.0\n"
    assert ran.stderr == ""


def test_a_key_that_cannot_be_loaded_is_a_sentence_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """No verdict: a grader must not take the 0 for a judgement."""

    def broken() -> Any:
        raise ImportError("exercises and keys part ways at L2.1")

    monkeypatch.setattr(session, "answer_key", broken)
    score = check("L2.1", 1.07)
    assert score == 0.0
    assert score.verdicts == ()
    assert "cannot be loaded (ImportError: exercises and keys part ways at L2.1)" in score.cards[0].text()


def test_points_that_were_carried_on_are_shown_as_such_and_not_as_solved(answers: dict[str, Any]) -> None:
    answers |= {"L2_1_kv_gb": 0.537, "L2_2_requests": 74}
    score = check("L2.2")
    assert score == 2.0
    assert score.cards[0].heading == "L2.2 · carried on from an earlier answer · 2 of 2 points"
    assert _row_of("L2")[:4] == ["0", "0", "1", "4"], "carried on, so no longer open, and not solved"
    answers |= {"L2_1_kv_gb": 1.07}
    assert check("L2.2") == 0.0
    answers |= {"L2_2_requests": 37}
    assert check("L2.2").cards[0].heading == "L2.2 · right · 2 of 2 points"
    assert _row_of("L2")[:4] == ["0", "1", "0", "4"], "right after more tries"


def test_how_it_was_solved_is_not_rewritten_by_a_later_hint() -> None:
    check("L2.1", 0.537)
    check("L2.1", 1.07)
    hint("L2.1")
    assert learner.PROGRESS.record("L2.1").solved == "right after more tries"


def test_nothing_answered_is_no_mistake(answers: dict[str, Any]) -> None:
    answers |= {"L2_1_kv_gb": ...}
    assert check("L2.1").cards[0].heading == "L2.1 · not answered yet · 0 of 2 points"


def test_practice_is_called_by_its_number_and_without_the_key_is_not_graded_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    another("L2.1")
    assert check("L2.1#1", 1e9).cards[0].heading.startswith("L2.1#1 · not yet")
    monkeypatch.setattr(session, "answer_key", lambda: None)
    told = check("L2.1#1", 1e9).cards[0].text()
    assert "practice has no verdict" in told
    assert "graded later" not in told


def test_a_claim_is_set_in_italics_and_a_product_keeps_its_stars() -> None:
    assert "<em>The KV cache grows" in another("TF3")._repr_html_()
    assert "*The KV" not in repr(another("TF3"))
    assert "<code>2 * B * S * L * d_model * p</code>" in another("L1.2")._repr_html_()


def test_a_claim_with_a_product_in_it_is_set_in_italics_whole() -> None:
    drawn = [another("SE1"), another("SE1")]
    assert [shown._repr_html_().count("<em>") for shown in drawn] == [1, 1]
    assert "<em>KV cache = B * S * L * d_model * p bytes.</em>" in drawn[1]._repr_html_()
    assert "writes: KV cache = B * S * L * d_model * p bytes.\n" in repr(drawn[1])
