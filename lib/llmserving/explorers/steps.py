"""An explorer of moments in a row: forward and back with a slider and two buttons, and all of them told where it stands still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import ipywidgets

from llmserving.explorers.live import LiveExplorer, View, lines
from llmserving.explorers.slider import Slider

MomentT = TypeVar("MomentT")
MOST_TOLD = 100  # moments in an output that stands still


class StepExplorer(LiveExplorer, Generic[MomentT]):
    """One moment of several; `.controls["moment"].value` is its number, from 0. A subclass says in `look_at` what to show
    of a moment, and in `tell` what is to be said of it.
    """

    children: tuple[Any, ...]

    def __init__(self, moments: Sequence[MomentT], name: str) -> None:
        self.moments = tuple(moments)
        last = len(self.moments) - 1
        slider = Slider(
            options=[(f"{number} of {last}", number) for number in range(last + 1)],
            description=name,
            label_width="4em",
            layout={"width": "34em", "max_width": "100%"},
        )
        super().__init__({"moment": slider}, ("moment",))
        # Neither is ever disabled: the focus of whoever steps with the keyboard would be lost at the end.
        self.back, self.forward = (
            _button("Back", "One step back", self._back),
            _button("Forward", "One step on", self._on),
        )
        self.children = (self.children[0], ipywidgets.HBox([self.back, self.forward]), *self.children[1:])

    def look_at(self, moment: MomentT) -> View:
        """The view of a moment."""
        raise NotImplementedError

    def tell(self, moment: MomentT) -> str:
        """A moment in words."""
        raise NotImplementedError

    def look(self, value: dict[str, Any]) -> View:
        return self.look_at(self.moments[value["moment"]])

    def _back(self, _button: object) -> None:
        self._move(-1)

    def _on(self, _button: object) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        slider = self.controls["moment"]
        slider.value = min(max(slider.value + by, 0), len(self.moments) - 1)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Where widgets cannot load there is no stepping: all that happens is told, one line a step."""
        bundle = super()._repr_mimebundle_(**kwargs)
        first, last = self.moments[1:MOST_TOLD], self.moments[MOST_TOLD:][-1:]
        left_out = len(self.moments) - 1 - len(first) - len(last)
        story = [self.tell(moment) for moment in first]
        story += [f"and so on, {left_out:,} more, until:"] * (left_out > 0) + [self.tell(moment) for moment in last]
        return {
            **bundle,
            "text/html": bundle["text/html"] + lines("Step by step:", *story),
            "text/plain": "\n".join([bundle["text/plain"], *story]),
        }


def _button(label: str, meaning: str, pressed: Any) -> Any:
    button = ipywidgets.Button(description=label, tooltip=meaning)
    button.on_click(pressed)
    return button
