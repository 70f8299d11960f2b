"""The course's two colours and two more, each with a hatching of its own, so that colour never carries the meaning alone.

The faces stand out from a dark page and the outlines from a white one by at least 3 to 1, and orange and teal stay
apart for every common kind of colour blindness.
"""

from __future__ import annotations

from dataclasses import dataclass

INK = "#1f2328"  # text and lines; on a page it is replaced by the theme's own text colour


@dataclass(frozen=True)
class Fill:
    """How one bucket is filled: its face, and the darker line that draws hatching and outline."""

    face: str
    line: str
    hatch: str


# Hatchings of straight lines: dots look as good, but make the SVG fifteen times as long.
WEIGHTS = Fill(face="#e8993a", line="#7a4300", hatch="///")
KV_CACHE = Fill(face="#35b0a2", line="#07524a", hatch="--")
# What only an engine's own budget has.
ACTIVATIONS = Fill(face="#a892e6", line="#3f2a7d", hatch="\\\\\\")
OTHER = Fill(face="#9aa4af", line="#39424c", hatch="||")
# Shared blocks are KV cache all the same. Prefill is what fills the activations; decode has a fill of its own.
SHARED = Fill(face=KV_CACHE.face, line=KV_CACHE.line, hatch="xxx")
PREFILL = Fill(face=ACTIVATIONS.face, line=ACTIVATIONS.line, hatch=ACTIVATIONS.hatch)
DECODE = Fill(face=OTHER.face, line=OTHER.line, hatch="")
