"""Text to measure and to calibrate with, mostly from what the small checkpoint was trained on (see CHECKPOINT.md).

Of the small checkpoint: what is held out, it was not trained on; what is for calibration, it was. What SmolLM2 was trained on
is not known here. Both sources are in the public domain. The third
text is the course's own lessons of levels 1 and 2, as they read on 2026-11-30: English of another kind, with tables and
code, to see whether what was calibrated on a novel serves it too.
"""

from __future__ import annotations

from pathlib import Path

SOURCES = ("austen", "devil")
HELD_OUT = (*SOURCES, "lessons")
TEXTS = Path(__file__).parent / "texts"


def held_out_text(source: str = "austen") -> str:
    """A text that the course's own model was not trained on: the end of "austen", novels, of "devil", a dictionary, or "lessons".

    Whether SmolLM2 was, is not known here.
    """
    return _read("held_out", source, HELD_OUT)


def calibration_text(source: str = "austen") -> str:
    """A stretch of a source that the course's own model was trained on, to calibrate quantizers with."""
    return _read("calibration", source, SOURCES)


def _read(kind: str, source: str, sources: tuple[str, ...]) -> str:
    if source not in sources:
        raise ValueError(f"source is {' or '.join(map(repr, sources))}, but got {source!r}")
    return (TEXTS / f"{kind}_{source}.txt").read_text(encoding="ascii")
