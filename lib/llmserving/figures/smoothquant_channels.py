"""What SmoothQuant moves: the largest activation of each input channel, and the largest weight that meets it."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmserving.figures.base import LessonFigure
from llmserving.figures.channel_curves import AFTER, BEFORE, CurvePanel, Values, channel_curves, channel_values


def smoothquant_channels(activations: Any, weights: Any, scale: Any, *, title: str | None = None) -> LessonFigure:
    """Draw max |x| and max |w| of each input channel, before and after dividing the one and multiplying the other.

    activations, weights, scale: [in]; the scale is `smoothing_scale`'s. Channels are ranked by max |x| before.
    """
    largest = channel_values("activations", activations)
    columns = channel_values("weights", weights, len(largest))
    factor = channel_values("scale", scale, len(largest))
    if (factor == 0).any():
        raise ValueError("scale has a 0, by which nothing can be divided")
    order = (-largest).argsort(kind="stable")
    pairs = {
        "activation": (largest[order], (largest / factor)[order]),
        "weight": (columns[order], (columns * factor)[order]),
    }
    alt_text = f"Two panels over {len(largest)} input channels, the largest activation first."
    for what, (before, after) in pairs.items():
        alt_text += (
            f" The largest {what} of a channel is {before.max():.3g} at most, {_spread(before):.3g} times the median, before "
            f"smoothing, and {after.max():.3g}, {_spread(after):.3g} times the median, after it."
        )
    panels = [
        CurvePanel(f"Largest {what} of each input channel", [("before", before, BEFORE), ("after", after, AFTER)])
        for what, (before, after) in pairs.items()
    ]
    return channel_curves(panels, "input channels, ranked by the largest activation", alt_text, title)


def _spread(values: Values) -> float:
    return float(values.max() / max(float(np.median(values)), 1e-30))
