"""The clinic: cases that are cured by the levers for their wall and by no tempting other, and settings that are checked."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from llmserving.clinic import (
    CASES,
    LONG_ANSWERS,
    LONG_PROMPTS,
    ONE_AT_A_TIME,
    Case,
    promise_table,
    serve,
    serve_each,
    serve_yours,
)
from llmserving.figures import promise_bars

from tests.figure_texts import outside, overlapping, text_boxes

IN_PIECES = {"policy": "chunked", "token_budget": 512}
BY_TITLE = [case.title for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=BY_TITLE)
def test_a_case_breaks_a_promise_as_it_comes_and_turns_nobody_away(case: Case) -> None:
    outcome = serve(case)
    assert outcome.missed
    assert "budget" not in outcome.missed
    assert (outcome.rejected, outcome.changes) == (0, {})
    assert serve(case, {}) is outcome, "the same settings are simulated once"


@pytest.mark.parametrize(
    ("case", "levers"),
    [
        (LONG_PROMPTS, IN_PIECES),
        (LONG_PROMPTS, {**IN_PIECES, "token_budget": 384}),
        (LONG_PROMPTS, {**IN_PIECES, "weight_dtype": "int4"}),
        (LONG_ANSWERS, {"kv_dtype": "int8"}),
        (ONE_AT_A_TIME, {"weight_dtype": "int4"}),
        (ONE_AT_A_TIME, {"weight_dtype": "int8", "gpus": 2}),
    ],
)
def test_the_lever_for_its_wall_keeps_every_promise(case: Case, levers: dict[str, Any]) -> None:
    assert serve(case, levers).missed == ()


def test_nothing_within_the_budget_but_pieces_cures_the_stall() -> None:
    tried = product(("l40s-48gb", "a100-80gb"), ("fp16", "int4"), (4, 8, 32, 128))
    for gpu, weights, most in tried:
        assert not serve(LONG_PROMPTS, {"gpu": gpu, "weight_dtype": weights, "max_num_seqs": most}).met
    assert serve(LONG_PROMPTS, {"gpu": "h100-80gb"}).missed == ("budget",)


def test_pieces_may_be_too_long_and_too_short() -> None:
    assert serve(LONG_PROMPTS, {"policy": "chunked"}).missed == ("time per token",)
    assert serve(LONG_PROMPTS, {"policy": "chunked", "token_budget": 256}).missed == ("first token",)


def test_no_watermark_and_no_smaller_weights_make_room_for_long_answers() -> None:
    start = serve(LONG_ANSWERS)
    for watermark, weights in product((0.0, 0.1, 0.2), ("fp16", "int4")):
        assert "first token" in serve(LONG_ANSWERS, {"watermark": watermark, "weight_dtype": weights}).missed
    assert serve(LONG_ANSWERS, {"max_num_seqs": 512}).preemptions > start.preemptions > 500
    assert serve(LONG_ANSWERS, {"kv_dtype": "int8", "max_num_seqs": 48}).missed == ("first token",), (
        "kept out of the room"
    )


def test_batching_mends_the_wait_of_a_lone_user_and_not_the_pace() -> None:
    assert serve(ONE_AT_A_TIME).missed == ("first token", "time per token")
    assert serve(ONE_AT_A_TIME, {"policy": "continuous"}).missed == ("time per token",)
    assert serve(ONE_AT_A_TIME, {"gpus": 2}).missed == ("time per token",)
    assert serve(ONE_AT_A_TIME, {"gpus": 4}).missed == ("budget",)


@pytest.mark.parametrize("case", CASES, ids=BY_TITLE)
def test_every_value_on_offer_can_be_served(case: Case) -> None:
    for lever, values in case.offered.items():
        for value in (values[0], values[-1]):
            changes = {lever: value}
            if lever == "token_budget":
                changes |= {"policy": "chunked", "max_num_seqs": 64}
            assert serve(case, changes).rejected == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([("policy", "chunked")], "settings are a dict of levers"),
        (
            {"batch": 3},
            "there is no lever 'batch' to move here; those are policy, max_num_seqs, token_budget, weight_dtype, gpu",
        ),
        ({3: 3}, "there is no lever 3 to move here"),
        ({"kv_dtype": "int8"}, "there is no lever 'kv_dtype' to move here"),
        ({"weight_dtype": "int3"}, "weight_dtype is 'fp16' or 'int4' here, but got 'int3'"),
        ({"max_num_seqs": 0}, "max_num_seqs is a whole number from 4 to 512 here, but got 0"),
        ({"max_num_seqs": 8.5}, "max_num_seqs is a whole number"),
        ({"max_num_seqs": True}, "max_num_seqs is a whole number"),
        ({"gpu": ["a100-80gb"]}, "gpu is 'l40s-48gb', 'a100-80gb' or 'h100-80gb' here"),
        ({"token_budget": 512}, "token_budget is a lever of the policy 'chunked', but here it is 'continuous'"),
        (
            {"policy": "chunked", "token_budget": 256, "max_num_seqs": 300},
            "token_budget is 256, less than max_num_seqs, 300",
        ),
    ],
)
def test_what_is_not_on_offer_is_refused_in_a_sentence(changes: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        serve(LONG_PROMPTS, changes)


def test_numbers_of_any_kind_are_the_same_settings() -> None:
    assert serve(LONG_PROMPTS, {"max_num_seqs": np.int64(64)}) is serve(LONG_PROMPTS, {"max_num_seqs": 64.0})


def test_the_table_and_the_sentence_say_what_is_missed() -> None:
    table = promise_table({"as it is": serve(LONG_PROMPTS), "in pieces": serve(LONG_PROMPTS, IN_PIECES)}).splitlines()
    assert table[0].startswith("simulated, p95")
    assert table[1].endswith("time per token")
    assert table[2].endswith("nothing")
    assert len({line.rstrip().index(" 2 ") for line in table[1:]}) == 1
    assert "(36 ms promised), for 2 dollars an hour (3 at most)." in serve(LONG_PROMPTS).explain()


def test_a_case_says_what_may_be_moved_and_where_it_stands() -> None:
    told = ONE_AT_A_TIME.explain()
    assert "policy          static          static · continuous · chunked" in told
    assert "dollars an hour for one GPU: h100-80gb 5, h200-141gb 7" in told


def test_a_case_whose_start_is_not_on_offer_cannot_be_made() -> None:
    start = {**LONG_PROMPTS.start, "gpu": "t4-16gb"}
    rest = LONG_PROMPTS.prices, LONG_PROMPTS.link_bytes_per_s, LONG_PROMPTS.promises
    with pytest.raises(ValueError, match="gpu is .* here, but got 't4-16gb'"):
        Case("broken", "llama-3.1-8b", LONG_PROMPTS.requests, start, LONG_PROMPTS.offered, *rest)
    del start["gpus"]
    with pytest.raises(ValueError, match="the start of 'broken' sets"):
        Case("broken", "llama-3.1-8b", LONG_PROMPTS.requests, start, LONG_PROMPTS.offered, *rest)


def test_levers_that_are_not_written_yet_leave_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def not_yet() -> dict[str, object]:
        raise NotImplementedError("LAB5A.1: the levers")

    assert serve_yours(LONG_PROMPTS, not_yet) == {}
    told = capsys.readouterr().out
    assert told.startswith("Long prompts among chats: no levers of yours to serve with yet (LAB5A.1: the levers).")
    assert serve_yours(LONG_PROMPTS, lambda: IN_PIECES)["yours"].met


def test_levers_that_end_in_an_interrupt_of_their_own_leave_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def ends() -> dict[str, object]:
        raise KeyboardInterrupt

    assert serve_yours(LONG_PROMPTS, ends) == {}
    assert "no levers of yours to serve with yet (KeyboardInterrupt)." in capsys.readouterr().out


def test_of_several_settings_those_that_are_not_on_offer_leave_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    served = serve_each(LONG_PROMPTS, {"as it is": {}, "a slip": {"policy": "chunky"}, "in pieces": IN_PIECES})
    assert list(served) == ["as it is", "in pieces"]
    assert capsys.readouterr().out == (
        "a slip: cannot be served, policy is 'static', 'continuous' or 'chunked' here, but got 'chunky'.\n"
    )
    assert [outcome.keeps() for outcome in served.values()] == ["misses time per token", "keeps every promise"]


def test_the_bars_are_legible_and_say_what_is_missed() -> None:
    tried: dict[str, dict[str, Any]] = {
        "as it is": {},
        "a name that is far too long for the room it has": {"policy": "static"},
        "in pieces": IN_PIECES,
        "an h100-80gb": {"gpu": "h100-80gb"},
    }
    figure = promise_bars({name: serve(LONG_PROMPTS, levers) for name, levers in tried.items()}, title="Chats")
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []
    assert figure.alt_text.startswith("Chats. Bars of the simulated time")
    assert "in pieces: 95 % wait" in figure.alt_text
    assert any(words.endswith("bars: logarithmic") for words in boxes)
    assert sum("missed" in words for words in boxes) == 3
    assert sum(words.endswith(" over") for words in boxes) == 1


def test_bars_of_two_cases_or_of_none_are_refused() -> None:
    with pytest.raises(ValueError, match="of different cases"):
        promise_bars({"one": serve(LONG_PROMPTS), "other": serve(LONG_ANSWERS)})
    with pytest.raises(TypeError, match="at least one"):
        promise_bars({})
