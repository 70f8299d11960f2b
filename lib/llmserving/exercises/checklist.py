"""Boxes to tick beside the reasons that a text must hold: a widget, and the same list standing still where none can load."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from llmserving.exercises.card import Card

Reasons = Mapping[str, tuple[str, ...]]
"""Exercise id -> what a text that answers it must hold."""


class Checklists(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """One checklist an exercise; `.boxes[id]` are its checkboxes, in order.

    card: the list of one exercise as it stands now. note: keeps which of them, by number, are ticked. closed: cards of
    exercises that were asked for too and are not open yet.
    """

    def __init__(
        self,
        reasons: Reasons,
        ticked: Mapping[str, list[int]],
        card: Callable[[str], Card],
        note: Callable[[str, list[int]], None],
        closed: tuple[Card, ...] = (),
    ) -> None:
        self._card, self._note, self._closed = card, note, closed
        self.boxes = {
            name: [_box(text, number in ticked[name]) for number, text in enumerate(texts)]
            for name, texts in reasons.items()
        }
        rows: list[Any] = []
        for name, boxes in self.boxes.items():
            told = ipywidgets.HTML(_counted(boxes))
            for box in boxes:
                box.observe(lambda _, name=name, told=told: self._tick(name, told), names="value")
            first, *_, last = card(name).paragraphs
            heading = f"<strong>{html.escape(card(name).heading)}</strong><br>{html.escape(first)}"
            rows += [ipywidgets.HTML(heading), *boxes, told, ipywidgets.HTML(html.escape(last))]
        super().__init__([*rows, *(ipywidgets.HTML(one.html()) for one in closed)])

    def _tick(self, name: str, told: Any) -> None:
        boxes = self.boxes[name]
        told.value = _counted(boxes)
        self._note(name, [number for number, box in enumerate(boxes) if box.value])

    def _cards(self) -> list[Card]:
        return [*(self._card(name) for name in self.boxes), *self._closed]

    def __repr__(self) -> str:
        return "\n".join(card.text() for card in self._cards())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs) or {}
        still = "".join(card.html() for card in self._cards())
        return {**bundle, "text/html": still, "text/plain": repr(self)}


def _box(text: str, ticked: bool) -> Any:
    # Without indent the label takes the whole line; the height follows a label that wraps.
    layout = {"width": "auto", "max_width": "60em", "height": "auto"}
    return ipywidgets.Checkbox(value=ticked, description=text, indent=False, layout=layout)


def _counted(boxes: list[Any]) -> str:
    ticked = sum(box.value for box in boxes)
    return f'<div role="status" aria-live="polite">{ticked} of {len(boxes)} ticked</div>'
