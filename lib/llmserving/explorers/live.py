"""What every explorer does: controls, a figure that follows them, and the same in words for those who do not see it."""

from __future__ import annotations

import html
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets

from llmserving.explorers.dropdown import light_arrow
from llmserving.figures import LessonFigure
from llmserving.units import format_seconds


@dataclass(frozen=True)
class View:
    """What is on the screen: the figure, what it says in a sentence, and the arithmetic behind it, line by line."""

    figure: LessonFigure
    sentence: str
    arithmetic: tuple[str, ...]


class LiveExplorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Controls over a view. A subclass says in `look` what to show for their values.

    `.controls[name].value` moves a quantity, shown or not; `.figure`, `.sentence` and `.arithmetic` then say what is on
    the screen. A value that is no stop of its control is refused by ipywidgets and changes nothing. Values that
    contradict one another are refused in the sentence; `.figure` is then empty and says the same.
    """

    def __init__(self, controls: Mapping[str, Any], shown: tuple[str, ...]) -> None:
        self.controls: dict[str, Any] = dict(controls)
        # The redraw time stands apart from the sentence: a screen reader announces a new sentence, and nothing else.
        self._figure, self._sentence, self._arithmetic, self._timing = (ipywidgets.HTML() for _ in range(4))
        self._redraw()
        for control in self.controls.values():
            control.observe(self._redraw, names="value")
        words = [self._figure, self._sentence, self._arithmetic, self._timing]
        on_screen = [self.controls[name] for name in shown]
        lists = any(isinstance(control, ipywidgets.Dropdown) for control in on_screen)
        super().__init__([*on_screen, *words, *([light_arrow()] if lists else [])])

    def look(self, value: dict[str, Any]) -> View:
        """The view for these values of the controls; ValueError with a sentence where they contradict one another."""
        raise NotImplementedError

    def _redraw(self, _change: object = None) -> None:
        began = time.perf_counter()
        try:
            view = self.look({name: control.value for name, control in self.controls.items()})
        except ValueError as refusal:
            view = View(LessonFigure(1, 1, f"{refusal}."), f"{refusal}.", ())
            self._figure.value = ""
        else:
            self._figure.value = view.figure._repr_html_()
        self.figure, self.sentence, self.arithmetic = view.figure, view.sentence, view.arithmetic
        self._sentence.value = f'<div role="status" aria-live="polite">{lines(self.sentence, bold=True)}</div>'
        self._arithmetic.value = lines(*self.arithmetic)
        self._timing.value = lines(f"redrawn in {format_seconds(round(time.perf_counter() - began, 3))}", small=True)

    def __repr__(self) -> str:
        return f"{self.sentence} {self.figure.alt_text}" if self._figure.value else self.sentence

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live widget, and for a page where widgets cannot load the same figure and words, standing still."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs) or {}
        still = f"{lines(self.sentence, bold=True)}{self._figure.value}{self._arithmetic.value}"
        return {**bundle, "text/html": still, "text/plain": repr(self)}


def lines(*texts: str, small: bool = False, bold: bool = False) -> str:
    """Lines of text as HTML."""
    style = "line-height:1.5" + ";font-size:smaller" * small + ";font-weight:600" * bold
    return f'<div style="{style}">{"<br>".join(html.escape(text) for text in texts)}</div>'
