"""A memory plan in words: its arithmetic, one line for each number, and its verdict in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.kv_pool import KvPool
from llmserving.memory_plan import LIMIT_IN_WORDS, MemoryPlan
from llmserving.overheads import ACTIVATION_BASE_BYTES, ACTIVATION_BYTES_PER_LOGIT
from llmserving.units import GiB
from llmserving.weight_formats import weight_format


@dataclass(frozen=True)
class Line:
    """One number: the sign in front of it, what it is, the number with its unit, and how it comes about."""

    sign: str
    name: str
    result: str
    arithmetic: str = ""


def plan_lines(plan: MemoryPlan) -> list[Line]:
    """From the memory to the requests, in the order in which an engine works it out."""
    if plan.pool is None:
        return [*_textbook_budget(plan), *_textbook_cache(plan), *_requests(plan)]
    return [*_engine_budget(plan), *_blocks(plan, plan.pool), *_requests(plan)]


def written(lines: list[Line]) -> list[str]:
    """The lines as text in columns."""
    name = max(len(line.name) for line in lines)
    result = max(len(line.result) for line in lines)
    return [f"{line.sign} {line.name:<{name}}  {line.result:>{result}}  {line.arithmetic}".rstrip() for line in lines]


def verdict(plan: MemoryPlan) -> str:
    """Whether it fits, what is met first, and by how much, in one sentence."""
    size = plan.size
    if plan.fits:
        return (
            f"Fits: {size(plan.headroom_bytes)} left; {requests(plan.max_requests)} of {plan.context:,} tokens at once, "
            f"limited by {LIMIT_IN_WORDS[plan.limit]}."
        )
    if plan.limit == "weights":
        beside = plan.weight_bytes + plan.activation_bytes + plan.other_bytes
        return (
            f"Does not fit: weights of {size(plan.weight_bytes)} and what else lies beside the KV cache are {size(beside)}, "
            f"{size(beside - plan.budget_bytes)} more than the budget of {size(plan.budget_bytes)}."
        )
    have = f"the KV cache has {size(plan.kv_bytes_available - plan.reserved_bytes)}"
    if plan.limit == "context":
        one = plan.kv_bytes_per_request
        short = size(one + plan.reserved_bytes - plan.kv_bytes_available)
        return (
            f"Does not fit: one request of {plan.context:,} tokens needs {size(one)} and {have}, {short} short; the longest "
            f"context is {plan.longest_context or 0:,} tokens."
        )
    if plan.limit == "max_num_seqs":
        return f"Does not fit: {requests(plan.requests)}, but max_num_seqs lets only {plan.max_num_seqs:,} run at once."
    return (
        f"Does not fit: {requests(plan.requests)} of {plan.context:,} tokens need {size(plan.kv_bytes_needed)} and {have}, "
        f"{size(-plan.headroom_bytes)} short; {plan.max_requests:,} fit."
    )


def _textbook_budget(plan: MemoryPlan) -> list[Line]:
    bits = weight_format(plan.weight_dtype).bits
    return [
        Line(" ", "memory", plan.size(plan.memory_bytes), f"{plan.gpu.name} as it is sold; 1 GB = 10^9 bytes"),
        Line("−", "weights", plan.size(plan.weight_bytes), f"{plan.model.parameters:,} parameters × {bits} bits / 8"),
    ]


def _textbook_cache(plan: MemoryPlan) -> list[Line]:
    model, num_bytes = plan.model, plan.kv_bytes_per_request
    width = num_bytes / (2 * plan.context * model.layers * model.hidden_size)
    factors = f"2 × {plan.context:,} tokens × {model.layers} layers × {model.hidden_size:,} d_model × {width:g} bytes"
    return [Line(" ", "one request", plan.size(num_bytes), f"{factors} = {num_bytes:,} bytes")]


def _engine_budget(plan: MemoryPlan) -> list[Line]:
    if plan.kv_bytes_given:
        return [
            Line(
                " ",
                "left for KV",
                plan.size(plan.kv_bytes_available),
                "as given; the rest of the memory is not looked at",
            )
        ]
    share = (
        f"{plan.memory_bytes / GiB:.2f} GiB reported by {plan.gpu.name} × utilization {plan.gpu_memory_utilization:g}"
    )
    fit = (
        f"{ACTIVATION_BASE_BYTES / GiB:g} GiB + {ACTIVATION_BYTES_PER_LOGIT} bytes × {plan.max_num_seqs:,} sequences × "
        f"vocabulary {plan.model.vocab_size:,} (fit to vLLM 0.15–0.19)"
    )
    other = "CUDA context" if plan.tensor_parallel == 1 else "CUDA context and NCCL buffers"
    return [
        Line(" ", "budget", plan.size(plan.budget_bytes), share),
        Line("−", "weights", plan.size(plan.weight_bytes), _weights(plan)),
        Line("−", "activations", plan.size(plan.activation_bytes), fit),
        Line("−", "other", plan.size(plan.other_bytes), f"{other} (from the same logs)"),
        Line("=", "left for KV", plan.size(plan.kv_bytes_available)),
    ]


def _weights(plan: MemoryPlan) -> str:
    form = weight_format(plan.weight_dtype)
    words = f"{plan.model.parameters:,} parameters, {form.bits} bits"
    if form.group_size:
        words += f" + {form.group_bits} for each {form.group_size}"
    if form.quantized:
        words += ", all but experts at 16 bits" if form.experts_only else ", embeddings at 16 bits"
    shared = plan.tensor_parallel * plan.pipeline_parallel
    return f"{words}, over {shared} GPUs" if shared > 1 else words


def _blocks(plan: MemoryPlan, pool: KvPool) -> list[Line]:
    layout = pool.layout
    block = f"{layout.block_size} tokens, {layout.block_bytes:,} bytes each"
    groups = f" / {layout.groups} groups of layers" if layout.groups > 1 else ""
    needs = layout.request_blocks(plan.context, plan.max_num_batched_tokens)
    return [
        Line(" ", "blocks", f"{pool.blocks:,}", block),
        Line(" ", "tokens", f"{pool.tokens:,}", f"{pool.blocks:,} blocks{groups} × {layout.block_size} tokens"),
        Line(" ", "one request", plan.size(plan.kv_bytes_per_request), f"{plan.context:,} tokens in {needs:,} blocks"),
        Line(" ", "concurrency", f"{plan.max_concurrency:,.2f} ×", f"{pool.blocks:,} / {needs:,} blocks"),
    ]


def _requests(plan: MemoryPlan) -> list[Line]:
    each = plan.size(plan.kv_bytes_per_request)
    lines = [Line("−", requests(plan.requests), plan.size(plan.kv_bytes_needed), f"{plan.requests:,} × {each}")]
    most = f"{plan.requests_in_cache:,} fit in the cache"
    if plan.pool:
        lines.append(
            Line("−", "empty block", plan.size(plan.reserved_bytes), "the engine keeps one that no request gets")
        )
        most += f"; max_num_seqs is {plan.max_num_seqs:,}"
    lines.append(Line("=", "headroom", plan.size(plan.headroom_bytes)))
    if plan.extra_requests > 0:
        ratio = f"headroom / {each} = {plan.headroom_bytes / plan.kv_bytes_per_request:,.3f}, rounded down"
        lines.append(
            Line(" ", "more requests", f"{plan.extra_requests:,}", ratio if plan.limit == "kv_cache" else most)
        )
    return [*lines, Line(" ", "requests at most", f"{plan.max_requests:,}", most)]


def requests(count: int) -> str:
    """A number of requests in words."""
    return "1 request" if count == 1 else f"{count:,} requests"
