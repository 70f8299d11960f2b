"""Which wall a step hits, the memory's bandwidth or the arithmetic, and how long it takes at best.

A roofline (Williams, Waterman and Patterson 2009): work with few FLOPs a byte waits for bytes, work with many waits for
arithmetic, and the GPU's ridge point, in FLOPs a byte, is where the two meet.
"""

from __future__ import annotations

import math
from typing import Any

from llmserving import arguments
from llmserving.hardware import Gpu
from llmserving.kv_formats import token_bytes
from llmserving.models import ModelSpec
from llmserving.named import gpu_of, model_of
from llmserving.parallelism import checked_parallelism
from llmserving.step_prediction import Roof, StepPrediction
from llmserving.step_work import all_reduce_bytes, decode_attention_work, matmul_work, prefill_attention_work
from llmserving.weight_formats import weight_format

HALF_PRECISION = ("bf16", "fp16")


def ridge_point(gpu: Gpu | str, compute_dtype: str | None = None) -> float:
    """FLOPs for each byte of HBM at which `gpu` computes as fast as it reads; by default in 16 bits."""
    return roof_of(gpu, compute_dtype).ridge


def predict_prefill(
    model: ModelSpec | str, gpu: Gpu | str, tokens: Any = 2048, batch: Any = 1, **settings: Any
) -> StepPrediction:
    """The step that reads `batch` prompts of `tokens` tokens each. Settings are those of `predict_decode`."""
    return _predict("prefill", model_of(model), gpu, _tokens("tokens", tokens), _batch(batch), **settings)


def predict_decode(
    model: ModelSpec | str, gpu: Gpu | str, batch: Any = 1, context: Any = 4096, **settings: Any
) -> StepPrediction:
    """The step that gives each of `batch` requests its next token, with `context` tokens cached for each.

    Settings, each by name:
    weight_dtype, kv_dtype: what is stored, "fp16" by default. compute_dtype: what is multiplied; by default 16 bits, so
    weights of fewer bits are expanded first (W4A16), and "int8" or "fp8" makes it W8A8. tensor_parallel: GPUs that split
    each layer. activations: whether to count the residual stream. link_bytes_per_s: what a GPU sends to its
    neighbours, for the time of the all-reduces. compute_share, bandwidth_share: the parts of the peaks reached.
    """
    return _predict("decode", model_of(model), gpu, _tokens("context", context), _batch(batch), **settings)


def critical_batch(
    model: ModelSpec | str,
    gpu: Gpu | str,
    weight_dtype: str = "fp16",
    *,
    context: Any = None,
    kv_dtype: str = "fp16",
    compute_dtype: str | None = None,
    tensor_parallel: Any = 1,
) -> float:
    """The batch from which on decode is no longer memory-bound.

    Without `context`, of the matmuls alone, as the number is mostly quoted: the ridge point times the bytes of a weight
    over its 2 FLOPs (of experts, all weights over those that a token passes). Tensor parallelism divides both sides and
    so leaves it alone. With `context`, of the whole step with that many tokens cached for each request, which brings
    bytes as well as arithmetic: where its bytes take longer, no batch is large enough, and the answer is infinity.
    """
    spec, roof = model_of(model), roof_of(gpu, compute_dtype)
    ranks, _ = checked_parallelism(spec, tensor_parallel, 1)
    token_bytes(spec, kv_dtype, ranks)  # refuses a dtype that the model cannot have, also where none is read
    if context is None:
        sparse = spec.parameters / (spec.active_parameters or spec.parameters)
        return roof.ridge * weight_format(weight_dtype).bits_a_weight / 16 * sparse
    many = 10**9  # tokens enough that every expert is read
    everything = matmul_work(spec, many, weight_dtype, ranks, activations=False)
    attention = decode_attention_work(spec, 1, _tokens("context", context), kv_dtype, ranks)
    a_request = (
        roof.compute_seconds(everything) / many + roof.compute_seconds(attention) - roof.memory_seconds(attention)
    )
    return roof.memory_seconds(everything) / a_request if a_request > 0 else math.inf


def _predict(
    phase: Any,
    model: ModelSpec,
    gpu: Gpu | str,
    tokens: int,
    batch: int,
    *,
    weight_dtype: str = "fp16",
    kv_dtype: str = "fp16",
    compute_dtype: str | None = None,
    tensor_parallel: Any = 1,
    activations: bool = True,
    link_bytes_per_s: Any = None,
    compute_share: Any = 1,
    bandwidth_share: Any = 1,
) -> StepPrediction:
    ranks, _ = checked_parallelism(model, tensor_parallel, 1)
    if not isinstance(activations, bool):
        raise TypeError(
            f"activations says whether to count them, True or False, but got {arguments.shown(activations)}"
        )
    attention = decode_attention_work if phase == "decode" else prefill_attention_work
    in_step = batch if phase == "decode" else batch * tokens
    sent = all_reduce_bytes(model, in_step, ranks)
    link = link_bytes_per_s
    if link is not None:
        link = arguments.amount("link_bytes_per_s", "the bytes a second that a GPU sends to others", link)
    return StepPrediction(
        phase=phase,
        batch=batch,
        tokens_per_request=tokens,
        tokens=in_step,
        roof=roof_of(gpu, compute_dtype, compute_share, bandwidth_share),
        matmul=matmul_work(model, in_step, weight_dtype, ranks, activations=activations),
        attention=attention(model, batch, tokens, kv_dtype, ranks),
        communication_bytes=sent,
        communication_seconds=sent / link if link else 0.0,
    )


def roof_of(gpu: Gpu | str, compute_dtype: str | None = None, compute_share: Any = 1, bandwidth_share: Any = 1) -> Roof:
    """The two limits of a GPU, in the dtype that is multiplied (by default 16 bits), as far as they are reached."""
    card = gpu_of(gpu)
    if compute_dtype is not None and not isinstance(compute_dtype, str):
        raise TypeError(
            f"compute_dtype is the dtype of the matmuls such as 'fp8', but got {arguments.shown(compute_dtype)}"
        )
    dtypes = HALF_PRECISION if compute_dtype is None else (compute_dtype,)
    known = [dtype for dtype in dtypes if dtype in card.peak_flops]
    if not known:
        wanted = " or ".join(arguments.shown(dtype) for dtype in dtypes)
        raise ValueError(f"compute_dtype: {card.name} has no peak for {wanted}; it has {', '.join(card.peak_flops)}")
    return Roof(
        card.peak_flops[known[0]] * _share("compute_share", "peak FLOP/s", compute_share),
        card.bandwidth_bytes_per_s * _share("bandwidth_share", "bandwidth", bandwidth_share),
    )


def _share(name: str, of: str, value: Any) -> float:
    return arguments.share(name, f"the share of the {of} that is reached", value)


def _tokens(name: str, value: Any) -> int:
    return arguments.count(name, "the number of tokens a request", value)


def _batch(value: Any) -> int:
    return arguments.count("batch", "the number of requests in the step", value)
