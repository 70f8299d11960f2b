"""Where a model or a GPU may be given by name or as an object of one's own."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.hardware import GPUS, Gpu
from llmserving.models import MODELS, ModelSpec


def model_of(model: Any) -> ModelSpec:
    """The model itself, or the one that MODELS has under this name; an unknown name gets the nearest ones."""
    if isinstance(model, ModelSpec):
        return model
    if not isinstance(model, str):
        raise TypeError(f"model is a name such as 'llama-3.1-8b' or a ModelSpec, but got {arguments.shown(model)}")
    return MODELS[model]


def gpu_of(gpu: Any) -> Gpu:
    """The GPU itself, or the one that GPUS has under this name; an unknown name gets the nearest ones."""
    if isinstance(gpu, Gpu):
        return gpu
    if not isinstance(gpu, str):
        raise TypeError(f"gpu is a name such as 'h100-80gb' or a Gpu, but got {arguments.shown(gpu)}")
    return GPUS[gpu]
