"""A figure that carries its alt text and shows itself as inline SVG in the colours of the page around it."""

from __future__ import annotations

import hashlib
import html
import io
import os
import re
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.transforms import Affine2D

from llmserving.figures.palette import INK

THEME_INK = "var(--jp-ui-font-color1, currentColor)"
THEME_FONT = "var(--jp-ui-font-family, system-ui, sans-serif)"
UNITS_PER_INCH = 72  # one unit of a lesson figure is one SVG user unit, a CSS pixel at full width
SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "hatch.linewidth": 1.1}


class LessonFigure(Figure):
    """A matplotlib Figure of `width` by `height` units, with alt text.

    In a notebook it is inline SVG that follows the light or the dark theme; as plain text it is its alt text. The same
    data give the same bytes.
    """

    def __init__(self, width: float, height: float, alt_text: str) -> None:
        super().__init__(figsize=(width / UNITS_PER_INCH, height / UNITS_PER_INCH), dpi=UNITS_PER_INCH)
        self.alt_text = alt_text
        self.width, self.height = width, height
        self.patch.set_visible(False)
        self._units = Affine2D().scale(1, -1).translate(0, height).scale(1 / UNITS_PER_INCH)

    def add_drawing(self, artist: Artist) -> None:
        """Add a patch, a line or a text whose coordinates are figure units: x in [0, width], y in [0, height] down."""
        # Axes would give the same coordinates, but building them takes longer than all the rest of a live redraw.
        artist.set_transform(self._units + self.dpi_scale_trans)
        self.add_artist(artist, clip=False)

    def svg(self) -> str:
        """One `<svg>` element, fit to stand inside a page with other figures."""
        # Ids are hashes of what they name and of this salt: two figures share an id only where they share all data.
        salt = hashlib.sha256(self.alt_text.encode()).hexdigest()
        buffer = io.StringIO()
        with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": salt}):
            self.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        return _inline(buffer.getvalue(), self.alt_text)

    def save_png(self, path: str | os.PathLike[str], dpi: float = 200) -> None:
        """Write a PNG on white, for slides and print."""
        with matplotlib.rc_context(SETTINGS):
            self.patch.set_visible(True)
            try:
                self.savefig(path, format="png", dpi=dpi, facecolor="white")
            finally:
                self.patch.set_visible(False)

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{self.width:g}px;margin:0.5em 0">{self.svg()}</div>'

    def __repr__(self) -> str:
        return self.alt_text


def _inline(document: str, alt_text: str) -> str:
    """A standalone SVG document as an element of a page."""
    element = document[document.index("<svg") :].strip()
    # matplotlib's own style sheet says `*`, which inside a page would restyle every icon around the figure.
    element = re.sub(r"<style.*?</style>", "", element, flags=re.DOTALL)
    # Group ids such as figure_1 are the same in every figure, and nothing refers to them.
    element = re.sub(r'<g id="[^"]*"', "<g", element)
    element = element.replace(INK, THEME_INK)
    element = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", THEME_FONT, element)
    style = "width:100%;height:auto;display:block;stroke-linejoin:round;stroke-linecap:butt"
    label = html.escape(alt_text, quote=True)
    root, rest = element.split(">", 1)
    root = re.sub(r' (width|height)="[^"]*"', "", root)  # the wrapper and viewBox size it
    return f'<svg role="img" aria-label="{label}" style="{style}"{root.removeprefix("<svg")}>{rest}'
