"""What GPTQ protects: the outputs. Their error, column by column, with and without the later columns making up for it."""

from __future__ import annotations

from typing import Any

from llmserving.figures.base import LessonFigure
from llmserving.figures.channel_curves import AFTER, BEFORE, CurvePanel, channel_curves, channel_values


def gptq_columns(nearest: Any, made_up: Any, *, title: str | None = None) -> LessonFigure:
    """Draw the error of a layer's outputs after 1, 2, … columns are rounded.

    nearest: [in], `error_left_alone` of weights rounded to the nearest. made_up: [in], `error_made_up` of GPTQ's.
    """
    alone = channel_values("nearest", nearest)
    helped = channel_values("made_up", made_up, len(alone))
    half = len(alone) // 2 - 1
    times = f"{alone[-1] / helped[-1]:.2g}" if helped[-1] < alone[-1] else f"{helped[-1] / alone[-1]:.2g}"
    ending = f"{times} times {'less' if helped[-1] < alone[-1] else 'as much'} in the end"
    alt_text = (
        f"Error of a layer's outputs after each of {len(alone)} columns is rounded. Rounded to the nearest it is "
        f"{alone[half]:.3g} after half of them and {alone[-1]:.3g} after all; by GPTQ, with the columns to come moved to make "
        f"up for it, {helped[half]:.3g} and {helped[-1]:.3g}: {ending}."
    )
    curves = [("rounded to the nearest", alone, BEFORE), ("GPTQ, the rest making up for it", helped, AFTER)]
    panel = CurvePanel("Mean square error of the outputs so far", curves)
    return channel_curves([panel], "columns rounded so far", alt_text, title)
