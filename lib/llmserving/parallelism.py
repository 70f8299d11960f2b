"""How a model is split over GPUs, and which splits no engine can make."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.models import ModelSpec


def checked_parallelism(model: ModelSpec, tensor_parallel: Any, pipeline_parallel: Any) -> tuple[int, int]:
    """The two degrees as ints, or a sentence on why `model` cannot be split like that.

    Tensor parallelism gives each GPU whole query heads, and whole KV heads or a copy of one. Pipeline parallelism gives
    each stage whole layers.
    """
    ranks = arguments.count("tensor_parallel", "the number of GPUs that split each layer", tensor_parallel)
    stages = arguments.count("pipeline_parallel", "the number of stages that split the layers", pipeline_parallel)
    if model.attention_heads % ranks:
        raise ValueError(
            f"tensor_parallel {ranks} does not divide the {model.attention_heads} query heads of {model.name}: "
            f"{model.attention_heads % ranks} are left over; possible are {_divisors(model.attention_heads)}"
        )
    if not model.is_latent and model.kv_heads % ranks and ranks % model.kv_heads:
        raise ValueError(
            f"tensor_parallel {ranks} gives no whole KV heads a GPU: {model.name} has {model.kv_heads} of them; use a "
            f"divisor of {model.kv_heads} or a multiple"
        )
    if stages > model.layers:
        raise ValueError(f"pipeline_parallel {stages} is more than the {model.layers} layers of {model.name}")
    return ranks, stages


def _divisors(number: int) -> str:
    return ", ".join(str(divisor) for divisor in range(1, number + 1) if number % divisor == 0)
