"""Every slider of the course is one that a screen reader can name; in Python it is ipywidgets' own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llmserving import explorers
from llmserving.explorers.slider import Slider
from traitlets import TraitError

MAKERS = [name for name in explorers.__all__ if name.islower()]


def parts_of(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts_of(child)


@pytest.mark.parametrize("maker", MAKERS)
def test_no_explorer_has_a_slider_without_a_name(maker: str) -> None:
    parts = list(parts_of(getattr(explorers, maker)()))
    assert any(isinstance(part, Slider) for part in parts)
    assert all(part.description for part in parts if isinstance(part, Slider))
    # ipywidgets' sliders are drawn by views of these names, and their handles have none.
    assert [part for part in parts if part._view_name.endswith("SliderView")] == []


def test_a_slider_moves_by_value_or_by_stop_and_refuses_what_is_no_stop() -> None:
    slider = Slider(options=[("one", 1), ("two", 2), ("four", 4)], value=2, description="B, requests")
    seen: list[int] = []
    slider.observe(lambda change: seen.append(change.new), names="value")
    slider.value = 4
    slider.index = 0  # what the page sends when it is moved there
    assert seen == [4, 1]
    with pytest.raises(TraitError, match="value not found"):
        slider.value = 3
    assert slider.value == 1
