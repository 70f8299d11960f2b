"""What AWQ protects: the few input channels that are large, and the error that their weights' rounding makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.figures.base import LessonFigure
from llmserving.figures.channel_curves import AFTER, BEFORE, CurvePanel, channel_curves, channel_values
from llmserving.units import format_number


def awq_channels(magnitude: Any, before: Any, after: Any, *, title: str | None = None) -> LessonFigure:
    """Draw mean |x| of each input channel over the error that its weights make, rounded plainly and by AWQ.

    magnitude: [in], `channel_magnitude`. before, after: [in], `error_by_channel` of each. Channels are ranked by magnitude.
    """
    size = channel_values("magnitude", magnitude)
    plain = channel_values("before", before, len(size))
    scaled = channel_values("after", after, len(size))
    order = (-size).argsort(kind="stable")
    few = max(1, len(size) // 50)
    shares = [100 * float(error[order[:few]].sum() / error.sum()) for error in (plain, scaled)]
    these = f"{few} of them make" if few > 1 else "of them makes"
    alt_text = (
        f"Two panels over {len(size)} input channels, the largest first. Mean |x| falls from "
        f"{format_number(size.max())} to {format_number(size.min())}, its median is {_number(np.median(size))}. The error "
        f"that each channel's weights make, in all {_number(plain.sum())} rounded to the nearest and "
        f"{_number(scaled.sum())} by AWQ; the largest {these} {shares[0]:.0f} % of the first and {shares[1]:.0f} % of the "
        "second."
    )
    panels = [
        CurvePanel("Mean |x| of each input channel", [("on the calibration text", size[order], AFTER)]),
        CurvePanel(
            "Error of the outputs from each channel's weights",
            [("rounded to the nearest", plain[order], BEFORE), ("AWQ", scaled[order], AFTER)],
        ),
    ]
    return channel_curves(panels, "input channels, ranked by mean |x|", alt_text, title)


def _number(value: Any) -> str:
    return f"{float(value):.3g}"
