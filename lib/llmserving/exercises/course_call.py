"""A call of the course ends in a card and never in a traceback, also where it is refused or its arguments do not fit."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from llmserving.arguments import shown
from llmserving.exercises.asking import Refused
from llmserving.exercises.card import Card, Shown
from llmserving.exercises.markup import as_typed

P = ParamSpec("P")
R = TypeVar("R")


def course_call(
    usage: str, heading: str = "Nothing to show", refused: Callable[[Card], Any] = Shown
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the sentence of Refused becomes a card, and so does an argument too many or of no such name.

    usage: the call as it is written. heading: of the card. refused: makes of the card what the call gives back.
    """

    def decorated(call: Callable[P, R]) -> Callable[P, R]:
        form = inspect.signature(call)

        @functools.wraps(call)
        def ends_in_a_card(*given: P.args, **named: P.kwargs) -> R:
            try:
                if misfit := _misfit(form, given, named):
                    raise Refused(f"{call.__name__} {misfit}; write {usage}")
                return call(*given, **named)
            except Refused as refusal:
                return refused(Card(heading, "plain", (str(refusal),)))  # type: ignore[no-any-return]

        return ends_in_a_card

    return decorated


def _misfit(form: inspect.Signature, given: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments, None where they fit. What stands first is needed, whatever its default."""
    places = [one.name for one in form.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    try:
        form.bind(*given, **named)
    except TypeError as error:
        if twice := next((name for name in places[: len(given)] if name in named), None):
            return f"got {twice} twice"
        if "too many positional" in str(error):
            return f"got {as_typed(shown(given[len(places)]))}, which is one too many"
        by_name = [one.name for one in form.parameters.values() if one.kind is one.KEYWORD_ONLY]
        return f"has no argument {next(name for name in named if name not in (*places, *by_name))}"
    return "needs a name in its brackets" if places and not given and places[0] not in named else None
