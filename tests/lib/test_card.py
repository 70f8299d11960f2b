"""A card shows what a learner typed as it was typed: no star, backtick, underscore or tag of it is read as a mark."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from llmserving import another, check, hint, recall, record
from llmserving.exercises.card import Card
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.code_faults import code_line, outcome_fault, shown_result
from llmserving.exercises.markup import as_typed, code

pytestmark = pytest.mark.usefixtures("own_folder")

TYPED = ["2*2048*32*4096*2", "1.07**2", "2*3 * 4*5", "a `b` *c*", "`", "``x", "**bold**", "_a_ __b__", "<i>&amp;</i>"]


def seen(page: str) -> str:
    """What a page shows: its text without tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def shown(card: Card) -> tuple[str, str]:
    return card.text(), seen(card.html())


@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize(
    "call",
    [
        lambda typed: check("L2.1", typed),
        lambda typed: check("L2.1", f"2 {typed}"),
        lambda typed: check("SC1", typed),
        lambda typed: check("WH1", typed),
        lambda typed: check("L2.3", {typed: 1}),
        lambda typed: check(typed),
        lambda typed: hint(f"L2.{typed}"),
        lambda typed: another([typed]),
        lambda typed: hint("L2.1", typed),  # type: ignore[call-arg]
        lambda typed: check("L2.1", 1, learner=f"-{typed}"),
        lambda typed: recall(typed),
        lambda typed: record(typed),
        lambda typed: record("L1.lab.predicted", **{typed: 1}),
    ],
)
def test_every_card_shows_what_was_typed(call: Callable[[str], Any], typed: str) -> None:
    [card] = call(typed).cards
    for view in shown(card):
        assert typed in view
        assert "2 and" not in view


def test_a_long_word_comes_out_as_typed_and_is_looked_through_once() -> None:
    assert as_typed("x" * 10**6) == "x" * 10**6


@pytest.mark.parametrize("typed", ["2*2048*32*4096*2", "1.07**2", "2^30"])
def test_a_calculation_as_text_is_told_the_signs_of_python(typed: str) -> None:
    said = f"is the calculation '{typed}' as text. Write it without quotes, with * for times and ** for powers"
    [card] = check("L2.1", typed).cards
    for view in shown(card):
        assert said in view


@pytest.mark.parametrize("error", ["unsupported operand type(s) for ** or pow(): 'str' and 'int'", "I said `*no*`"])
def test_the_words_of_an_exception_are_shown_as_they_are(error: str) -> None:
    raised = {"type": "TypeError", "said": error, "where": ", in f, line 2: x * '`' * y"}
    told = outcome_fault(EXERCISES["LAB2.1"].parts[0], {"bits": 8}, {"raised": raised})
    for view in shown(Card("LAB2.1", "wrong", (str(told),))):
        assert f"(bits=8) stopped with TypeError: {error}, in f, line 2: x * '`' * y." in view


def test_a_bug_in_a_class_is_told_in_python_s_words() -> None:
    said = "append stopped with a bug, TypeError: no such thing as ** or `*`, in append, line 9: x ** y * z."
    for view in shown(Card("LAB3A.2", "wrong", (code_line(said),))):
        assert said in view


def test_a_result_may_hold_backticks() -> None:
    for view in shown(Card("LAB2.1", "wrong", (f"gave {shown_result('`*`')}.",))):
        assert "gave '`*`'." in view


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("ab*`_<& \\", max_size=20))
@example("` `")
@example("*")
def test_any_text_comes_out_of_a_card_as_it_went_in(text: str) -> None:
    for setting in (as_typed, code):
        for view in shown(Card(f"«{setting(text)}»", "plain", (f"*one* «{setting(text)}» and **two**",))):
            assert view.count(f"«{text}»") == 2
    page = Card("one", "plain", (f"*one* «{as_typed(text)}» and **two**",)).html()
    assert "<em>one</em>" in page
    assert "<strong>two</strong>" in page
