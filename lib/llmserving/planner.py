"""Whether a model, its KV cache and what an engine keeps beside them fit into a GPU's memory."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.hardware import Gpu
from llmserving.kv_cache import kv_bytes, kv_bytes_for_request
from llmserving.kv_formats import BYTES_PER_ELEMENT, kv_dtype_named
from llmserving.kv_layout import DEFAULT_BATCHED_TOKENS, kv_layout
from llmserving.kv_pool import KvPool, kv_pool
from llmserving.memory_plan import MemoryPlan
from llmserving.models import ModelSpec
from llmserving.named import gpu_of, model_of
from llmserving.overheads import DEFAULT_MAX_NUM_SEQS, activation_bytes, other_bytes
from llmserving.weight_formats import weight_dtype_named, weight_format
from llmserving.weights import model_weight_bytes, weight_bytes

__all__ = ["MemoryPlan", "plan", "weight_bytes"]

VIEWS = ("engine", "textbook")
# What the textbook view does not know; another value than these would be ignored without a word.
ENGINE_DEFAULTS = {
    "tensor_parallel": 1, "pipeline_parallel": 1, "gpu_memory_utilization": 0.9, "block_size": 16,
    "max_num_seqs": DEFAULT_MAX_NUM_SEQS, "max_num_batched_tokens": DEFAULT_BATCHED_TOKENS, "kv_bytes_available": None,
}  # fmt: skip


def plan(
    model: ModelSpec | str,
    gpu: Gpu | str,
    weight_dtype: str = "fp16",
    kv_dtype: str = "fp16",
    context: Any = 4096,
    requests: Any = 16,
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    gpu_memory_utilization: Any = 0.9,
    block_size: Any = 16,
    max_num_seqs: Any = DEFAULT_MAX_NUM_SEQS,
    max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS,
    kv_bytes_available: Any = None,
    view: str = "engine",
) -> MemoryPlan:
    """Plan `requests` requests of `context` tokens each, prompt and answer together, on each GPU of a group.

    The engine view is the budget of engines of the vLLM family: reported memory * gpu_memory_utilization - weights -
    activations - other = KV cache, cut into blocks (overheads.py says what is a fit, and its limits). kv_bytes_available
    takes the place of that budget, for a number that a log prints. view="textbook" is the course's own: the bytes that
    the card is sold with, two buckets, nothing else; the KV cache is 2 * B * S * L * d_model * p there.

    What does not fit is a result: `.fits` is False and `.explain()` says what is short and by how much. What no engine
    could start with is refused: ValueError or TypeError, for a value that means nothing, heads or layers that cannot be
    split like that, or a setting that the view does not have.

    >>> plan("course-13b", "h100-80gb", view="textbook").headroom_bytes
    312908800
    """
    spec, card = model_of(model), gpu_of(gpu)
    if not (isinstance(view, str) and view in VIEWS):
        raise ValueError(f"view {arguments.shown(view)} is not known; choose one of {', '.join(VIEWS)}")
    settings = {
        "tensor_parallel": tensor_parallel, "pipeline_parallel": pipeline_parallel,
        "gpu_memory_utilization": gpu_memory_utilization, "block_size": block_size, "max_num_seqs": max_num_seqs,
        "max_num_batched_tokens": max_num_batched_tokens, "kv_bytes_available": kv_bytes_available,
    }  # fmt: skip
    common: dict[str, Any] = {
        "model": spec, "gpu": card, "weight_dtype": weight_dtype_named(weight_dtype),
        "kv_dtype": kv_dtype_named(kv_dtype),
        "context": arguments.count("context", "the number of tokens a request, prompt and answer", context),
        "requests": arguments.count("requests", "the number of requests at once", requests),
    }  # fmt: skip
    return _textbook(common, settings) if view == "textbook" else _engine(common, **settings)


def _textbook(common: dict[str, Any], settings: dict[str, Any]) -> MemoryPlan:
    for name, default in ENGINE_DEFAULTS.items():
        given = settings[name]
        if isinstance(given, bool) or not isinstance(given, (int, float, type(None))) or given != default:
            raise ValueError(
                f"{name} belongs to view='engine'; the textbook view has one GPU and two buckets, leave it out"
            )
    model, memory, cache = common["model"], common["gpu"].sold_bytes, common["kv_dtype"]
    if cache not in BYTES_PER_ELEMENT:
        raise ValueError(
            f"kv_dtype {cache!r} has no bytes an element, which the textbook view needs; use view='engine'"
        )
    weights = weight_bytes(model.parameters, weight_format(common["weight_dtype"]).bits)
    request = kv_bytes(1, common["context"], model.layers, model.hidden_size, BYTES_PER_ELEMENT[cache])
    return MemoryPlan(
        **common, view="textbook", tensor_parallel=1, pipeline_parallel=1, gpu_memory_utilization=1.0,
        max_num_seqs=settings["max_num_seqs"], max_num_batched_tokens=settings["max_num_batched_tokens"],
        memory_bytes=memory, weight_bytes=weights, activation_bytes=0, other_bytes=0,
        kv_bytes_available=memory - weights, kv_bytes_given=False, kv_bytes_per_request=request, pool=None,
    )  # fmt: skip


def _engine(
    common: dict[str, Any],
    *,
    tensor_parallel: Any,
    pipeline_parallel: Any,
    gpu_memory_utilization: Any,
    block_size: Any,
    max_num_seqs: Any,
    max_num_batched_tokens: Any,
    kv_bytes_available: Any,
) -> MemoryPlan:
    model, kv_dtype = common["model"], common["kv_dtype"]
    layout = kv_layout(model, kv_dtype, tensor_parallel, pipeline_parallel, block_size)
    ranks, stages = layout.tensor_parallel, layout.layers_per_stage
    meaning = "the share of the reported memory that the engine may use"
    utilization = arguments.share("gpu_memory_utilization", meaning, gpu_memory_utilization)
    sequences = arguments.count("max_num_seqs", "the number of requests that the engine runs at once", max_num_seqs)
    meaning = "the number of tokens that one step may run"
    step = arguments.count("max_num_batched_tokens", meaning, max_num_batched_tokens)
    weights = model_weight_bytes(model, common["weight_dtype"], ranks, stages)
    activations, other = activation_bytes(model, sequences), other_bytes(ranks)
    memory = common["gpu"].memory_bytes
    available = int(memory * utilization) - weights - activations - other
    if kv_bytes_available is not None:
        meaning = "the memory left for the KV cache on one GPU, in bytes"
        whole = int(arguments.amount("kv_bytes_available", meaning, kv_bytes_available))
        available = arguments.count("kv_bytes_available", meaning, whole)
    split = (kv_dtype, ranks, stages, layout.block_size)
    return MemoryPlan(
        **common, view="engine", tensor_parallel=ranks, pipeline_parallel=len(stages),
        gpu_memory_utilization=utilization, max_num_seqs=sequences, max_num_batched_tokens=step,
        memory_bytes=memory, weight_bytes=weights,
        activation_bytes=activations, other_bytes=other, kv_bytes_available=available,
        kv_bytes_given=kv_bytes_available is not None,
        kv_bytes_per_request=kv_bytes_for_request(model, common["context"], *split, step),
        pool=kv_pool(model, available, *split) if available > 0 else KvPool(layout, 0),
    )  # fmt: skip
