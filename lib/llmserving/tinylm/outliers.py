"""The same function with outlier channels: what large models grow by themselves, put into a small one that has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from llmserving import arguments
from llmserving.quantization.smoothquant import smooth_producer, smooth_weight
from llmserving.tinylm.calibration import SHARED_INPUTS
from llmserving.tinylm.model import Decoder
from llmserving.tinylm.schemes import shared_copy
from llmserving.tinylm.weight_schemes import set_weight
from llmserving.tinylm.weights import LanguageModel, checked_model

CHANNELS, GAIN = 4, 60.0


def with_outliers(model: LanguageModel, channels: Any = CHANNELS, gain: Any = GAIN) -> LanguageModel:
    """A model that computes the same, with `channels` outputs of every norm of a layer `gain` times as large.

    The weights that meet them are divided by as much, so that only quantizers notice.
    """
    count = arguments.count("channels", "the number of outlier channels of a norm", channels)
    if count > checked_model(model).config.width:
        raise ValueError(f"channels is {count}, but {model.name} is {model.config.width} wide")
    factor = arguments.amount("gain", "how many times as large an outlier becomes", gain)
    scale = torch.ones(model.config.width)
    scale[outlier_channels(model.config.width, count)] = 1 / factor
    decoder: Decoder = shared_copy(model.decoder)
    for block in decoder.layers:
        for shared in SHARED_INPUTS:
            if shared.producer is not None and "norm" in shared.producer:
                for name, change in (
                    (shared.producer, smooth_producer),
                    *((n, smooth_weight) for n in shared.consumers),
                ):
                    module = block.get_submodule(name)
                    set_weight(module, change(module.weight, scale))
    return replace(model, name=f"{model.name} with {count} outliers of {factor:g}", decoder=decoder)


def outlier_channels(width: int, channels: int) -> list[int]:
    """Where they are: spread evenly."""
    return [(2 * index + 1) * width // (2 * channels) for index in range(channels)]
