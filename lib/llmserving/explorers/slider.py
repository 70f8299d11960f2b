"""A slider over stops with words: as ipywidgets' SelectionSlider in Python, but on the page an input that has a name.

The handle that ipywidgets draws has neither a name nor its stop in words: a screen reader calls it "slider, 3".
"""

from __future__ import annotations

from pathlib import Path

import anywidget
import ipywidgets
from traitlets import Unicode


class Slider(anywidget.AnyWidget, ipywidgets.SelectionSlider):  # type: ignore[misc]  # neither has types
    """options: (words, value) in order. description: the name. label_width: the room for the name, as CSS has it."""

    _esm = Path(__file__).with_suffix(".js")
    label_width = Unicode("11em").tag(sync=True)
